/** Files of ours that only their owner reads. They may lie in the workspace, where the agent or the repository put things. */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { ReportError } from '../errors.ts';

const MODE = 0o600;

/**
 * Writes a file whole or not at all: what stands at the path before (a link included) is replaced, never followed.
 * @throws the file system's error.
 */
export function writePrivateFile(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}`);
  try {
    const handle = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, MODE);
    try {
      writeAll(handle, text);
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
 * @throws ReportError when the path cannot be such a file: a link, a pipe, a folder, not writable.
 */
export function openPrivateLog(file: string): (line: string) => void {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    // Without O_NONBLOCK, opening a pipe would wait for a reader; a link would lead out of the folder.
    const flags =
      constants.O_WRONLY |
      constants.O_CREAT |
      constants.O_APPEND |
      (constants.O_NOFOLLOW ?? 0) |
      (constants.O_NONBLOCK ?? 0);
    const handle = openSync(file, flags, MODE);
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

function writeAll(handle: number, text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
}
