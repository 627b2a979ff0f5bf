/**
 * The only way to read a file that the checkout names or contains: regular files only, of a bounded size, without
 * blocking. A link to a device, a pipe without a writer or a kernel file is a failure, not a read that never ends.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { errorCode } from '../errors.ts';

export type ReadFailure =
  | 'missing'
  /** A folder, a device, a pipe, a socket, a file that the kernel makes, or a link if links are refused. */
  | 'not_regular'
  | 'too_large'
  /** Any other error of the system. */
  | 'unreadable';

/** `code` is that of the system's error; null if there was none. */
interface Failed {
  readonly ok: false;
  readonly failure: ReadFailure;
  readonly code: string | null;
}

export interface ReadBounds {
  /** Inclusive. */
  readonly maxBytes: number;
  /** How to treat a symbolic link as the last component of the path. */
  readonly links: 'follow' | 'refuse';
}

/** Where regular files are made by the kernel: some never end, some contain this process's environment. */
const OF_THE_KERNEL = /^\/(?:proc|sys)\//u;
/** Undefined on Windows. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Opens a regular file, which the caller must close. System errors are returned; only bugs throw. */
export function openRegular(file: string, links: ReadBounds['links']) {
  try {
    if (links === 'refuse' && lstatSync(file).isSymbolicLink()) return failed('not_regular');
    const realPath = realpathSync.native(file);
    // Before it is opened: merely opening some devices has side effects.
    if (!lstatSync(realPath).isFile() || OF_THE_KERNEL.test(realPath)) return failed('not_regular');
    const handle = openSync(realPath, O_NOFOLLOW | O_NONBLOCK);
    return { ok: true, handle, realPath, size: fstatSync(handle).size } as const;
  } catch (error) {
    return systemFailure(error);
  }
}

/** Reads a whole regular file. System errors are returned; only bugs throw. */
export function readBounded(file: string, { maxBytes, links }: ReadBounds) {
  const opened = openRegular(file, links);
  if (!opened.ok) return opened;
  const { handle, size, realPath } = opened;
  try {
    if (size > maxBytes) return failed('too_large');
    return { ok: true, bytes: readFileSync(handle), realPath } as const;
  } catch (error) {
    return systemFailure(error);
  } finally {
    closeSync(handle);
  }
}

/** Reads the text of a regular file; null for a link and anything else. What is not UTF-8 becomes U+FFFD. */
export function readBoundedText(file: string, maxBytes: number): string | null {
  const read = readBounded(file, { maxBytes, links: 'refuse' });
  return read.ok ? read.bytes.toString('utf8') : null;
}

/** Decodes UTF-8 text without its byte order mark; null for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Buffer): string | null {
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : null;
}

function failed(failure: ReadFailure, code: string | null = null): Failed {
  return { ok: false, failure, code };
}

/** Includes errors of Node's own for an invalid name, such as one with a NUL. */
function systemFailure(error: unknown): Failed {
  const code = errorCode(error);
  if (code === null) throw error;
  return failed(code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable', code);
}
