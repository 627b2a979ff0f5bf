/** Reads files of the workspace after the run, when nothing of the agent lives any more but what it left. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The text of a regular file of at most `maxBytes`; null for anything else: a link at the path's end, a pipe, a folder,
 * a larger file, one that is not there or may not be read.
 */
export function readRegularFile(file: string, maxBytes: number): string | null {
  let handle: number | null = null;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    handle = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const status = fstatSync(handle);
    if (!status.isFile() || status.size > maxBytes) return null;
    const bytes = Buffer.alloc(status.size);
    let length = 0;
    for (let read = 1; read > 0 && length < bytes.length; length += read) {
      read = readSync(handle, bytes, length, bytes.length - length, null);
    }
    return bytes.toString('utf8', 0, length);
  } catch {
    return null;
  } finally {
    if (handle !== null) closeSync(handle);
  }
}
