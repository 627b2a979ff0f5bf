/** Files in a git folder that open other repositories, besides its configs. */
import type { Dirent } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCredentials } from './git-config.ts';

/** What git itself keeps in its folder, its configs among it: they are looked at by themselves. */
const GITS_OWN =
  /^(?:config|config\.worktree|index|packed-refs|shallow|description|.*[A-Z]_(?:HEAD|EDITMSG|MSG)|HEAD)$/u;
/** Longer files are no credentials, in bytes. */
const MAX_OPENER_BYTES = 65_536;

/**
 * Other files right in a git folder that hold credentials: a helper's store, a config that the config includes.
 * @param entries what lies in the folder.
 */
export async function findOpeners(folder: string, entries: readonly Dirent[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of entries) {
    if (!entry.isFile() || GITS_OWN.test(entry.name)) continue;
    const path = join(folder, entry.name);
    const text = await readFileUpTo(path).catch(() => '');
    if (hasCredentials(text)) found.push(path);
  }
  return found;
}

/** The text of a file; nothing where it is too long. */
async function readFileUpTo(path: string): Promise<string> {
  return (await stat(path)).size > MAX_OPENER_BYTES ? '' : readFile(path, 'utf8');
}
