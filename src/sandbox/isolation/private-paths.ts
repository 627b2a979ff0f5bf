/** Finds files that a user may read and others may not, outside of the folders that are hidden anyway. */
import { spawn } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import { findHelper, HELPER_FOLDERS } from './host.ts';

/** Who would read the files. */
export interface Reader {
  readonly uid: number;
  /** The primary group first. */
  readonly gids: readonly number[];
}

/** Where is looked. */
export interface PrivateSearch {
  readonly starts: readonly string[];
  /** Not looked into. */
  readonly skipped: readonly string[];
  readonly reader: Reader;
  /** Ends the search: what was found until then is incomplete. */
  readonly signal: AbortSignal;
}

/** What was found, real paths. */
export interface PrivatePaths {
  readonly folders: readonly string[];
  readonly files: readonly string[];
  /** Whether the search came to its end. */
  readonly complete: boolean;
}

/** How many folders deep is looked: `/opt/a/b/c/d/file` is still found. */
export const SEARCH_DEPTH = 5;
const SEARCH_MS = 10_000;
/** How deep in the folder of a toolchain: `.tool/a/b/file` is still found. */
const TOOLCHAIN_DEPTH = 3;
const TOOLCHAIN_SEARCH_MS = 5_000;
const MAX_BYTES = 1024 ** 2;

/** Looks with the system's own `find`, which needs a tenth of a second where Node would need many. */
export async function findPrivatePaths({
  starts,
  skipped,
  reader,
  signal,
}: PrivateSearch): Promise<PrivatePaths> {
  const find = await findHelper(['find'], HELPER_FOLDERS);
  if (find === null) return { folders: [], files: [], complete: false };
  const owners = [`-user ${reader.uid}`, ...reader.gids.map((gid) => `-group ${gid}`)]
    .join(' -o ')
    .split(' ');
  const args = [
    ...starts,
    ...['-maxdepth', String(SEARCH_DEPTH)],
    ...pruned(skipped),
    // Bit 1: others may enter a folder. Who may not enter one cannot reach what is in it, and mounts nothing there.
    ...['-type', 'd', '!', '-perm', '-1', '-prune', '(', ...owners, ')', '-print0', '-o'],
    // Bit 4: others may read a file.
    ...['(', '-type', 'p', '-o', '-type', 'f', '-size', '+0c', ')', '!', '-perm', '-4'],
    ...['(', ...owners, ')', '-print0'],
  ];
  const { text, complete } = await run(find, args, SEARCH_MS, signal);
  const folders: string[] = [];
  const files: string[] = [];
  for (const path of text.split('\0').slice(0, -1)) {
    const stats = await lstat(path).catch(() => null);
    if (stats !== null) (stats.isDirectory() ? folders : files).push(path);
  }
  return { folders, files, complete };
}

/** Where is looked for files of one user's alone. */
export interface OwnerOnlySearch extends Omit<PrivateSearch, 'starts' | 'reader'> {
  readonly folders: readonly string[];
  readonly uid: number;
}

/**
 * Finds the files with content, and the pipes, that belong to a user and that nobody else may read, write or execute:
 * tools that know better keep credentials in files of the mode 0600.
 */
export async function findOwnerOnlyFiles({
  folders,
  skipped,
  uid,
  signal,
}: OwnerOnlySearch): Promise<Pick<PrivatePaths, 'files' | 'complete'>> {
  if (folders.length === 0) return { files: [], complete: true };
  const find = await findHelper(['find'], HELPER_FOLDERS);
  if (find === null) return { files: [], complete: false };
  const args = [
    ...folders,
    ...['-maxdepth', String(TOOLCHAIN_DEPTH)],
    ...pruned(skipped),
    ...['(', '-type', 'p', '-o', '-type', 'f', '-size', '+0c', ')'],
    ...['-user', String(uid), '!', '-perm', '/077', '-print0'],
  ];
  const { text, complete } = await run(find, args, TOOLCHAIN_SEARCH_MS, signal);
  return { files: [...new Set(text.split('\0').slice(0, -1))], complete };
}

function pruned(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const any = paths.flatMap((path, n) => [...(n === 0 ? [] : ['-o']), '-path', literal(path)]);
  return ['(', ...any, ')', '-prune', '-o'];
}

/** A pattern of `find` that fits this path alone. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]]/gu, '\\$&');
}

/** Folders that may not be entered make `find` end with 1. */
function run(
  file: string,
  args: readonly string[],
  withinMs: number,
  signal: AbortSignal,
): Promise<{ text: string; complete: boolean }> {
  if (signal.aborted) return Promise.resolve({ text: '', complete: false });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const end = (complete: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve({ text: Buffer.concat(chunks).toString('utf8'), complete });
    };
    const stop = () => {
      child.kill('SIGKILL');
      // Not when it ends: what waits for a server that does not answer cannot be killed.
      end(false);
    };
    const timer = setTimeout(stop, withinMs);
    signal.addEventListener('abort', stop);
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) stop();
    });
    child.once('error', () => end(false));
    child.once('close', (code) => end(code === 0 || code === 1));
  });
}
