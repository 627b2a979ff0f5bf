/** Detects whether anything that later steps trust was changed while the agent worked. */
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { readBounded } from '../../files/read-bounded.ts';
import { READ, SEARCH } from '../../text/limits.ts';
import { isInside, namesIn } from './path-policy.ts';
import { holdsCredentials, isProtectedName, PROTECTED_NAMES } from './protected-names.ts';
import { topsOf } from './protected-roots.ts';
import { findGitLocations, findRepositoriesAndLocations, type GitLocations } from './repositories.ts';

export interface TamperCheck {
  /** Takes the snapshot before the first model call. */
  snapshot(): Promise<void>;
  /**
   * Compares after every child is dead and before this step writes its own outputs.
   * @returns the first file that differs (new, deleted or changed), or null.
   */
  compare(): Promise<Tampering | null>;
}

export interface Tampering {
  /** Relative to the workspace if it is inside. */
  readonly file: string;
  /** Whether it is a folder that can no longer be read, so that its contents are unknown. */
  readonly isClosed: boolean;
}

/** Names in a git folder that cause git to run something or to look elsewhere. */
const GIT_PATHS = ['config', 'config.worktree', 'hooks', 'info/attributes', 'HEAD.lock', 'commondir'];

export function createTamperCheck(options: {
  readonly workspace: string;
  /** Absolute paths of additional files and folders: this action's own bundle and this step's file-command files. */
  readonly extra: readonly string[];
  /**
   * Whether commands can change the checkout itself. If so, any new repository in it is reported: git runs what its
   * config names (`core.fsmonitor`), in the folder of a submodule even during a `git status` of the outer repository.
   */
  readonly inPlace: boolean;
}): TamperCheck {
  const { workspace, extra, inPlace } = options;
  let watched: Watched = { whole: [], tops: [], places: { roots: [], bare: [], closed: [] } };
  let before: ReadonlyMap<string, string> | null = null;
  const nameOf = (path: string) => (isInside(path, workspace) ? relative(workspace, path) || '.' : path);
  return {
    async snapshot() {
      watched = await findWatched(workspace, extra);
      before = await fingerprints(watched);
    },
    async compare() {
      // No tool runs before the first snapshot, so nothing can have been changed.
      if (before === null) return null;
      const first = before;
      const fresh = await newAtTop(workspace, watched.whole);
      const after = await fingerprints({ ...watched, whole: [...watched.whole, ...fresh] });
      const paths = [...new Set([...first.keys(), ...after.keys()])].sort();
      const changed = paths.find((path) => first.get(path) !== after.get(path));
      if (changed !== undefined) return { file: nameOf(changed), isClosed: false };
      const found = inPlace ? await newRepository(workspace, watched.places) : null;
      return found === null ? null : { ...found, file: nameOf(found.file) };
    },
  };
}

interface Watched {
  /** Files, and folders with all their contents. */
  readonly whole: readonly string[];
  /**
   * `.git` in the root folder of each repository: its kind, and its contents if it is not a folder. Missing ones are
   * included.
   */
  readonly tops: readonly string[];
  readonly places: GitLocations;
}

async function findWatched(workspace: string, extra: readonly string[]): Promise<Watched> {
  const { repositories, places } = await findRepositoriesAndLocations(workspace);
  const watched = new Set<string>(extra);
  const tops = topsOf(workspace, repositories);
  for (const top of tops) {
    // Includes missing ones.
    for (const name of PROTECTED_NAMES) if (name !== '.git') watched.add(join(top, name));
    for (const name of await namesIn(top)) {
      if (holdsCredentials(name) || (isProtectedName(name) && name !== '.git')) watched.add(join(top, name));
    }
  }
  const gitFolders = repositories.flatMap(({ gitFolders: folders, unconfirmed }) =>
    unconfirmed === null ? folders : [...folders, unconfirmed],
  );
  for (const folder of [join(workspace, '.git'), ...gitFolders]) {
    for (const path of GIT_PATHS) watched.add(join(folder, path));
  }
  return { whole: [...watched], tops: tops.map((top) => join(top, '.git')), places };
}

/**
 * Returns the first new repository, with or without a `.git`, or a folder that a command closed, because it may contain
 * one. Compared by bytes: as text, two names that are not UTF-8 may be equal.
 */
async function newRepository(workspace: string, before: GitLocations): Promise<Tampering | null> {
  const now = await findGitLocations(workspace);
  const firstNew = (known: readonly Buffer[], found: readonly Buffer[]) => {
    const keys = new Set(known.map((path) => path.toString('latin1')));
    return found.find((path) => !keys.has(path.toString('latin1')))?.toString();
  };
  const root = firstNew(before.roots, now.roots);
  if (root !== undefined) return { file: join(root, '.git'), isClosed: false };
  const bare = firstNew(before.bare, now.bare);
  if (bare !== undefined) return { file: join(bare, 'HEAD'), isClosed: false };
  const closed = firstNew(before.closed, now.closed);
  return closed === undefined ? null : { file: closed, isClosed: true };
}

/** Returns new protected names in another spelling (`.GitHub`). */
async function newAtTop(workspace: string, watched: readonly string[]): Promise<readonly string[]> {
  const names = (await namesIn(workspace)).filter((name) => name !== '.git' && isProtectedName(name));
  return names.map((name) => join(workspace, name)).filter((path) => !watched.includes(path));
}

async function fingerprints({ whole, tops }: Watched): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const budget = { bytes: READ.hashedFiles };
  for (const path of tops) {
    const stats = await lstat(path).catch(() => null);
    // A commit changes the contents of the folder; but git obeys the file or link, wherever it leads.
    if (stats !== null)
      found.set(path, stats.isDirectory() ? 'folder' : await fingerprint(path, stats, budget));
  }
  const queue = [...whole].reverse();
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const stats = await lstat(path).catch(() => null);
    if (stats === null) continue;
    found.set(path, found.size < SEARCH.protectedFiles ? await fingerprint(path, stats, budget) : 'counted');
    if (stats.isDirectory())
      for (const name of (await namesIn(path)).toReversed()) queue.push(join(path, name));
  }
  return found;
}

/** The number of bytes that may still be hashed in one snapshot. */
interface Budget {
  bytes: number;
}

async function fingerprint(path: string, stats: Stats, budget: Budget): Promise<string> {
  const mode = stats.mode.toString(8);
  if (stats.isSymbolicLink()) return `link ${await readlink(path)}`;
  if (!stats.isFile()) return `other ${mode}`;
  const read =
    stats.size <= budget.bytes ? readBounded(path, { maxBytes: READ.hashedFile, links: 'refuse' }) : null;
  if (read?.ok) {
    budget.bytes -= read.bytes.length;
    return `file ${mode} ${createHash('sha256').update(read.bytes).digest('hex')}`;
  }
  if (read !== null && read.failure !== 'too_large') return 'unreadable';
  return `large ${mode} ${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}
