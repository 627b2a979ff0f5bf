/** Finds the checkout that is judged: with `path:` it is not at the root of the workspace. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import { READ } from '../text/limits.ts';

/**
 * Returns the root of the repository around a folder, or else of the only one that is checked out in a folder of the
 * workspace; null if there is none, or the choice is ambiguous.
 * @param workspace absolute and real
 */
export function findCheckout(folder: string, workspace: string): string | null {
  const real = realOrNull(folder) ?? workspace;
  const around = repositoryAround(isBelow(real, workspace) ? real : workspace, workspace);
  if (around !== null) return around;
  const [only, ...others] = foldersIn(workspace).filter(isCheckout);
  return only === undefined || others.length > 0 ? null : only;
}

/**
 * Returns the root of the repository around a folder, within the workspace; null if there is none. Both paths are
 * absolute and real.
 */
export function repositoryAround(folder: string, workspace: string): string | null {
  for (let at = folder; isBelow(at, workspace); at = path.dirname(at)) {
    if (isCheckout(at)) return at;
    if (at === workspace) break;
  }
  return null;
}

export function realOrNull(folder: string): string | null {
  try {
    return realpathSync.native(folder);
  } catch {
    return null;
  }
}

/** Whether `inner` is `outer` or is below it; both paths are absolute and normalized. */
export function isBelow(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

/** A workspace that is not a folder is reported like any invalid option, once the run has started. */
function foldersIn(workspace: string): readonly string[] {
  try {
    const entries = readdirSync(workspace, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(workspace, name));
  } catch {
    return [];
  }
}

/** Whether `.git` is a repository, or the file that names that of a worktree or a submodule. */
function isCheckout(folder: string): boolean {
  const git = path.join(folder, '.git');
  return (
    existsSync(path.join(git, 'HEAD')) || readBoundedText(git, READ.pointer)?.startsWith('gitdir: ') === true
  );
}
