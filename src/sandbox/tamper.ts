/** With `sandbox: off`, detects whether what later steps trust was changed while the agent worked. */
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

export interface TamperCheck {
  /** Takes the snapshot before the first model call. */
  snapshot(): Promise<void>;
  /**
   * Compares after every child is dead and before this step writes its own outputs.
   * @returns the first path that differs (new, deleted or changed), or null.
   */
  compare(): Promise<string | null>;
}

/** What git runs, or reads to find what it runs. */
const GIT = ['.git/config', '.git/config.worktree', '.git/hooks', '.git/info/attributes', '.git/commondir'];

/** @param guarded absolute paths of files and folders: our own bundle, and this step's command files */
export function createTamperCheck(workspace: string, guarded: readonly string[]): TamperCheck {
  const watched = [...GIT.map((path) => join(workspace, path)), ...guarded];
  let before: ReadonlyMap<string, string> | null = null;
  return {
    async snapshot() {
      before = await describeAll(watched);
    },
    async compare() {
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
  for (const path of paths) {
    const stats = await lstat(path).catch(() => null);
    const inner = stats?.isDirectory() ? await readdir(path, { recursive: true }) : [];
    for (const one of [path, ...inner.map((name) => join(path, name))]) found.set(one, await describe(one));
  }
  return found;
}

async function describe(path: string): Promise<string> {
  const stats = await lstat(path).catch(() => null);
  if (stats?.isSymbolicLink()) return readlink(path);
  if (!stats?.isFile()) return stats === null ? 'missing' : 'other';
  const hash = createHash('sha256').update(await readFile(path));
  return `${stats.mode} ${hash.digest('hex')}`;
}
