/**
 * Finds the repositories in a workspace. Their git folders are read-only in the shell, and their configs are shown
 * without credentials.
 */

import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { errorCode, WorkspaceError } from '../../errors.ts';
import { readBoundedText } from '../../files/read-bounded.ts';
import { READ, SEARCH } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import { findForeign, findIncluded, type HiddenEntry, type NamedEntry, worktreeOf } from './git-config.ts';
import { isInside } from './path-policy.ts';

/** A repository whose working tree is in the workspace. */
export interface Repository {
  /** The folder that contains `.git`. */
  readonly root: string;
  /** `.git` itself: a folder, or the file of a worktree or submodule. */
  readonly dotGit: string;
  /** Real paths of git folders elsewhere (of a worktree or a submodule). */
  readonly elsewhere: readonly string[];
  /** Config files in the git folders: regular files, by their real paths. */
  readonly configs: readonly string[];
  /** Folders with hooks, attributes and configs: the git folder and those of its modules. */
  readonly gitFolders: readonly string[];
  /** Entries of the git folders that are not git's own, and configs there that another config includes. */
  readonly hidden: readonly HiddenEntry[];
  /**
   * A folder of the workspace that `.git` names as its git folder, although a commit may have added it. It is watched
   * for changes, but neither closed nor covered, because otherwise a change could close any folder to the agent.
   */
  readonly unconfirmed: string | null;
}

/**
 * The locations that git uses in a workspace. Paths are bytes, because a commit may contain names that are not UTF-8,
 * and git follows them.
 */
export interface GitLocations {
  /** Folders that contain a `.git` of any kind. */
  readonly roots: readonly Buffer[];
  /** Folders that git recognizes as a repository without a working tree (they contain HEAD, objects and refs). */
  readonly bare: readonly Buffer[];
  /** Folders that could not be read, although the agent could open them. */
  readonly closed: readonly Buffer[];
}

/** Number of folders that are read concurrently. */
const BATCH = 32;

const DOT_GIT = Buffer.from('.git');
const SLASH = Buffer.from('/');

/**
 * Lists a folder. Returns nothing if it does not exist, or if the agent cannot read it either.
 * @throws WorkspaceError above the maximum number of folders; ClosedFolderError.
 */
type Look = (folder: string | Buffer) => Promise<readonly Dirent<Buffer>[]>;

/** A folder that the agent could open but this step cannot. */
class ClosedFolderError extends WorkspaceError {}

/**
 * Returns the repositories whose `.git` is in the workspace at any depth, including node_modules: an earlier step may
 * have checked out anything anywhere, with its token. Of `.git` itself, only modules and worktrees are searched. Takes
 * about 0.2 s for 10,000 folders.
 * @param maxFolders maximum number of folders to read.
 * @throws WorkspaceError if there are more folders, if the agent could open a folder that this step cannot, or if the
 * path of a repository is not UTF-8. A repository that is not found or cannot be mounted would be open to the shell,
 * along with its credentials.
 */
export async function findRepositories(
  workspace: string,
  maxFolders: number = SEARCH.folders,
): Promise<readonly Repository[]> {
  const look = createLook(workspace, maxFolders);
  return describeAll(workspace, await walkOpen(workspace, look), look);
}

/**
 * Does the same, and also returns all locations where git finds a repository.
 * @throws WorkspaceError as `findRepositories` does.
 */
export async function findRepositoriesAndLocations(
  workspace: string,
): Promise<{ readonly repositories: readonly Repository[]; readonly places: GitLocations }> {
  const look = createLook(workspace, SEARCH.folders);
  const places = await walkOpen(workspace, look);
  return { repositories: await describeAll(workspace, places, look), places };
}

/**
 * Returns only the locations, at the end of a run, including the folders that cannot be read: a command may have closed
 * a parent folder of a repository, and git follows the path of a submodule without reading its parent folders.
 * @throws WorkspaceError if there are too many folders.
 */
export function findGitLocations(workspace: string): Promise<GitLocations> {
  return walk(workspace, createLook(workspace, SEARCH.folders));
}

/** Returns the locations if every folder can be read. @throws ClosedFolderError. */
async function walkOpen(workspace: string, look: Look): Promise<GitLocations> {
  return walk(workspace, look, (error) => {
    throw error;
  });
}

async function walk(
  workspace: string,
  look: Look,
  onClosed: (error: ClosedFolderError) => void = () => undefined,
): Promise<GitLocations> {
  const roots: Buffer[] = [];
  const bare: Buffer[] = [];
  const closed: Buffer[] = [];
  const lookInto = async (folder: Buffer) => {
    try {
      return await look(folder);
    } catch (error) {
      if (!(error instanceof ClosedFolderError)) throw error;
      onClosed(error);
      closed.push(folder);
      return [];
    }
  };
  let level: readonly Buffer[] = [Buffer.from(workspace)];
  while (level.length > 0) {
    const next: Buffer[] = [];
    await inBatches(level, lookInto, (entries, folder) => {
      for (const entry of entries) {
        if (DOT_GIT.equals(entry.name)) roots.push(folder);
        else if (entry.isDirectory()) next.push(Buffer.concat([folder, SLASH, entry.name]));
      }
      if (hasNamesOfGit(entries)) bare.push(folder);
    });
    level = next;
  }
  return { roots, bare, closed };
}

/** Checks names only, and so accepts more than git does; watching too many folders does no harm. */
function hasNamesOfGit(entries: readonly Dirent<Buffer>[]): boolean {
  const has = (wanted: string) => entries.some(({ name }) => name.equals(Buffer.from(wanted)));
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

async function describeAll(
  workspace: string,
  places: GitLocations,
  look: Look,
): Promise<readonly Repository[]> {
  const roots = places.roots.map(textOf);
  const found: Repository[] = [];
  // The workspace's own repository comes first, because the location of its git folder was chosen by those who set up
  // the workspace.
  const own = roots.includes(workspace) ? await describe(workspace, { workspace, own: null }, look) : null;
  const trust: Trust = { workspace, own: own?.gitFolders[0] ?? null };
  await inBatches(
    roots,
    async (root) => (root === workspace ? own : describe(root, trust, look)),
    (repository) => {
      if (repository !== null) found.push(repository);
    },
  );
  return found;
}

/** Processes items concurrently in batches, and returns the results in the order of the items. */
async function inBatches<I, T>(
  items: readonly I[],
  work: (item: I) => Promise<T>,
  take: (result: T, item: I) => void,
): Promise<void> {
  for (let start = 0; start < items.length; start += BATCH) {
    const batch = items.slice(start, start + BATCH);
    const results = await Promise.all(batch.map(async (item) => ({ item, result: await work(item) })));
    for (const { item, result } of results) take(result, item);
  }
}

function createLook(workspace: string, maxFolders: number): Look {
  let seen = 0;
  return async (folder) => {
    seen += 1;
    if (seen > maxFolders) {
      throw new WorkspaceError(
        `The workspace ${workspace} holds more than ${maxFolders} folders: too many to find every repository in it and to close its credentials to the agent. ` +
          'Check out less of it (`sparse-checkout` of actions/checkout), or run this step before the ones that fill the workspace.',
      );
    }
    try {
      return await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      const code = errorCode(error);
      if (code === null) throw error;
      if (code === 'ENOENT' || code === 'ENOTDIR') return [];
      if ((code === 'EACCES' || code === 'EPERM') && !(await isOurs(Buffer.from(folder)))) return [];
      throw new ClosedFolderError(
        `The folder ${quote(folder.toString())} in the workspace cannot be looked into (${code}), so a repository in it would be open to the agent. Remove it before this step.`,
        { cause: error },
      );
    }
  };
}

/**
 * Whether this user, and therefore the agent, could grant itself access to a folder because it owns the one that denies
 * access.
 */
async function isOurs(folder: Buffer): Promise<boolean> {
  for (let current = folder; current.length > 0; current = current.subarray(0, current.lastIndexOf('/'))) {
    try {
      return (await lstat(current)).uid === process.geteuid?.();
    } catch {
      // Not visible from here: the owner of a parent folder denies access.
    }
  }
  return true;
}

/** Converts a git path to text, as mounts require. @throws WorkspaceError if it is not UTF-8. */
function textOf(path: Buffer): string {
  const text = path.toString();
  if (isUtf8(path)) return text;
  throw new WorkspaceError(
    `This workspace breaks the sandbox: git uses ${quote(text)}, whose name is not UTF-8, and a sandbox cannot protect such a name from the agent. Remove it before this step; a submodule gets its name in .gitmodules.`,
  );
}

/** Lists a git folder. @throws WorkspaceError if a name is not UTF-8. */
async function lookByName(folder: string, look: Look): Promise<readonly NamedEntry[]> {
  return (await look(folder)).map((entry) => ({
    name: basename(textOf(Buffer.concat([Buffer.from(folder), SLASH, entry.name]))),
    isFile: () => entry.isFile(),
    isDirectory: () => entry.isDirectory(),
  }));
}

interface Trust {
  readonly workspace: string;
  /**
   * The git folder of the workspace's own repository; null if it has none, or if that repository itself is being
   * examined.
   */
  readonly own: string | null;
}

async function describe(root: string, trust: Trust, look: Look): Promise<Repository> {
  const dotGit = join(root, '.git');
  const named = await gitFolderOf(dotGit, trust);
  const nothing = { root, dotGit, elsewhere: [], configs: [], gitFolders: [], hidden: [] };
  if (named === null) return { ...nothing, unconfirmed: null };
  if (!named.confirmed) return { ...nothing, unconfirmed: named.folder };
  const own = named.folder;
  const common = await commonFolderOf(own, root, trust);
  const bases = [...new Set([own, common])];
  const gitFolders = new Set([...bases, ...(await modulesIn(common, look))]);
  for (const worktree of await foldersIn(join(common, 'worktrees'), look)) {
    gitFolders.add(worktree);
    for (const nested of await modulesIn(worktree, look)) gitFolders.add(nested);
  }
  const configs: string[] = [];
  const hidden: HiddenEntry[] = [];
  for (const folder of gitFolders) {
    const entries = await lookByName(folder, look);
    for (const entry of entries) {
      const isConfig = entry.name === 'config' || entry.name === 'config.worktree';
      if (isConfig && entry.isFile()) configs.push(join(folder, entry.name));
    }
    const hasAnnex = entries.some((entry) => entry.name === 'annex' && entry.isDirectory());
    hidden.push(
      ...findForeign(folder, entries, hasAnnex ? await lookByName(join(folder, 'annex'), look) : []),
    );
  }
  hidden.push(...(await findIncluded(configs, [...gitFolders])));
  return {
    root,
    dotGit,
    elsewhere: bases.filter((folder) => folder !== dotGit),
    configs,
    gitFolders: [...gitFolders],
    hidden: uncovered(hidden),
    unconfirmed: null,
  };
}

/** Removes duplicates, and entries inside a folder that is hidden itself. */
function uncovered(hidden: readonly HiddenEntry[]): readonly HiddenEntry[] {
  const folders = hidden.filter(({ kind }) => kind === 'directory');
  const once = new Map(hidden.map((entry) => [entry.path, entry]));
  return [...once.values()].filter(
    ({ path }) => !folders.some((folder) => folder.path !== path && isInside(path, folder.path)),
  );
}

/**
 * Finds the actual git folder of a repository. A `.git` that is a file or a link may name any folder, and a confirmed
 * one is shown to the shell but closed to the agent. It must therefore look like a git folder and meet one of these
 * conditions: it is in a folder named `.git`, which no commit can contain; the `.git` in the root folder of the
 * workspace names it, which no commit can add either; or it is outside the workspace and names this repository as its
 * own.
 */
async function gitFolderOf(
  dotGit: string,
  trust: Trust,
): Promise<{ readonly folder: string; readonly confirmed: boolean } | null> {
  try {
    const stats = await lstat(dotGit);
    if (stats.isDirectory()) return { folder: dotGit, confirmed: true };
    const text = stats.isSymbolicLink() ? 'gitdir: .git' : (readBoundedText(dotGit, READ.pointer) ?? '');
    const named = /^gitdir: ([^\r\n]+)/u.exec(text)?.[1];
    if (named === undefined) return null;
    const root = dirname(dotGit);
    const folder = await realpath(resolve(root, named.trimEnd()));
    // A folder around the repository would contain all its files, or those of the whole workspace.
    if (isInside(root, folder) || !(await looksLikeGit(folder))) return null;
    if (isInside(folder, trust.workspace)) return { folder, confirmed: isTrusted(folder, root, trust) };
    return (await belongsTo(folder, root)) ? { folder, confirmed: true } : null;
  } catch {
    return null;
  }
}

/** Whether a folder of the workspace can only be a git folder. */
function isTrusted(folder: string, root: string, { workspace, own }: Trust): boolean {
  if (root === workspace || (own !== null && isInside(folder, own))) return true;
  return relative(workspace, folder).split('/').includes('.git');
}

/**
 * Uses the checks of git itself (gitrepository-layout(5)); the folder of a worktree has its objects and refs elsewhere.
 */
async function looksLikeGit(folder: string): Promise<boolean> {
  if ((await kindOf(join(folder, 'HEAD'))) !== 'file') return false;
  if ((await kindOf(join(folder, 'commondir'))) === 'file') return true;
  const kinds = await Promise.all(['objects', 'refs'].map((name) => kindOf(join(folder, name))));
  return kinds.every((kind) => kind === 'folder');
}

/**
 * Whether a git folder names a repository as its own: that of a worktree in `gitdir`, that of a submodule in its
 * config.
 */
async function belongsTo(gitFolder: string, root: string): Promise<boolean> {
  const gitdir = readBoundedText(join(gitFolder, 'gitdir'), READ.pointer);
  const config = readBoundedText(join(gitFolder, 'config'), READ.gitConfig) ?? '';
  const named = gitdir === null ? worktreeOf(config) : dirname(gitdir.trim());
  return named !== null && (await realpath(resolve(gitFolder, named))) === root;
}

/**
 * Returns the folder that a worktree's git folder shares with the others, <common>/worktrees/<name>; git creates no
 * other layout.
 */
async function commonFolderOf(gitFolder: string, root: string, trust: Trust): Promise<string> {
  try {
    const named = (readBoundedText(join(gitFolder, 'commondir'), READ.pointer) ?? '').trim();
    const common = await realpath(resolve(gitFolder, named));
    const isAbove = basename(dirname(gitFolder)) === 'worktrees' && dirname(dirname(gitFolder)) === common;
    const isConfirmed = !isInside(common, trust.workspace) || isTrusted(common, root, trust);
    return isAbove && isConfirmed && !isInside(root, common) && (await looksLikeGit(common))
      ? common
      : gitFolder;
  } catch {
    return gitFolder;
  }
}

/**
 * Returns the git folders of a repository's submodules. A name may contain any number of slashes, and a module may have
 * modules of its own.
 */
async function modulesIn(gitFolder: string, look: Look): Promise<readonly string[]> {
  const found: string[] = [];
  const queue = await foldersIn(join(gitFolder, 'modules'), look);
  for (const folder of queue) {
    const isModule = (await kindOf(join(folder, 'HEAD'))) === 'file';
    if (isModule) found.push(folder);
    queue.push(...(await foldersIn(isModule ? join(folder, 'modules') : folder, look)));
  }
  return found;
}

/** Returns the direct subfolders of a folder; none if it is a link, which leads out of the git folder. */
async function foldersIn(folder: string, look: Look): Promise<string[]> {
  if ((await kindOf(folder)) !== 'folder') return [];
  const entries = await lookByName(folder, look);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

/** Returns the kind of a path without following a link. */
async function kindOf(path: string): Promise<'file' | 'folder' | 'other' | null> {
  try {
    const stats = await lstat(path);
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
  } catch {
    return null;
  }
}
