/**
 * The one way to read a file that the checkout names or holds: regular files alone, of a bounded size, without waiting.
 * A link to a device, a pipe without a writer or a file of the kernel is an answer, never a read that does not end.
 */

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { errorCode } from '../errors.ts';

/** Why a file was not read. */
export type ReadFailure =
  /** Nothing has this name. */
  | 'missing'
  /** A symbolic link stands at the end of the path, and links are refused. */
  | 'link'
  | 'folder'
  /** A device, a pipe, a socket, or a file of `/proc` or `/sys`, whose content the kernel makes up. */
  | 'special'
  | 'too_large'
  /** The system does not permit it. */
  | 'denied'
  /** Links that lead in a circle. */
  | 'loop'
  /** `refuse` gave a reason. */
  | 'refused'
  /** Anything else that the system refuses, or a file that was replaced while it was opened. */
  | 'other';

/**
 * The bytes of a file and its path without links, or why there are none. `detail` is the reason that `refuse` gave, else
 * the code of the system's error; null where there is neither.
 */
export type BoundedRead =
  | { readonly ok: true; readonly bytes: Buffer; readonly realPath: string }
  | { readonly ok: false; readonly failure: ReadFailure; readonly detail: string | null };

/** The beginning of a file, or why there is none. */
export type StartRead =
  | (Extract<BoundedRead, { ok: true }> & { readonly size: number })
  | Extract<BoundedRead, { ok: false }>;

/** How a file is opened. */
export interface OpenBounds {
  /** Inclusive; a larger file is not opened. */
  readonly maxBytes?: number;
  /** What a symbolic link at the end of the path is. */
  readonly links: 'follow' | 'refuse';
  /** Why the file must not be read, by its path without links; null where it may be. Called before it is opened. */
  readonly refuse?: (realPath: string) => string | null;
}

/** How a file is read. */
export interface ReadBounds extends OpenBounds {
  readonly maxBytes: number;
}

const CHUNK_BYTES = 64 * 1024;
/** Trees whose regular files are made up by the kernel: some never end, some hold this process's environment. */
const KERNEL_TREES = ['/proc', '/sys'];
const FLAGS =
  constants.O_RDONLY |
  // Undefined on Windows, which has neither.
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

/** A file that is open for reading, or why it is not. The caller closes it. */
export type OpenedFile =
  | { readonly ok: true; readonly handle: number; readonly realPath: string; readonly size: number }
  | Extract<BoundedRead, { ok: false }>;

/** Opens a regular file for reading it in parts. Throws only what is a bug; every refusal of the system is an answer. */
export function openRegular(file: string, bounds: OpenBounds): OpenedFile {
  let handle: number | null = null;
  try {
    if (bounds.links === 'refuse' && lstatSync(file).isSymbolicLink()) return failed('link');
    const realPath = realpathSync.native(file);
    const reason = bounds.refuse?.(realPath) ?? null;
    if (reason !== null) return failed('refused', reason);
    // Before it is opened: opening alone does something with some devices.
    const found = lstatSync(realPath, { bigint: true });
    if (found.isDirectory()) return failed('folder');
    if (!found.isFile() || isKernels(realPath)) return failed('special');
    if (bounds.maxBytes !== undefined && found.size > bounds.maxBytes) return failed('too_large');
    handle = openSync(realPath, FLAGS);
    // What was opened is what was looked at, also where a folder on the way was replaced in between.
    const opened = fstatSync(handle, { bigint: true });
    const isSame = opened.ino === found.ino && opened.dev === found.dev;
    if (!isSame || realpathSync.native(realPath) !== realPath) {
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

/** Reads a whole regular file. Throws only what is a bug; every refusal of the system is an answer. */
export function readBounded(file: string, bounds: ReadBounds): BoundedRead {
  const read = readOpened(openRegular(file, bounds), bounds.maxBytes + 1);
  if (!read.ok) return read;
  const { bytes, realPath } = read;
  return bytes.length > bounds.maxBytes ? failed('too_large') : { ok: true, bytes, realPath };
}

/** The first `maxBytes` bytes of a regular file that is no link, and how many it has. */
export function readBoundedStart(file: string, maxBytes: number): StartRead {
  return readOpened(openRegular(file, { links: 'refuse' }), maxBytes);
}

/** The text of a regular file that is no link; null for everything else. Bytes that are not UTF-8 become U+FFFD. */
export function readBoundedText(file: string, maxBytes: number): string | null {
  const read = readBounded(file, { maxBytes, links: 'refuse' });
  return read.ok ? read.bytes.toString('utf8') : null;
}

function readOpened(opened: OpenedFile, limit: number): StartRead {
  if (!opened.ok) return opened;
  const { handle, realPath, size } = opened;
  try {
    return { ok: true, bytes: readUpTo(handle, limit), realPath, size };
  } catch (error) {
    const code = codeOf(error);
    return failed(FAILURES[code] ?? 'other', code);
  } finally {
    closeSync(handle);
  }
}

/** Reads until the end or the limit; the size of a file is not believed, it may grow. */
function readUpTo(handle: number, limit: number): Buffer {
  const chunks: Buffer[] = [];
  for (let total = 0; total < limit; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, limit - total));
    const length = readSync(handle, chunk, 0, chunk.length, null);
    if (length === 0) break;
    chunks.push(chunk.subarray(0, length));
    total += length;
  }
  return Buffer.concat(chunks);
}

function isKernels(realPath: string): boolean {
  return KERNEL_TREES.some((tree) => realPath.startsWith(`${tree}${sep}`));
}

function failed(failure: ReadFailure, detail: string | null = null): Extract<BoundedRead, { ok: false }> {
  return { ok: false, failure, detail };
}

/** Also of Node's own errors, for a name that cannot be one, such as with a NUL. */
function codeOf(error: unknown): string {
  const code = errorCode(error);
  if (code === null) throw error;
  return code;
}
