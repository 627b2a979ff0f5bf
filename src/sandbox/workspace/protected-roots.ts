/** Lists the paths that the agent must not change, for the mounts, the file rules and the tamper check alike. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { holdsCredentials, isProtectedName } from './protected-names.ts';
import type { Repository } from './repositories.ts';

/** Returns the root folders of the workspace and of each repository in it. */
export function topsOf(workspace: string, repositories: readonly Repository[]): readonly string[] {
  return [...new Set([workspace, ...repositories.map(({ root }) => root)])];
}

/** A protected entry in the root folder of the workspace or of a repository. */
export interface ProtectedEntry {
  readonly path: string;
  /** Whether it holds credentials and is therefore hidden as well. */
  readonly isSecret: boolean;
}

/**
 * Returns all protected entries in the root folders. Excludes links, because the author of a link (possibly in a
 * commit) chooses its target; the tamper check watches the link itself.
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
      // A mask hides a file but not a folder, to which a commit may have given this name.
      else if (entry.isFile() && holdsCredentials(entry.name)) found.push({ path, isSecret: true });
    }
  }
  return found;
}

/** Returns the real paths of all protected entries that exist. */
export async function protectedIn(
  workspace: string,
  repositories: readonly Repository[],
): Promise<readonly string[]> {
  const tops = await protectedAtTops(workspace, repositories);
  return [
    ...new Set([...repositories.flatMap(({ gitFolders }) => gitFolders), ...tops.map(({ path }) => path)]),
  ];
}

/** Returns the entries of a folder; none if it cannot be read. */
async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
