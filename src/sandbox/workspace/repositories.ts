/** The repositories in a workspace: their folders are read-only in the shell, and their configs without credentials. */

import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { errorCode, WorkspaceError } from '../../errors.ts';
import { readBoundedText } from '../../files/read-bounded.ts';
import { quote } from '../../text/messages.ts';
import {
  findForeign,
  findIncluded,
  type HiddenEntry,
  MAX_CONFIG_BYTES,
  type NamedEntry,
  worktreeOf,
} from './git-config.ts';
import { isInside } from './path-policy.ts';

/** One repository whose working tree lies in the workspace. */
export interface Repository {
  /** The folder that holds `.git`. */
  readonly root: string;
  /** `.git` itself: a folder, or the file of a worktree or submodule. */
  readonly dotGit: string;
  /** Real folders of git's own that lie elsewhere (a worktree's, a submodule's). */
  readonly elsewhere: readonly string[];
  /** Config files in the git folders: regular files, at their own real path. */
  readonly configs: readonly string[];
  /** Folders with hooks, attributes and configs: the git folder and those of its modules. */
  readonly gitFolders: readonly string[];
  /** What lies in the git folders and is not git's own, and configs there that a config includes. */
  readonly hidden: readonly HiddenEntry[];
  /**
   * A folder of the workspace that a `.git` names as its git folder, although a commit may have brought it along. It is
   * watched for changes, and neither closed nor covered: else a change could close any folder to the agent.
   */
  readonly unconfirmed: string | null;
}

/** Where git has something in a workspace. Paths as bytes: a commit may hold names that are not UTF-8, and git follows them. */
export interface GitLocations {
  /** Folders that hold a `.git` of any kind. */
  readonly roots: readonly Buffer[];
  /** Folders that git takes for a repository without a working tree (they hold HEAD, objects and refs). */
  readonly bare: readonly Buffer[];
  /** Folders that could not be looked into, although the agent could open them. */
  readonly closed: readonly Buffer[];
}

/** Past so many folders the walk would hold up the first tool call for seconds. */
const MAX_FOLDERS = 200_000;
/** Folders that are read at a time. */
const BATCH = 32;

const DOT_GIT = Buffer.from('.git');
const SLASH = Buffer.from('/');

/** Longer files name no folder, in bytes. */
const MAX_POINTER_BYTES = 65_536;

/**
 * Lists a folder: nothing where it is gone, or closed to the agent as well.
 * @throws WorkspaceError past the bound; ClosedFolderError.
 */
type Look = (folder: string | Buffer) => Promise<readonly Dirent<Buffer>[]>;

/** A folder that the agent could open and this step cannot. */
class ClosedFolderError extends WorkspaceError {}

/**
 * The repositories whose `.git` lies in the workspace, however deep, those in node_modules too: an earlier step may have
 * checked out anything anywhere, with its token. `.git` itself is not walked, only its modules and worktrees are. Takes
 * about 0.2 s for 10,000 folders.
 * @param maxFolders most folders that are looked at.
 * @throws WorkspaceError when there are more folders, one that the agent could open and this step cannot, or a repository
 *   under a name that is not UTF-8: what is not found or cannot be mounted would be open to the shell, credentials and all.
 */
export async function findRepositories(
  workspace: string,
  maxFolders = MAX_FOLDERS,
): Promise<readonly Repository[]> {
  const look = createLook(workspace, maxFolders);
  return describeAll(workspace, await walkOpen(workspace, look), look);
}

/**
 * The same, with all places where git finds a repository.
 * @throws WorkspaceError as `findRepositories` does.
 */
export async function findRepositoriesAndLocations(
  workspace: string,
): Promise<{ readonly repositories: readonly Repository[]; readonly places: GitLocations }> {
  const look = createLook(workspace, MAX_FOLDERS);
  const places = await walkOpen(workspace, look);
  return { repositories: await describeAll(workspace, places, look), places };
}

/**
 * The places alone, at the end of a run, with the folders that cannot be looked into: a command may have closed the one
 * around a repository, and git goes by the path of a submodule, without reading the folders on the way.
 * @throws WorkspaceError where there are too many folders.
 */
export function findGitLocations(workspace: string): Promise<GitLocations> {
  return walk(workspace, createLook(workspace, MAX_FOLDERS));
}

/** The places, where every folder can be looked into. @throws ClosedFolderError. */
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

/** By names alone, more than git takes for a repository: what is watched for too much is no harm. */
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
  // The workspace's own first: what it says of where git's folder is was written by those who set up the workspace.
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

/** Does the work for each item, some at a time, and takes the results in the items' order. */
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

/** Whether this user, and so the agent, could give itself the rights to a folder: it owns what closes the way. */
async function isOurs(folder: Buffer): Promise<boolean> {
  for (let current = folder; current.length > 0; current = current.subarray(0, current.lastIndexOf('/'))) {
    try {
      return (await lstat(current)).uid === process.geteuid?.();
    } catch {
      // Not visible from here: the owner of the folder above closes the way.
    }
  }
  return true;
}

/** A path of git's as text, which is what a mount needs. @throws WorkspaceError where it is not UTF-8. */
function textOf(path: Buffer): string {
  const text = path.toString();
  if (isUtf8(path)) return text;
  throw new WorkspaceError(
    `This workspace breaks the sandbox: git uses ${quote(text)}, whose name is not UTF-8, and a sandbox cannot protect such a name from the agent. Remove it before this step; a submodule gets its name in .gitmodules.`,
  );
}

/** What lies in one of git's own folders. @throws WorkspaceError where a name is not UTF-8. */
async function lookByName(folder: string, look: Look): Promise<readonly NamedEntry[]> {
  return (await look(folder)).map((entry) => ({
    name: basename(textOf(Buffer.concat([Buffer.from(folder), SLASH, entry.name]))),
    isFile: () => entry.isFile(),
    isDirectory: () => entry.isDirectory(),
  }));
}

/** By what a folder is believed to be git's own. */
interface Trust {
  readonly workspace: string;
  /** The git folder of the workspace's own repository; null where it has none, or is asked about itself. */
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

/** Each entry once, without those in a folder that is hidden itself. */
function uncovered(hidden: readonly HiddenEntry[]): readonly HiddenEntry[] {
  const folders = hidden.filter(({ kind }) => kind === 'directory');
  const once = new Map(hidden.map((entry) => [entry.path, entry]));
  return [...once.values()].filter(
    ({ path }) => !folders.some((folder) => folder.path !== path && isInside(path, folder.path)),
  );
}

/**
 * Where git's own folder of a repository really is. A `.git` that is a file or a link may name any folder, and one that is
 * confirmed is shown to the shell and closed to the agent. So it has to look like git's own, and one of these has to hold:
 * it lies in a folder named `.git`, which no commit can hold; the `.git` at the top of the workspace names it, which no
 * commit can bring along either; or it lies outside of the workspace and names this repository as the one that it belongs to.
 */
async function gitFolderOf(
  dotGit: string,
  trust: Trust,
): Promise<{ readonly folder: string; readonly confirmed: boolean } | null> {
  try {
    const stats = await lstat(dotGit);
    if (stats.isDirectory()) return { folder: dotGit, confirmed: true };
    const text = stats.isSymbolicLink() ? 'gitdir: .git' : (readBoundedText(dotGit, MAX_POINTER_BYTES) ?? '');
    const named = /^gitdir: ([^\r\n]+)/u.exec(text)?.[1];
    if (named === undefined) return null;
    const root = dirname(dotGit);
    const folder = await realpath(resolve(root, named.trimEnd()));
    // Around the repository itself would be all of its files, or those of the whole workspace.
    if (isInside(root, folder) || !(await looksLikeGit(folder))) return null;
    if (isInside(folder, trust.workspace)) return { folder, confirmed: isTrusted(folder, root, trust) };
    return (await belongsTo(folder, root)) ? { folder, confirmed: true } : null;
  } catch {
    return null;
  }
}

/** Whether a folder of the workspace can only be git's own. */
function isTrusted(folder: string, root: string, { workspace, own }: Trust): boolean {
  if (root === workspace || (own !== null && isInside(folder, own))) return true;
  return relative(workspace, folder).split('/').includes('.git');
}

/** As git itself asks (gitrepository-layout(5)): a worktree's folder has its objects and refs elsewhere. */
async function looksLikeGit(folder: string): Promise<boolean> {
  if ((await kindOf(join(folder, 'HEAD'))) !== 'file') return false;
  if ((await kindOf(join(folder, 'commondir'))) === 'file') return true;
  const kinds = await Promise.all(['objects', 'refs'].map((name) => kindOf(join(folder, name))));
  return kinds.every((kind) => kind === 'folder');
}

/** Whether a git folder names a repository as its own: a worktree's in `gitdir`, a submodule's in its config. */
async function belongsTo(gitFolder: string, root: string): Promise<boolean> {
  const gitdir = readBoundedText(join(gitFolder, 'gitdir'), MAX_POINTER_BYTES);
  const config = readBoundedText(join(gitFolder, 'config'), MAX_CONFIG_BYTES) ?? '';
  const named = gitdir === null ? worktreeOf(config) : dirname(gitdir.trim());
  return named !== null && (await realpath(resolve(gitFolder, named))) === root;
}

/** The folder that a worktree's folder shares with the others, <common>/worktrees/<name>; anything else is not git's doing. */
async function commonFolderOf(gitFolder: string, root: string, trust: Trust): Promise<string> {
  try {
    const named = (readBoundedText(join(gitFolder, 'commondir'), MAX_POINTER_BYTES) ?? '').trim();
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

/** The git folders of a repository's submodules: a name may have any number of slashes, and a module modules of its own. */
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

/** The folders right in a folder; none where it is a link: that leads out of what is git's own. */
async function foldersIn(folder: string, look: Look): Promise<string[]> {
  if ((await kindOf(folder)) !== 'folder') return [];
  const entries = await lookByName(folder, look);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

/** What lies at a path itself, without following a link. */
async function kindOf(path: string): Promise<'file' | 'folder' | 'other' | null> {
  try {
    const stats = await lstat(path);
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
  } catch {
    return null;
  }
}
