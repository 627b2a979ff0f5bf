/** The files of a folder that other jobs filled: which of them may be envelopes, in an order that never changes. */
import { type Dirent, opendirSync } from 'node:fs';
import path from 'node:path';
import { errorCode, InputError } from '../errors.ts';

/** A file that may be an envelope. */
export interface Candidate {
  /** Relative to the folder, with `/` between its parts; a hostile name. */
  readonly file: string;
  /** Whether it was no link, pipe or device when the folder was listed. */
  readonly regular: boolean;
}

/** How much a folder may hold: levels of folders, JSON files, and entries of any kind. */
export interface FolderLimits {
  readonly depth: number;
  readonly files: number;
  readonly entries: number;
}

/** Far beyond any matrix, and listed in the time that somebody waits. */
const LIMITS: FolderLimits = { depth: 8, files: 20_000, entries: 200_000 };

/**
 * Every `*.json` at any depth, sorted by its path's code units; links to folders are not followed, other files left out.
 * null where there is no such folder.
 * @param input the input that names the folder, for messages.
 * @throws InputError for a folder that cannot be listed, or that holds more than anybody means.
 */
export function listCandidates(
  folder: string,
  input: string,
  limits: FolderLimits = LIMITS,
): readonly Candidate[] | null {
  const found: Candidate[] = [];
  let entries = 0;
  const rest: { readonly at: string; readonly depth: number }[] = [{ at: '', depth: 0 }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { at, depth } = next;
    const members = openFolder(folder, at, input);
    if (members === null) return null;
    for (const entry of members) {
      entries += 1;
      const file = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth === limits.depth)
          throw refusal(input, folder, `has folders more than ${limits.depth} levels deep`);
        rest.push({ at: file, depth: depth + 1 });
      } else if (entry.name.endsWith('.json')) found.push({ file, regular: entry.isFile() });
      if (found.length > limits.files || entries > limits.entries)
        throw refusal(
          input,
          folder,
          `holds more than ${limits.files} JSON files, or ${limits.entries} in all`,
        );
    }
  }
  return found.sort((one, other) => (one.file < other.file ? -1 : 1));
}

/** The entries of one folder as they come; null where the outermost one is not there. */
function openFolder(folder: string, at: string, input: string): Iterable<Dirent> | null {
  try {
    const handle = opendirSync(path.join(folder, at));
    return entriesOf(handle, () => refusal(input, folder, 'holds a folder that cannot be listed'));
  } catch (error) {
    const code = errorCode(error);
    if (at === '' && code === 'ENOENT') return null;
    if (at === '' && code === 'ENOTDIR') throw refusal(input, folder, 'is no folder');
    throw refusal(input, folder, `holds a folder that cannot be listed${code === null ? '' : ` (${code})`}`);
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

/** Why the folder that an input names cannot be meant. */
export function refusal(input: string, folder: string, what: string): InputError {
  return new InputError(
    input,
    `${input}: the folder ${JSON.stringify(folder)} ${what}. Name the folder into which actions/download-artifact put the envelopes.`,
  );
}
