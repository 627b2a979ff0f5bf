/** `sandbox: auto` without a sandbox: files are read by this process, which nothing races, because no command runs. */
import { closeSync, type Dirent, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, relative, resolve } from 'node:path';
import { isClosedPath } from '../files/names.ts';
import { openRegular } from '../files/read-bounded.ts';
import { DeniedError, type FileView, MissingError } from './sandbox.ts';
import { isWithin, realOrSame } from './system-root.ts';

/**
 * Reads a file or lists a folder in one of the folders. Links are followed as long as they lead to one of them.
 * @param path absolute.
 * @throws DeniedError with a sentence for the model
 */
export async function readConfined(
  path: string,
  folders: readonly string[],
  maxBytes: number,
): Promise<FileView> {
  const name = JSON.stringify(path);
  const real = realOrSame(resolve(path));
  const folder = folders.map(realOrSame).find((one) => isWithin(real, one));
  if (folder === undefined)
    throw new DeniedError(
      `${name} is outside of the checkout, and without a sandbox nothing else can be read.`,
    );
  if (isClosedPath(relative(folder, real)))
    throw new DeniedError(`${name} is closed: ${basename(real)} can hold credentials.`);
  const entries = await readdir(real, { withFileTypes: true }).catch(() => null);
  if (entries !== null) {
    const listed = entries.map((entry) => ({ name: entry.name, mark: markOf(entry) }));
    return { kind: 'directory', entries: listed.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }
  const opened = openRegular(real, 'refuse');
  if (!opened.ok) {
    if (opened.failure === 'missing') throw new MissingError(`${name} does not exist.`);
    throw new DeniedError(`${name} cannot be read.`);
  }
  try {
    const bytes = Buffer.alloc(Math.min(maxBytes, opened.size));
    const length = readSync(opened.handle, bytes);
    return { kind: 'file', bytes: bytes.subarray(0, length), truncated: opened.size > maxBytes };
  } finally {
    closeSync(opened.handle);
  }
}

function markOf(entry: Dirent): string {
  if (entry.isSymbolicLink()) return '@';
  if (entry.isDirectory()) return '/';
  return entry.isFile() ? '' : '?';
}
