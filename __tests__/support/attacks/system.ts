/** Changes that the calls of one run can have made in the shared directories of this machine. */
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { hashOf } from '../local.ts';
import type { AttackCall } from './rows.ts';

/** Directories in which only an administrator or an installer creates files. */
export const SYSTEM_FOLDERS: readonly string[] = ['/', '/etc', '/usr', '/usr/bin', '/usr/local/bin', '/opt'];

/** Directories in which any program creates files with any name. */
const SCRATCH_FOLDERS = ['/tmp', '/var/tmp', '/run', '/dev/shm', '/dev/mqueue'];

/** Larger files are compared by their size. */
const HASHED_BYTES = 1_000_000;

/**
 * Returns a function that describes, by path, every entry of the shared folders that the calls could have created,
 * changed or removed: in a system folder, the entries that a call names; in any shared folder, those that bear the mark;
 * and every absolute path in a call. All other entries are ignored: other programs, a second run of these tests among
 * them, add and remove entries at any time.
 * @param mark a part of each name that the calls of this run, and of no other run, create.
 * @param except a folder that is compared elsewhere.
 */
export function watchSystem(
  calls: readonly AttackCall[],
  mark: string,
  except: string,
): () => Readonly<Record<string, string>> {
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
    for (const folder of SYSTEM_FOLDERS) found[folder] = describe(folder);
    for (const folder of [...SYSTEM_FOLDERS, ...SCRATCH_FOLDERS])
      for (const name of namesIn(folder)) {
        const isNamed = names.has(name) && SYSTEM_FOLDERS.includes(folder);
        const file = path.join(folder, name);
        if (isNamed || name.includes(mark)) found[file] = describe(file);
      }
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
    const content = stats.isFile() && stats.size <= hashedBytes ? ` ${hashOf(file)}` : '';
    return `${kind} ${stats.mode.toString(8)} ${stats.uid}${content}`;
  } catch {
    return 'absent';
  }
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
