/** Changes that the calls of one run can have made in the shared directories of this machine. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { AttackCall } from './rows.ts';

/** Directories in which only an administrator or an installer creates files. */
export const SYSTEM_FOLDERS: readonly string[] = ['/', '/etc', '/usr', '/usr/bin', '/usr/local/bin', '/opt'];

/** Directories in which any program creates files with any name. */
const SCRATCH_FOLDERS = ['/tmp', '/var/tmp', '/run', '/dev/shm', '/dev/mqueue'];

/** Larger files are compared by their size. */
const HASHED_BYTES = 1_000_000;

/** The directories to compare. */
export interface WatchOptions {
  readonly calls: readonly AttackCall[];
  /** Part of each name that the calls of this run, and of no other run, create. */
  readonly mark: string;
  /** A folder that is compared elsewhere. */
  readonly except: string;
  readonly systemFolders?: readonly string[];
}

/**
 * Returns a function that describes, by path, every entry of the shared folders that the calls could have created,
 * changed or removed: in a system folder, the entries that a call names; in any shared folder, those that bear the mark;
 * and every absolute path in a call. All other entries are ignored: other programs, a second run of these tests among
 * them, add and remove entries at any time.
 */
export function watchSystem(options: WatchOptions): () => Readonly<Record<string, string>> {
  const { calls, mark, except, systemFolders = SYSTEM_FOLDERS } = options;
  // read_file writes nothing.
  const texts = calls
    .filter(({ tool }) => tool !== 'read_file')
    .map(({ args }) => Object.values(args).map(String).join('\n'));
  const names = new Set(texts.flatMap((text) => text.match(/[\w.@+-]+/gu) ?? []));
  const paths = texts
    .flatMap((text) => text.match(/(?<![\w.~$}])(?:\/[\w.@+-]+)+/gu) ?? [])
    .filter((file) => !file.startsWith('/proc/') && !`${file}/`.startsWith(`${except}/`));
  return () => {
    const found: Record<string, string> = {};
    for (const folder of systemFolders) {
      found[folder] = describe(folder);
      for (const name of namesIn(folder))
        if (names.has(name) || name.includes(mark))
          found[path.join(folder, name)] = describe(path.join(folder, name));
    }
    for (const folder of SCRATCH_FOLDERS)
      for (const name of namesIn(folder))
        if (name.includes(mark)) found[path.join(folder, name)] = describe(path.join(folder, name));
    for (const file of paths) found[file] = describe(file, HASHED_BYTES);
    return found;
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Kind, mode and owner of an entry, and the content of a file of at most `hashedBytes`. */
function describe(file: string, hashedBytes = -1): string {
  try {
    const stats = lstatSync(file);
    const kind = stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'other';
    const content = stats.isFile() && stats.size <= hashedBytes ? ` ${hash(file)}` : '';
    return `${kind} ${stats.mode.toString(8)} ${stats.uid}${content}`;
  } catch {
    return 'absent';
  }
}

function hash(file: string): string {
  return createHash('sha1').update(readFileSync(file)).digest('hex');
}

/** One line for each path whose description differs. */
export function differences(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name}: ${before[name] ?? 'absent'} -> ${after[name] ?? 'absent'}`);
}
