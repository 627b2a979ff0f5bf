/** Looks at this machine for which a path that leads nowhere is an answer. */
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isInside } from './path-policy.ts';

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/** Where a path lies once every symlink on the way was followed; the path itself where it leads nowhere. */
export async function realOrSame(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Where a path lies once every symlink on the way was followed; null where it leads nowhere. */
export async function realOrNull(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}

/**
 * Where an absolute path lies once every symlink on the way was followed; null where it leads nowhere, or on the way
 * through the folder: any writer there would choose where it leads.
 */
export async function realWithout(path: string, folder: string): Promise<string | null> {
  let current = resolve(path);
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    if (isInside(current, folder)) return null;
    const next = await followFirstLink(current);
    if (next === null || next === current) return next;
    current = next;
  }
  return null;
}

/** The path after its first link was followed; itself where there is none, null where it leads nowhere. */
async function followFirstLink(path: string): Promise<string | null> {
  const names = path.split('/').filter(Boolean);
  for (const [index, name] of names.entries()) {
    const at = join('/', ...names.slice(0, index), name);
    try {
      if ((await lstat(at)).isSymbolicLink())
        return resolve(dirname(at), await readlink(at), ...names.slice(index + 1));
    } catch {
      return null;
    }
  }
  return path;
}

/** Names in a folder, sorted; empty where it cannot be read. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch {
    return [];
  }
}
