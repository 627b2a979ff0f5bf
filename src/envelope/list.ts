/** Lists the files of a folder written by other jobs that may be envelopes, in a fixed order. */
import { type Dirent, opendirSync } from 'node:fs';
import path from 'node:path';
import { errorCode, InputError } from '../errors.ts';

/** A file that may be an envelope. */
export interface ListedFile {
  /** Relative to the folder, with `/` as separator; a hostile name. */
  readonly file: string;
  /** Whether it was a regular file when the folder was listed. */
  readonly regular: boolean;
}

/** Limits of a folder: levels of subfolders, JSON files, and entries of any kind. */
export interface FolderLimits {
  readonly depth: number;
  readonly files: number;
  readonly entries: number;
}

/** Far beyond any matrix, yet listed in acceptable time. */
const LIMITS: FolderLimits = { depth: 8, files: 20_000, entries: 200_000 };

/**
 * Returns every `*.json` file at any depth, sorted by the code units of its path; links to folders are not followed,
 * and other files are omitted.
 * @throws InputError if the folder does not exist, cannot be listed, or exceeds the limits.
 */
export function listFiles(folder: string, limits: FolderLimits = LIMITS): readonly ListedFile[] {
  const found: ListedFile[] = [];
  let entries = 0;
  const rest: { readonly at: string; readonly depth: number }[] = [{ at: '', depth: 0 }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { at, depth } = next;
    for (const entry of openFolder(folder, at)) {
      entries += 1;
      const file = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth === limits.depth)
          throw refusal(folder, `has folders more than ${limits.depth} levels deep`);
        rest.push({ at: file, depth: depth + 1 });
      } else if (entry.name.endsWith('.json')) found.push({ file, regular: entry.isFile() });
      if (found.length > limits.files || entries > limits.entries)
        throw refusal(folder, `holds more than ${limits.files} JSON files, or ${limits.entries} in all`);
    }
  }
  return found.sort((one, other) => (one.file < other.file ? -1 : 1));
}

/** Returns the entries of one folder in directory order. */
function openFolder(folder: string, at: string): Iterable<Dirent> {
  try {
    const handle = opendirSync(path.join(folder, at));
    return entriesOf(handle, () => refusal(folder, 'holds a folder that cannot be listed'));
  } catch (error) {
    const code = errorCode(error);
    if (at === '' && code === 'ENOENT') throw refusal(folder, 'does not exist');
    if (at === '' && code === 'ENOTDIR') throw refusal(folder, 'is not a folder');
    throw refusal(folder, `holds a folder that cannot be listed${code === null ? '' : ` (${code})`}`);
  }
}

function* entriesOf(handle: ReturnType<typeof opendirSync>, refused: () => InputError): Iterable<Dirent> {
  try {
    for (let entry = readOne(handle, refused); entry !== null; entry = readOne(handle, refused)) yield entry;
  } finally {
    handle.closeSync();
  }
}

function readOne(handle: ReturnType<typeof opendirSync>, refused: () => InputError): Dirent | null {
  try {
    return handle.readSync();
  } catch {
    throw refused();
  }
}

function refusal(folder: string, what: string): InputError {
  return new InputError(
    'verdicts',
    `The folder ${JSON.stringify(folder)} ${what}. Name the folder into which actions/download-artifact put the envelopes.`,
  );
}
