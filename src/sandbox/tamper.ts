/** With `sandbox: off`, detects whether what later steps trust was changed while the agent worked. */
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

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
