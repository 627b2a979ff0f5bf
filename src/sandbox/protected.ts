/** What the agent must leave as it is: the same list for the mounts, the file rules and the tamper check. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { foldName } from '../files/names.ts';
import type { Repository } from './git-folders.ts';
import { realOrSame } from './present.ts';

/** Names at the top of a repository that stay as they are. */
export const PROTECTED_NAMES: readonly string[] = ['.git', '.github', 'action.yml', 'action.yaml'];
const PROTECTED = new Set(PROTECTED_NAMES);

/** Whether a name at the top of a repository holds credentials that a tool left there. */
export function holdsCredentials(name: string): boolean {
  const folded = foldName(name);
  return /^gha-creds-.*\.json$/u.test(folded) || folded === '.git-credentials';
}

/** Whether a name at the top of a repository is protected. */
export function isProtected(name: string): boolean {
  return PROTECTED.has(foldName(name));
}

/** The tops of the workspace and of each repository in it. */
export function topsOf(workspace: string, repositories: readonly Repository[]): readonly string[] {
  return [...new Set([workspace, ...repositories.map(({ root }) => root)])];
}

/** The real paths of everything protected that exists. */
export async function protectedIn(
  workspace: string,
  repositories: readonly Repository[],
): Promise<readonly string[]> {
  const found = new Set(repositories.flatMap(({ gitFolders }) => gitFolders));
  for (const top of topsOf(workspace, repositories)) {
    for (const name of await readdir(top)) {
      if (isProtected(name) || holdsCredentials(name)) found.add(await realOrSame(join(top, name)));
    }
  }
  return [...found];
}
