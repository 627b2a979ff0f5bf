/** `sandbox: off`: commands run as the step itself, in the checkout. What later steps trust is watched meanwhile. */
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Backend, killGroup } from './command.ts';
import { shellWord } from './sandbox.ts';

/**
 * Becomes the program $1 in a process group of its own, whose number the file $0 holds. If the shell that started it is
 * killed with this process, the group must end by itself.
 */
const JOB = `
echo "$$" > "$0"
{ while kill -s 0 "$PPID"; do sleep 1; done; kill -s KILL -- "-$$"; } > /dev/null 2>&1 &
exec "$@"`;

/** Runs $2 as a job, with the file $1, and kills what is left of its group. What the shell itself says about its jobs is not output. */
const IN_GROUP = `
exec 3>&2 2>/dev/null
set -m
"$0" -c ${shellWord(JOB)} "$@" 2>&3 3>&- &
exec 3>&-
group=$!
wait "$group"
code=$?
kill -s KILL -- "-$group"
rm -f -- "$1"
exit "$code"`;

/**
 * Runs commands without namespaces. A process that leaves its group survives; without bash, one in the background is
 * waited for.
 * @param shell an absolute path.
 */
export function createOffBackend(shell: string, run: string): Backend {
  const file = join(run, 'group');
  return {
    name: 'none',
    layer: null,
    words: [shell, '-c', IN_GROUP, shell, file],
    asRoot: [],
    endsWithGroup: true,
    async killInside() {
      // Missing if the command has ended, or has not begun.
      killGroup(Number(await readFile(file, 'utf8').catch(() => 0)));
    },
    findFailure: async () => null,
    close: async () => undefined,
  };
}

export type TamperCheck = ReturnType<typeof createTamperCheck>;

/** What git runs, or reads to find what it runs. */
const GIT = ['.git/config', '.git/config.worktree', '.git/hooks', '.git/info/attributes', '.git/commondir'];

/** @param guarded absolute paths of files and folders: our own bundle, and this step's command files */
export function createTamperCheck(workspace: string, guarded: readonly string[]) {
  const watched = [...GIT.map((path) => join(workspace, path)), ...guarded];
  let before: ReadonlyMap<string, string> | null = null;
  return {
    /** Takes the snapshot before the first model call. */
    async snapshot(): Promise<void> {
      before = await describeAll(watched);
    },
    /** Returns the first path that was created, deleted or changed since, or null. */
    async compare(): Promise<string | null> {
      if (before === null) return null;
      const first = before;
      const after = await describeAll(watched);
      const paths = [...new Set([...first.keys(), ...after.keys()])].sort();
      return paths.find((path) => first.get(path) !== after.get(path)) ?? null;
    },
  };
}

async function describeAll(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const path of paths) await describe(path, found);
  return found;
}

async function describe(path: string, found: Map<string, string>): Promise<void> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return;
  if (stats.isDirectory()) {
    found.set(path, 'folder');
    for (const name of await readdir(path)) await describe(join(path, name), found);
  } else if (stats.isFile()) {
    const hash = createHash('sha256').update(await readFile(path));
    found.set(path, `${stats.mode} ${hash.digest('hex')}`);
  } else found.set(path, stats.isSymbolicLink() ? await readlink(path) : 'other');
}
