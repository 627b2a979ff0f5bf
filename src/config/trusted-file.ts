/** Reads a file that the user named (schema, gate, prompt), before the model is asked anything. */
import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { type ReadFailure, readBounded } from '../files/read-bounded.ts';
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

const LEAVES = 'leaves the workspace; only files inside it are read.';

/** The largest schema or gate, in bytes. */
export const maxSchemaBytes = 4 * 1024 * 1024;

/** Reads a whole file as UTF-8. Only a regular file is read; a FIFO or a device is refused at once. */
export async function readTrustedFile(path: string, limits: TrustedFileLimits): Promise<TrustedFile> {
  const name = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
  const { root, maxBytes } = limits;
  const target = root === null ? path : resolve(root, path);
  const read = readBounded(target, {
    maxBytes,
    links: 'follow',
    refuse: (real) => (root === null || liesInside(real, realpathSync.native(root)) ? null : LEAVES),
  });
  return read.ok ? decode(read.bytes, name) : problemOf(read.failure, read.detail, name, maxBytes);
}

function liesInside(real: string, realRoot: string): boolean {
  const way = relative(realRoot, real);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function decode(bytes: Buffer, name: string): TrustedFile {
  try {
    // The decoder takes a BOM away by itself.
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return refusal(`${name} is not valid UTF-8 text. Save it as UTF-8.`);
  }
}

function problemOf(failure: ReadFailure, detail: string | null, name: string, maxBytes: number): TrustedFile {
  switch (failure) {
    case 'missing':
      return {
        ...refusal(
          `could not read ${name}: there is no such file. Check the path; in a workflow, also that the repository is checked out before this step.`,
        ),
        isMissing: true,
      };
    case 'refused':
      return refusal(`${name} ${detail}`);
    case 'denied':
      return refusal(`could not read ${name}: permission denied.`);
    case 'link':
    case 'loop':
      return refusal(`could not read ${name}: too many symbolic links.`);
    case 'special':
      return refusal(
        `${name} must be a regular file, but is a device, a pipe, a socket, or a file of /proc or /sys.`,
      );
    case 'folder':
      return refusal(`${name} must be a regular file, but is a directory.`);
    case 'too_large':
      return refusal(`${name} is larger than ${maxBytes / 1024 / 1024} MiB; only smaller files are read.`);
    case 'other':
      return refusal(`could not read ${name}: ${detail ?? 'it changed while it was read'}.`);
  }
}

function refusal(problem: string) {
  return { ok: false, problem } as const;
}
