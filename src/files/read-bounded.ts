/**
 * The only way to read a file that the checkout names or contains: regular files only, of a bounded size, without
 * blocking. A link to a device, a pipe without a writer or a kernel file results in a failure, not in a read that never
 * ends.
 */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { sep } from 'node:path';
import { errorCode } from '../errors.ts';

/** Why a file was not read. */
export type ReadFailure =
  | 'missing'
  /** The last component of the path is a symbolic link, and links are refused. */
  | 'link'
  | 'folder'
  /** A device, a pipe, a socket, or a file in `/proc` or `/sys`, whose contents the kernel generates. */
  | 'special'
  | 'too_large'
  | 'denied'
  /** A cycle of links. */
  | 'loop'
  /** `refuse` returned a reason. */
  | 'refused'
  /** Any other system error, or a file that was replaced while it was being opened. */
  | 'other';

/**
 * The bytes of a file and its real path, or why it was not read. `detail` is the reason returned by `refuse` or the
 * code of the system error; null if there is neither.
 */
export type BoundedRead =
  | { readonly ok: true; readonly bytes: Buffer; readonly realPath: string }
  | { readonly ok: false; readonly failure: ReadFailure; readonly detail: string | null };

/** The start of a file, or why it was not read. */
export type StartRead =
  | (Extract<BoundedRead, { ok: true }> & { readonly size: number })
  | Extract<BoundedRead, { ok: false }>;

export interface OpenBounds {
  /** Inclusive; a larger file is not opened. */
  readonly maxBytes?: number;
  /** How to treat a symbolic link as the last component of the path. */
  readonly links: 'follow' | 'refuse';
  /** Returns why the file must not be read, given its real path, or null. Called before the file is opened. */
  readonly refuse?: (realPath: string) => string | null;
  /**
   * The real path that the kernel must report for the opened file, if the path leads through `/proc/PID/root` into
   * another mount namespace, whose real paths cannot be resolved in this one.
   */
  readonly expected?: string | undefined;
}

export interface ReadBounds extends OpenBounds {
  readonly maxBytes: number;
}

const CHUNK_BYTES = 64 * 1024;
/** File systems whose regular files the kernel generates: some never end, some contain this process's environment. */
const KERNEL_TREES = ['/proc', '/sys'];
const FLAGS =
  constants.O_RDONLY |
  // Undefined on Windows.
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0) |
  (constants.O_NOCTTY ?? 0);

const FAILURES: Readonly<Record<string, ReadFailure>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  EACCES: 'denied',
  EPERM: 'denied',
  ELOOP: 'loop',
  EISDIR: 'folder',
  ENXIO: 'special',
  ENODEV: 'special',
  EOPNOTSUPP: 'special',
};

/** A file open for reading, or why it is not. The caller must close it. */
export type OpenedFile =
  | { readonly ok: true; readonly handle: number; readonly realPath: string; readonly size: number }
  | Extract<BoundedRead, { ok: false }>;

/** Opens a regular file to read it in parts. System errors are returned; only bugs throw. */
export function openRegular(file: string, bounds: OpenBounds): OpenedFile {
  let handle: number | null = null;
  try {
    if (bounds.links === 'refuse' && lstatSync(file).isSymbolicLink()) return failed('link');
    const realPath = bounds.expected ?? realpathSync.native(file);
    // Only the kernel knows the names in another mount namespace; what it opens is checked below.
    const path = bounds.expected === undefined ? realPath : file;
    const reason = bounds.refuse?.(realPath) ?? null;
    if (reason !== null) return failed('refused', reason);
    // Before it is opened: merely opening some devices has side effects.
    const found = lstatSync(path, { bigint: true });
    if (found.isDirectory()) return failed('folder');
    if (!found.isFile() || isKernels(realPath)) return failed('special');
    if (bounds.maxBytes !== undefined && found.size > bounds.maxBytes) return failed('too_large');
    handle = openSync(path, FLAGS);
    // The opened file is the one that was checked, even if a parent folder was replaced in between.
    const opened = fstatSync(handle, { bigint: true });
    const isSame = opened.ino === found.ino && opened.dev === found.dev;
    const now =
      bounds.expected === undefined ? realpathSync.native(path) : readlinkSync(`/proc/self/fd/${handle}`);
    if (!isSame || now !== realPath) {
      closeSync(handle);
      return failed('other');
    }
    return { ok: true, handle, realPath, size: Number(opened.size) };
  } catch (error) {
    if (handle !== null) closeSync(handle);
    const code = codeOf(error);
    return failed(FAILURES[code] ?? 'other', code);
  }
}

/** Reads a whole regular file. System errors are returned; only bugs throw. */
export function readBounded(file: string, bounds: ReadBounds): BoundedRead {
  const read = readOpened(openRegular(file, bounds), bounds.maxBytes + 1);
  if (!read.ok) return read;
  const { bytes, realPath } = read;
  return bytes.length > bounds.maxBytes ? failed('too_large') : { ok: true, bytes, realPath };
}

/** Reads the first `maxBytes` bytes of a regular file that is not a link, and returns its size. */
export function readBoundedStart(file: string, maxBytes: number, expected?: string): StartRead {
  return readOpened(openRegular(file, { links: 'refuse', expected }), maxBytes);
}

/**
 * Reads the text of a regular file that is not a link; null for anything else. Bytes that are not UTF-8 become U+FFFD.
 */
export function readBoundedText(file: string, maxBytes: number): string | null {
  const read = readBounded(file, { maxBytes, links: 'refuse' });
  return read.ok ? read.bytes.toString('utf8') : null;
}

function readOpened(opened: OpenedFile, limit: number): StartRead {
  if (!opened.ok) return opened;
  const { handle, realPath, size } = opened;
  try {
    return { ok: true, bytes: readUpTo(handle, size, limit), realPath, size };
  } catch (error) {
    const code = codeOf(error);
    return failed(FAILURES[code] ?? 'other', code);
  } finally {
    closeSync(handle);
  }
}

/** Reads until the end or the limit. The reported size is a hint: the file may grow. */
function readUpTo(handle: number, size: number, limit: number): Buffer {
  const chunks: Buffer[] = [];
  for (let total = 0; total < limit; ) {
    const expected = total > size ? CHUNK_BYTES : size - total + 1;
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, expected, limit - total));
    const length = readSync(handle, chunk, 0, chunk.length, null);
    if (length === 0) break;
    chunks.push(chunk.subarray(0, length));
    total += length;
  }
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}

function isKernels(realPath: string): boolean {
  return KERNEL_TREES.some((tree) => realPath.startsWith(`${tree}${sep}`));
}

function failed(failure: ReadFailure, detail: string | null = null): Extract<BoundedRead, { ok: false }> {
  return { ok: false, failure, detail };
}

/** Returns an error code, including those of Node.js for an invalid name, such as one with a NUL. */
function codeOf(error: unknown): string {
  const code = errorCode(error);
  if (code === null) throw error;
  return code;
}
