/**
 * Links to what has no part in a tree's name: what lies there could change, and the name would not. It lies outside of
 * what is judged, or in it and git does not list it.
 */
import { lstat, readlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { KERNEL_FOLDERS } from '../../files/names.ts';
import { errorCode } from '../exec/error-code.ts';
import { type GitPath, placeOf } from './git-tree.ts';
import { isInside } from './path-policy.ts';

/** As many as Linux follows. */
const MAX_HOPS = 40;
/** Files that are looked at together. */
const BATCH = 32;

/** Where the content has no name: outside of what is judged, or in it and not among the files that git lists. */
type Place = 'outside' | 'unlisted';

/** A path that leads there; latin1 like `GitPath.path`. */
export interface Leaving {
  readonly path: string;
  readonly to: Place;
}

/** What is judged, after its tree was named. */
export interface Judged {
  /** Absolute and real. */
  readonly root: string;
  /** All that git lists of it; a nested repository is not among them. */
  readonly paths: readonly GitPath[];
  /** The links among them, latin1; nothing on the way to them is a link. */
  readonly links: readonly string[];
  /** The places that the paths were chosen from, absolute and real. */
  readonly judged: readonly string[];
}

/**
 * The first link that leads to what is not named, also by way of a link or a folder that is not; null where each one
 * leads to a named file or folder, or nowhere. A path that lies behind a link is followed like one: the name leaves it out.
 */
export async function findLeaving({ root, paths, links, judged }: Judged): Promise<Leaving | null> {
  const behind = await findBehind(root, paths);
  const followed = [...links, ...behind];
  if (followed.length === 0) return null;
  const plain = paths.filter(({ path }) => !behind.has(path));
  const ground: Ground = {
    root: Buffer.from(root).toString('latin1'),
    places: judged.map((place) => Buffer.from(place).toString('latin1')),
    ...(await findThere(root, plain)),
  };
  for (const path of followed) {
    const to = await follow(path, ground);
    if (to !== null) return { path, to };
  }
  return null;
}

/** The paths on the way to which there is a link: git lists what is tracked, but does not look behind it. */
async function findBehind(root: string, paths: readonly GitPath[]): Promise<ReadonlySet<string>> {
  const known = new Map([['.', false]]);
  const isBehind = async (folder: string): Promise<boolean> => {
    const found =
      known.get(folder) ?? ((await isBehind(posix.dirname(folder))) || (await isLink(root, folder)));
    known.set(folder, found);
    return found;
  };
  const behind = new Set<string>();
  for (const { path } of paths) if (await isBehind(posix.dirname(path))) behind.add(path);
  return behind;
}

async function isLink(root: string, path: string): Promise<boolean> {
  const stats = await lstat(placeOf(root, path)).catch(() => null);
  return stats?.isSymbolicLink() === true;
}

interface There {
  /** Files, links and submodules that are there, relative to the root. */
  readonly leaves: ReadonlySet<string>;
  /** The folders that hold any, however deep; the root is a dot. */
  readonly folders: ReadonlySet<string>;
}

async function findThere(root: string, paths: readonly GitPath[]): Promise<There> {
  const leaves = new Set<string>();
  const folders = new Set<string>();
  for (let start = 0; start < paths.length; start += BATCH) {
    const batch = paths.slice(start, start + BATCH);
    const found = await Promise.all(batch.map((path) => isThere(root, path)));
    for (const [index, { path }] of batch.entries()) {
      if (found[index] !== true) continue;
      leaves.add(path);
      for (let at = posix.dirname(path); !folders.has(at); at = posix.dirname(at)) folders.add(at);
    }
  }
  return { leaves, folders };
}

async function isThere(root: string, { path, commit }: GitPath): Promise<boolean> {
  const stats = await lstat(placeOf(root, path)).catch(() => null);
  if (stats === null) return false;
  return stats.isFile() || stats.isSymbolicLink() || (stats.isDirectory() && commit !== null);
}

/** Absolute paths are latin1. */
interface Ground extends There {
  readonly root: string;
  readonly places: readonly string[];
}

/** Goes the way that the kernel goes, because only so is seen where it leads through. */
async function follow(path: string, ground: Ground): Promise<Place | null> {
  let at = ground.root;
  let rest: readonly string[] = path.split('/');
  /** The first folder on the way that could be gone another time: the link would lead nowhere then. */
  let through: Place | null = null;
  for (let hops = 0; hops <= MAX_HOPS; ) {
    const [name, ...behind] = rest;
    if (name === undefined) return through ?? endAt(at, ground);
    const next = posix.join(at, name);
    if (KERNEL_FOLDERS.some((folder) => isInside(next, folder))) return 'outside';
    const place = Buffer.from(next, 'latin1');
    try {
      const stats = await lstat(place);
      const target = stats.isSymbolicLink() ? (await readlink(place, 'buffer')).toString('latin1') : null;
      const unnamed = target === null ? null : endAt(next, ground);
      if (unnamed !== null) return unnamed;
      if (target === null && behind.length > 0) through ??= wayThrough(next, ground);
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

/** Null where what lies there is part of the name: a file, a link, or a folder with such in it. */
function endAt(at: string, { root, places, leaves, folders }: Ground): Place | null {
  if (!places.some((place) => isInside(at, place))) return 'outside';
  const path = posix.relative(root, at) || '.';
  return leaves.has(path) || folders.has(path) ? null : 'unlisted';
}

/** Null for a folder that is there whenever the named files are: one with such in it, or around the root. */
function wayThrough(at: string, ground: Ground): Place | null {
  if (isInside(ground.root, at) || ground.folders.has(posix.relative(ground.root, at))) return null;
  return endAt(at, ground);
}
