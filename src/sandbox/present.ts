/** Looks at this machine for which a path that leads nowhere is an answer. */
import { readdir, realpath } from 'node:fs/promises';

/** Where a path lies once every symlink on the way was followed; the path itself where it leads nowhere. */
export async function realOrSame(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Where a path lies once every symlink on the way was followed; null where it leads nowhere. */
export async function realOrNull(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}

/** Names in a folder, sorted; empty where it cannot be read. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch {
    return [];
  }
}
