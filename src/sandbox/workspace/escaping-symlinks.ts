/**
 * Links to what has no part in a tree's hash: what lies there could change, and the hash would not. It lies outside of
 * what is judged, or in it and git does not list it.
 */
import { lstat, readlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { errorCode } from '../../errors.ts';
import { KERNEL_FOLDERS } from '../../files/protected-names.ts';
import { isInside } from './path-policy.ts';

/** As many as Linux follows. */
const MAX_HOPS = 40;

/** Where the content is in no hash: outside of what is judged, or in it and not among the files that git lists. */
type Target = 'outside' | 'unlisted';

/** A path that leads there. Relative paths are latin1, a character for each byte. */
export interface EscapingLink {
  readonly path: string;
  readonly to: Target;
}

/** What is judged, after it was hashed. */
export interface Judged {
  /** Absolute and real. */
  readonly root: string;
  /** The files, links and submodules that are in the hash, relative to the root. */
  readonly files: ReadonlySet<string>;
  /** The links among them; nothing on the way to them is a link. */
  readonly links: readonly string[];
  /** Paths that lie behind a link, which the hash leaves out: they are followed like links. */
  readonly behindLinks: readonly string[];
  /** What the files were chosen from, absolute and real. */
  readonly judged: readonly string[];
}

/**
 * The first link that leads to what is not hashed, also by way of a link or a folder that is not; null where each one
 * leads to a hashed file or folder, or nowhere.
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
  /** The folders that hold any of the files, however deep; the root is a dot. */
  readonly folders: ReadonlySet<string>;
}

/** Goes the way that the kernel goes, because only so is seen where it leads through. */
async function follow(path: string, tree: HashedTree): Promise<Target | null> {
  let at = tree.root;
  let rest: readonly string[] = path.split('/');
  /** The first folder on the way that could be gone another time: the link would lead nowhere then. */
  let through: Target | null = null;
  for (let hops = 0; hops <= MAX_HOPS; ) {
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
      // Where nothing lies nothing can be read.
      return ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '') ? null : 'outside';
    }
  }
  // In a circle, all of it judged.
  return null;
}

/** Null where what lies there is part of the hash: a file, a link, or a folder with such in it. */
function endAt(at: string, { root, judged, files, folders }: HashedTree): Target | null {
  if (!judged.some((path) => isInside(at, path))) return 'outside';
  const path = posix.relative(root, at) || '.';
  return files.has(path) || folders.has(path) ? null : 'unlisted';
}

/** Null for a folder that is there whenever the hashed files are: one with such in it, or around the root. */
function wayThrough(at: string, tree: HashedTree): Target | null {
  if (isInside(tree.root, at) || tree.folders.has(posix.relative(tree.root, at))) return null;
  return endAt(at, tree);
}
