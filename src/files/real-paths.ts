/** Real paths of the machine: without links, and in the case of their names on the disk. */
import { realpathSync } from 'node:fs';
import path from 'node:path';

export function realOrNull(file: string): string | null {
  try {
    return realpathSync.native(file);
  } catch {
    return null;
  }
}

/** Whether a path is a folder or is in it. Both are absolute and normalized. */
export function isInside(inner: string, folder: string): boolean {
  return inner === folder || inner.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}
