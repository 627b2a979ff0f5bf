/**
 * Finds links to content that is not part of a tree's hash, and could thus change without changing the hash. Such
 * content is outside the hashed paths, or inside them but not listed by git.
 */
import { lstat, readlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { errorCode } from '../../errors.ts';
import { KERNEL_FOLDERS } from '../../files/protected-names.ts';
import { SEARCH } from '../../text/limits.ts';
import { isInside } from './path-policy.ts';

/** Where unhashed content is: outside the hashed paths, or inside them but not among the files that git lists. */
type Target = 'outside' | 'unlisted';

/** A path that leads to unhashed content. Relative paths are latin1, one character per byte. */
export interface EscapingLink {
  readonly path: string;
  readonly to: Target;
}

export interface Judged {
  /** An absolute, real path. */
  readonly root: string;
  /** The files, links and submodules in the hash, relative to the root. */
  readonly files: ReadonlySet<string>;
  /** The links among them; none of their parent folders is a link. */
  readonly links: readonly string[];
  /** Paths behind a link, which are not in the hash; they are followed like links. */
  readonly behindLinks: readonly string[];
  /** The paths from which the files were selected, absolute and real. */
  readonly judged: readonly string[];
}

/**
 * Returns the first link that leads to unhashed content, directly or through an unhashed link or folder; null if every
 * link leads to a hashed file or folder, or nowhere.
 */
export async function findEscapingLink(options: Judged): Promise<EscapingLink | null> {
  const { root, files, links, behindLinks, judged } = options;
  const folders = new Set(['.']);
  for (const path of files)
    for (let at = posix.dirname(path); !folders.has(at); at = posix.dirname(at)) folders.add(at);
  const tree: HashedTree = {
    root: Buffer.from(root).toString('latin1'),
    judged: judged.map((path) => Buffer.from(path).toString('latin1')),
    files,
    folders,
  };
  for (const path of [...links, ...behindLinks]) {
    const to = await follow(path, tree);
    if (to !== null) return { path, to };
  }
  return null;
}

/** Absolute paths are latin1. */
interface HashedTree extends Pick<Judged, 'root' | 'judged' | 'files'> {
  /** The folders that contain any of the files at any depth; the root is a dot. */
  readonly folders: ReadonlySet<string>;
}

/** Follows a path component by component as the kernel does, to see every folder that it passes through. */
async function follow(path: string, tree: HashedTree): Promise<Target | null> {
  let at = tree.root;
  let rest: readonly string[] = path.split('/');
  /** The first folder on the way that may be missing at another time, in which case the link would lead nowhere. */
  let through: Target | null = null;
  for (let hops = 0; hops <= SEARCH.symlinks; ) {
    const [name, ...behind] = rest;
    if (name === undefined) return through ?? endAt(at, tree);
    const next = posix.join(at, name);
    if (KERNEL_FOLDERS.some((folder) => isInside(next, folder))) return 'outside';
    const place = Buffer.from(next, 'latin1');
    try {
      const stats = await lstat(place);
      const target = stats.isSymbolicLink() ? (await readlink(place, 'buffer')).toString('latin1') : null;
      const escaped = target === null ? null : endAt(next, tree);
      if (escaped !== null) return escaped;
      if (target === null && behind.length > 0) through ??= wayThrough(next, tree);
      if (target !== null) hops += 1;
      at = target === null ? next : target.startsWith('/') ? '/' : at;
      rest = target === null ? behind : [...target.split('/'), ...behind];
    } catch (error) {
      // A path that does not exist has no content.
      return ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '') ? null : 'outside';
    }
  }
  // A cycle in which every link is hashed.
  return null;
}

/** Returns null if the path is part of the hash: a file, a link, or a folder that contains one. */
function endAt(at: string, { root, judged, files, folders }: HashedTree): Target | null {
  if (!judged.some((path) => isInside(at, path))) return 'outside';
  const path = posix.relative(root, at) || '.';
  return files.has(path) || folders.has(path) ? null : 'unlisted';
}

/**
 * Returns null for a folder that exists whenever the hashed files do: one that contains such a file, or a parent of the
 * root.
 */
function wayThrough(at: string, tree: HashedTree): Target | null {
  if (isInside(tree.root, at) || tree.folders.has(posix.relative(tree.root, at))) return null;
  return endAt(at, tree);
}
