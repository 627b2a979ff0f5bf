/**
 * Writes files in locations where others can write too: in the workspace, which the agent may have changed, or next to
 * the runner's own files.
 */
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
 * Creates the folder of a file. Its path was real when it was chosen, so a symbolic link in it was created by the agent
 * and may lead anywhere; nothing is created or written behind it.
 * @throws ReportError for such a link, otherwise the error of the file system.
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
 * Writes a file atomically. Replaces whatever exists at the path (including a link) and never follows a link.
 * @param file an absolute path whose folder is a real path.
 * @throws ReportError if the path of the folder contains a link, otherwise the error of the file system.
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
 * Truncates a file and opens it for appending lines. The handle keeps referring to this file, even if the path is
 * replaced later. The returned function throws the error of the file system.
 * @param file an absolute path whose folder is a real path.
 * @throws ReportError if the path cannot be used: it is or contains a link, is a pipe or a folder, or is not writable.
 */
export function openPrivateLog(file: string): (line: string) => void {
  try {
    makeRealFolder(path.dirname(file));
    // A hard link shares its contents with another file, which must not be truncated; only this name is removed.
    const standing = lstatSync(file, { throwIfNoEntry: false });
    if (standing?.isFile() === true && standing.nlink > 1) rmSync(file);
    // A link could lead out of the folder.
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
 * Appends text to a file of the runner. If it was replaced with a pipe that nobody reads, fails instead of waiting.
 * Throws the error of the file system.
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
