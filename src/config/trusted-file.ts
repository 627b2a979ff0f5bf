/** Reads a file that the user named (schema, gate, prompt), before the model is asked anything. */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { Reading } from '../types.ts';

/** The text of a file without a BOM, or a sentence that names the path and says why it was not read. */
export type TrustedFile = Reading;

/** Where a file may lie, and how large it may be. */
export interface TrustedFileLimits {
  /** The folder that paths are relative to and must not leave, symlinks followed; null for anywhere. */
  readonly root: string | null;
  /** Inclusive. */
  readonly maxBytes: number;
}

/** The largest schema or gate, in bytes. */
export const maxSchemaBytes = 4 * 1024 * 1024;

/**
 * Opens a file once and reads it whole as UTF-8. Only a regular file is read; a FIFO or a device is refused at once.
 * What is checked is the opened file itself, so that swapping the path in between gains nothing.
 */
export async function readTrustedFile(path: string, limits: TrustedFileLimits): Promise<TrustedFile> {
  const name = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
  const target = limits.root === null ? path : resolve(limits.root, path);
  let handle: FileHandle | null = null;
  try {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    handle = await open(target, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return await readOpened(handle, target, name, limits);
  } catch (error) {
    return failureOf(error, name);
  } finally {
    await handle?.close();
  }
}

async function readOpened(
  handle: FileHandle,
  target: string,
  name: string,
  limits: TrustedFileLimits,
): Promise<TrustedFile> {
  const status = await handle.stat({ bigint: true });
  if (limits.root !== null && !(await liesInside(status, target, limits.root))) {
    return refusal(`${name} leaves the workspace; only files inside it are read.`);
  }
  if (!status.isFile()) return refusal(notRegular(name, status.isDirectory()));
  if (status.size > limits.maxBytes) return refusal(tooLarge(name, limits.maxBytes));
  const bytes = await readAtMost(handle, limits.maxBytes + 1);
  if (bytes.length > limits.maxBytes) return refusal(tooLarge(name, limits.maxBytes));
  return decode(bytes, name);
}

/** Whether the opened file is the very one that the path leads to inside the root. */
async function liesInside(opened: BigIntStats, target: string, root: string): Promise<boolean> {
  const [real, realRoot] = await Promise.all([realpath(target), realpath(root)]);
  const way = relative(realRoot, real);
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return false;
  const found = await stat(real, { bigint: true });
  return found.dev === opened.dev && found.ino === opened.ino;
}

/** Reads until the end or the limit; the size of a file is not believed, it may grow. */
async function readAtMost(handle: FileHandle, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let total = 0; total < limit; ) {
    const chunk = Buffer.alloc(Math.min(64 * 1024, limit - total));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, name: string): TrustedFile {
  try {
    // The decoder takes a BOM away by itself.
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return refusal(`${name} is not valid UTF-8 text. Save it as UTF-8.`);
  }
}

function failureOf(error: unknown, name: string): TrustedFile {
  const code = error instanceof Error && 'code' in error ? String(error.code) : null;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return {
        ...refusal(
          `could not read ${name}: there is no such file. Check the path; in a workflow, also that the repository is checked out before this step.`,
        ),
        isMissing: true,
      };
    case 'EACCES':
    case 'EPERM':
      return refusal(`could not read ${name}: permission denied.`);
    case 'ELOOP':
      return refusal(`could not read ${name}: too many symbolic links.`);
    // Opening a socket, or a device without a driver.
    case 'ENXIO':
    case 'ENODEV':
    case 'EOPNOTSUPP':
      return refusal(notRegular(name, false));
    case 'EISDIR':
      return refusal(notRegular(name, true));
    case null:
      throw error;
    default:
      return refusal(`could not read ${name}: ${code}.`);
  }
}

function notRegular(name: string, isDirectory: boolean): string {
  return `${name} must be a regular file, but is ${isDirectory ? 'a directory' : 'a device, pipe or socket'}.`;
}

function tooLarge(name: string, maxBytes: number): string {
  return `${name} is larger than ${maxBytes / 1024 / 1024} MiB; only smaller files are read.`;
}

function refusal(problem: string) {
  return { ok: false, problem } as const;
}
