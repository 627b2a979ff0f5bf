/** Files that we write where others write too: in the workspace, whatever the agent put there, or beside the runner's own. */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { ReportError } from '../errors.ts';

const MODE = 0o600;
const APPEND =
  constants.O_WRONLY |
  constants.O_CREAT |
  constants.O_APPEND |
  // Without it, opening a pipe would wait for a reader. Undefined on Windows.
  (constants.O_NONBLOCK ?? 0);

/**
 * Makes the folder of a file. Its path was real when it was chosen; a symbolic link in it by now is the agent's, and
 * leads wherever the agent likes, so nothing is made or written behind it.
 * @throws ReportError for such a link, otherwise the file system's error.
 */
function makeRealFolder(folder: string): void {
  let standing = folder;
  while (!existsSync(standing) && standing !== path.dirname(standing)) standing = path.dirname(standing);
  if (realpathSync.native(standing) !== standing) {
    throw new ReportError(
      `${standing} leads through a symbolic link that was not there when the run began: look at what the repository told the agent to do`,
    );
  }
  mkdirSync(folder, { recursive: true });
}

/**
 * Writes a file whole or not at all: what stands at the path before (a link included) is replaced, never followed.
 * @param file absolute, its folder's path real.
 * @throws ReportError when the folder's path goes through a link, otherwise the file system's error.
 */
export function writePrivateFile(file: string, content: string | Buffer): void {
  makeRealFolder(path.dirname(file));
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}`);
  try {
    const handle = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, MODE);
    try {
      writeAll(handle, content);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * Opens a file to append lines to, emptied. The handle stays the one opened now, whatever the path becomes later.
 * The function it gives throws the file system's error.
 * @param file absolute, its folder's path real.
 * @throws ReportError when the path cannot be such a file: a link in or at its end, a pipe, a folder, not writable.
 */
export function openPrivateLog(file: string): (line: string) => void {
  try {
    makeRealFolder(path.dirname(file));
    // A hard link shares its bytes with another file, which is not ours to empty: only the name is taken.
    const standing = lstatSync(file, { throwIfNoEntry: false });
    if (standing?.isFile() === true && standing.nlink > 1) rmSync(file);
    // A link would lead out of the folder.
    const handle = openSync(file, APPEND | (constants.O_NOFOLLOW ?? 0), MODE);
    if (!fstatSync(handle).isFile()) {
      closeSync(handle);
      throw new ReportError(`${file} is not a regular file.`);
    }
    fchmodSync(handle, MODE);
    ftruncateSync(handle);
    return (line) => writeAll(handle, `${line}\n`);
  } catch (error) {
    if (error instanceof ReportError) throw error;
    throw new ReportError(`Could not open ${file}.`, { cause: error });
  }
}

/**
 * Appends a text to a file of the runner. Should it have become a pipe that nobody reads, that is an error and no wait.
 * Throws the file system's error.
 */
export function appendWithoutWaiting(file: string, text: string): void {
  const handle = openSync(file, APPEND);
  try {
    writeAll(handle, text);
  } finally {
    closeSync(handle);
  }
}

function writeAll(handle: number, content: string | Buffer): void {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
}
