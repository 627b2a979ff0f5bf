/**
 * Locates the checkouts of the judged repository in the workspace. With `path:` it is not at the workspace root, and
 * other repositories may be checked out beside it.
 */
import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import { READ } from '../text/limits.ts';

/** Bytes of a git config. */
const MAX_GIT_CONFIG = 1024 ** 2;
/** Levels below the workspace in the search for checkouts. */
const MAX_CHECKOUT_DEPTH = 3;
/** Folders that this search visits. */
const MAX_CHECKOUT_FOLDERS = 5_000;

/** The checkouts in a workspace. All paths are absolute and real. */
export interface Checkouts {
  /** Roots of the judged repository, used to resolve relative paths. */
  readonly roots: readonly string[];
  /**
   * Whether the judged repository itself was found. If no checkout was found at all, `roots` contains the workspace,
   * which is treated as a copy of the repository.
   */
  readonly found: boolean;
  /**
   * Returns the root of the judged repository that contains a file; null if the file belongs to another repository or
   * to none.
   */
  rootOf(file: string): string | null;
  /** Returns the root of the repository that contains a folder, whichever repository it is; null if there is none. */
  around(folder: string): string | null;
}

/**
 * Searches the workspace for checkouts. A checkout belongs to the run if one of its remotes is in `names`
 * (`owner/name`), or if its remotes are unknown and no other repository contains it. A workspace without any checkout
 * is treated as a copy of the repository.
 */
export function findCheckouts(workspace: string, names: readonly string[]): Checkouts {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const known = new Map<string, boolean>();
  const around = (folder: string) => repositoryAround(folder, workspace);
  const belongs = (root: string): boolean => {
    const remotes = remotesOf(root, workspace);
    if (remotes.length > 0 && wanted.size > 0) return remotes.some((remote) => wanted.has(remote));
    return root === workspace || around(path.dirname(root)) === null;
  };
  const isOurs = (root: string): boolean => {
    const ours = known.get(root) ?? belongs(root);
    known.set(root, ours);
    return ours;
  };
  const all = search(workspace);
  const ours = all.filter(isOurs);
  return {
    roots: all.length === 0 ? [workspace] : ours,
    found: ours.length > 0,
    around,
    rootOf(file) {
      const root = around(path.dirname(file));
      if (root !== null) return isOurs(root) ? root : null;
      return all.length === 0 ? workspace : null;
    },
  };
}

/**
 * Returns the root of the judged checkout for a folder of the workspace: the checkout that contains the folder,
 * otherwise the checkout of the judged repository below it, otherwise the only checkout below it. Returns null if there
 * is none or the choice is ambiguous.
 * @param workspace real and absolute, like `folder` except that `folder` may contain symbolic links.
 */
export function findJudgedCheckout(
  folder: string,
  workspace: string,
  names: readonly string[],
): string | null {
  const real = realOrNull(folder);
  if (real === null || !isBelow(real, workspace)) return null;
  const around = repositoryAround(real, workspace);
  if (around !== null) return around;
  const { found, roots } = findCheckouts(real, names);
  const [only, ...others] = found ? roots : findCheckouts(real, []).roots;
  return only === undefined || others.length > 0 ? null : only;
}

export function realOrNull(folder: string): string | null {
  try {
    return realpathSync.native(folder);
  } catch {
    return null;
  }
}

/**
 * Returns the root of the repository that contains a folder, within the workspace; null if there is none. Both paths
 * are absolute and real.
 */
export function repositoryAround(folder: string, workspace: string): string | null {
  for (let at = folder; isBelow(at, workspace); at = path.dirname(at)) {
    if (isCheckout(at)) return at;
    if (at === workspace) break;
  }
  return null;
}

/** Whether `inner` is `outer` or is below it; both paths are absolute and normalized. */
export function isBelow(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

/** Returns the outermost checkouts, those nearest to the workspace root first. */
function search(workspace: string): readonly string[] {
  if (isCheckout(workspace)) return [workspace];
  const found: string[] = [];
  let looked = 0;
  let level = [workspace];
  for (let depth = 1; depth <= MAX_CHECKOUT_DEPTH; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      const children = foldersIn(folder).slice(0, MAX_CHECKOUT_FOLDERS - looked);
      looked += children.length;
      for (const child of children) (isCheckout(child) ? found : next).push(child);
    }
    level = next;
  }
  return found;
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      .map((entry) => path.join(folder, entry.name))
      .sort();
  } catch {
    return [];
  }
}

/** Whether git would treat a folder as the root of a work tree: `.git` is a repository, or a file that names one. */
function isCheckout(folder: string): boolean {
  const git = lstatSync(path.join(folder, '.git'), { throwIfNoEntry: false });
  if (git === undefined) return false;
  return git.isDirectory() ? isRepository(path.join(folder, '.git')) : git.isFile();
}

function isRepository(folder: string): boolean {
  return lstatSync(path.join(folder, 'HEAD'), { throwIfNoEntry: false }) !== undefined;
}

/** Returns the remotes of a checkout as `owner/name` in lower case; empty if its configuration is not found. */
function remotesOf(root: string, workspace: string): readonly string[] {
  const own = path.join(root, '.git');
  const pointer = lstatSync(own).isDirectory() ? null : readBoundedText(own, READ.pointer);
  const named = /^gitdir:(.*)$/m.exec(pointer ?? '')?.[1]?.trim();
  const folder = named === undefined ? own : path.resolve(root, named);
  const common = path.resolve(
    folder,
    readBoundedText(path.join(folder, 'commondir'), READ.pointer)?.trim() || '.',
  );
  if (!isBelow(common, workspace)) return [];
  return remoteNames(readBoundedText(path.join(common, 'config'), MAX_GIT_CONFIG) ?? '');
}

function remoteNames(config: string): readonly string[] {
  let inRemote = false;
  const names: string[] = [];
  for (const line of config.split('\n')) {
    const section = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (section !== undefined) inRemote = /^remote\s/i.test(section);
    const url = inRemote ? /^\s*url\s*=\s*"?([^"\s]+)/i.exec(line)?.[1] : undefined;
    // The name of a local mirror says nothing: it can be any folder name.
    if (url === undefined || /^(?:file:|[/.])/i.test(url)) continue;
    const name = /(?<![^/:])([^/:]+\/[^/:]+?)(?:\.git)?\/*$/.exec(url)?.[1];
    if (name !== undefined) names.push(name.toLowerCase());
  }
  return names;
}
