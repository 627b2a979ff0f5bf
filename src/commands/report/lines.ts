/** Reads a file of any size line by line. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errorCode, InputError } from '../../errors.ts';
import { openRegular } from '../../files/read-bounded.ts';
import { READ } from '../../text/limits.ts';

const CHUNK = 64 * 1024;

/**
 * A descriptor that the caller opened: shells pass `<(command)` this way. Any other pipe may have no writer and never
 * end.
 */
const DESCRIPTOR = /^\/(?:dev\/(?:fd\/\d+|stdin)|proc\/self\/fd\/\d+)$/u;

export interface LinesRead {
  /** Whether the last line has no line break. */
  readonly torn: boolean;
  /** Whether the file continues after what was read. */
  readonly cut: boolean;
}

/**
 * Calls `line` for each line without its line break, up to `maxBytes`; a line of more than 16 MiB is passed as null.
 * Reads regular files, and pipes created by the caller's shell.
 * @throws InputError whose message names the file as `shown`
 */
export function readLines(
  file: string,
  shown: string,
  line: (text: string | null) => void,
  maxBytes: number = READ.transcript,
): LinesRead {
  const handle = open(file, shown);
  try {
    return split(handle, line, maxBytes);
  } catch (cause) {
    throw unreadable(shown, errorCode(cause) ?? String(cause), cause);
  } finally {
    closeSync(handle);
  }
}

function open(file: string, shown: string): number {
  if (!DESCRIPTOR.test(file)) {
    const opened = openRegular(file, { links: 'follow' });
    if (opened.ok) return opened.handle;
    if (opened.failure === 'folder' || opened.failure === 'special') throw notRegular(shown);
    throw unreadable(shown, opened.detail ?? opened.failure);
  }
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY | (constants.O_NOCTTY ?? 0));
  } catch (cause) {
    throw unreadable(shown, errorCode(cause) ?? String(cause), cause);
  }
  const status = fstatSync(handle);
  if (status.isFile() || status.isFIFO()) return handle;
  closeSync(handle);
  throw notRegular(shown);
}

function split(handle: number, line: (text: string | null) => void, maxBytes: number): LinesRead {
  const chunk = Buffer.alloc(CHUNK);
  let parts: Buffer[] = [];
  let length = 0;
  const end = () => {
    line(length > READ.transcriptLine ? null : Buffer.concat(parts).toString('utf8'));
    parts = [];
    length = 0;
  };
  const keep = (bytes: Buffer) => {
    length += bytes.length;
    // Of a line that is too long, only the length is tracked.
    if (length > READ.transcriptLine) parts = [];
    else if (bytes.length > 0) parts.push(Buffer.from(bytes));
  };
  for (let total = 0; ; ) {
    const read = readSync(handle, chunk, 0, CHUNK, null);
    if (read === 0 || total >= maxBytes) {
      const torn = length > 0;
      if (torn) end();
      return { torn: torn && read === 0, cut: read > 0 };
    }
    total += read;
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1 && at < read; at = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, at));
      end();
      from = at + 1;
    }
    keep(chunk.subarray(from, read));
  }
}

function notRegular(shown: string): InputError {
  return new InputError(null, `${shown} is no file. Name the file to read.`);
}

function unreadable(shown: string, code: string, cause?: unknown): InputError {
  const why = code === 'ENOENT' || code === 'ENOTDIR' ? 'there is no such file' : code;
  return new InputError(null, `${shown} cannot be read: ${why}. Check the path.`, { cause });
}
