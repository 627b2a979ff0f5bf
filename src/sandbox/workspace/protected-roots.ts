/** What the agent must leave as it is: the same list for the mounts, the file rules and the tamper check. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { holdsCredentials, isProtectedName } from '../../files/protected-names.ts';
import type { Repository } from './repositories.ts';

/** The tops of the workspace and of each repository in it. */
export function topsOf(workspace: string, repositories: readonly Repository[]): readonly string[] {
  return [...new Set([workspace, ...repositories.map(({ root }) => root)])];
}

/** A name at the top of the workspace or of a repository that stays as it is. */
export interface ProtectedEntry {
  readonly path: string;
  /** Whether it holds credentials, so that it is hidden as well. */
  readonly isSecret: boolean;
}

/**
 * Everything protected that lies at the tops. No links: the maker of a link chooses what it leads to, and a commit can
 * hold one. The link itself is watched by the tamper check.
 */
export async function protectedAtTops(
  workspace: string,
  repositories: readonly Repository[],
): Promise<readonly ProtectedEntry[]> {
  const found: ProtectedEntry[] = [];
  for (const top of topsOf(workspace, repositories)) {
    for (const entry of await entriesIn(top)) {
      const path = join(top, entry.name);
      if (entry.isSymbolicLink()) continue;
      if (isProtectedName(entry.name)) found.push({ path, isSecret: false });
      // A mask hides one file and no folder, which a commit may have named like this.
      else if (entry.isFile() && holdsCredentials(entry.name)) found.push({ path, isSecret: true });
    }
  }
  return found;
}

/** The real paths of everything protected that exists. */
export async function protectedIn(
  workspace: string,
  repositories: readonly Repository[],
): Promise<readonly string[]> {
  const tops = await protectedAtTops(workspace, repositories);
  return [
    ...new Set([...repositories.flatMap(({ gitFolders }) => gitFolders), ...tops.map(({ path }) => path)]),
  ];
}

/** What lies in a folder; nothing where it cannot be read. */
async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
