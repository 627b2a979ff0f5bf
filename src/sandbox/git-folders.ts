/** The repositories in a workspace: their folders are read-only in the shell, and their configs without credentials. */
import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SandboxError } from '../errors.ts';
import { shown } from '../files/names.ts';
import { isInside } from './confine.ts';
import { errorCode } from './error-code.ts';
import { hasCredentials } from './git-config.ts';
import { findOpeners } from './git-openers.ts';

/** One repository whose working tree lies in the workspace. */
export interface Repository {
  /** The folder that holds `.git`. */
  readonly root: string;
  /** `.git` itself: a folder, or the file of a worktree or submodule. */
  readonly dotGit: string;
  /** Real folders of git's own that lie elsewhere (a worktree's, a submodule's). */
  readonly elsewhere: readonly string[];
  /** Config files that exist, the modules' and worktrees' among them, and others in git folders that hold credentials. */
  readonly configs: readonly string[];
  /** Folders with hooks, attributes and configs: the git folder and those of its modules. */
  readonly gitFolders: readonly string[];
}

/** Past so many folders the walk would hold up the first tool call for seconds. */
const MAX_FOLDERS = 200_000;
/** Folders that are read at a time. */
const BATCH = 32;

/** Lists a folder: nothing where it is gone, or closed to the agent as well. @throws SandboxError past the bound. */
type Look = (folder: string) => Promise<readonly Dirent[]>;

/**
 * The repositories whose `.git` lies in the workspace, however deep, those in node_modules too: an earlier step may have
 * checked out anything anywhere, with its token. `.git` itself is not walked, only its modules and worktrees are. Takes
 * about 0.2 s for 10,000 folders.
 * @param maxFolders most folders that are looked at.
 * @throws SandboxError when there are more folders, or one that the agent could open and this step cannot: a repository
 *   that is not found would be open to the shell, credentials and all.
 */
export async function findRepositories(
  workspace: string,
  maxFolders = MAX_FOLDERS,
): Promise<readonly Repository[]> {
  const look = createLook(workspace, maxFolders);
  const roots: string[] = [];
  const bare: string[] = [];
  let level: readonly string[] = [workspace];
  while (level.length > 0) {
    const next: string[] = [];
    await inBatches(level, look, (entries, folder) => {
      for (const entry of entries) {
        if (entry.name === '.git') roots.push(folder);
        else if (entry.isDirectory()) next.push(join(folder, entry.name));
        if (entry.name === 'HEAD' && folder !== workspace) bare.push(folder);
      }
    });
    level = next;
  }
  const found: Repository[] = [];
  await inBatches(
    roots,
    (root) => describe(root, workspace, look),
    (repository) => found.push(repository),
  );
  const known = new Set(found.flatMap(({ gitFolders }) => gitFolders));
  await inBatches(
    bare.filter((folder) => !known.has(folder)),
    describeBare,
    (repository) => found.push(...repository),
  );
  return found;
}

/** Does the work for each item, some at a time, and takes the results in the items' order. */
async function inBatches<T>(
  items: readonly string[],
  work: (item: string) => Promise<T>,
  take: (result: T, item: string) => void,
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
      throw new SandboxError(
        `The workspace ${workspace} holds more than ${maxFolders} folders: too many to find every repository in it and to close its credentials to the agent. ` +
          'Check out less of it (`sparse-checkout` of actions/checkout), or run this step before the ones that fill the workspace.',
      );
    }
    try {
      return await readdir(folder, { withFileTypes: true });
    } catch (error) {
      const code = errorCode(error);
      if (code === null) throw error;
      if (code === 'ENOENT' || code === 'ENOTDIR') return [];
      if ((code === 'EACCES' || code === 'EPERM') && !(await isOurs(folder))) return [];
      throw new SandboxError(
        `The folder ${shown(folder)} in the workspace cannot be looked into (${code}), so a repository in it would be open to the agent. Remove it before this step.`,
        { cause: error },
      );
    }
  };
}

/** Whether this user, and so the agent, could give itself the rights to a folder: it owns what closes the way. */
async function isOurs(folder: string): Promise<boolean> {
  for (let current = folder; ; current = dirname(current)) {
    try {
      return (await lstat(current)).uid === process.geteuid?.();
    } catch {
      if (current === dirname(current)) return true;
    }
  }
}

async function describe(root: string, workspace: string, look: Look): Promise<Repository> {
  const dotGit = join(root, '.git');
  const own = await gitFolderOf(dotGit, workspace);
  if (own === null) return { root, dotGit, elsewhere: [], configs: [], gitFolders: [] };
  const common = await commonFolderOf(own, root);
  const bases = [...new Set([own, common])];
  const gitFolders = new Set([...bases, ...(await nestedGitFolders(join(common, 'modules'), look))]);
  for (const { name } of await look(join(common, 'worktrees'))) {
    const worktree = join(common, 'worktrees', name);
    gitFolders.add(worktree);
    for (const nested of await nestedGitFolders(join(worktree, 'modules'), look)) gitFolders.add(nested);
  }
  const configs: string[] = [];
  for (const folder of gitFolders) {
    for (const name of ['config', 'config.worktree']) {
      if (await isFile(join(folder, name))) configs.push(join(folder, name));
    }
    configs.push(...(await findOpeners(folder, await look(folder))));
  }
  return {
    root,
    dotGit,
    elsewhere: bases.filter((folder) => folder !== dotGit),
    configs,
    gitFolders: [...gitFolders],
  };
}

/** A bare repository is a folder like any other, such as test suites work on, unless it holds what opens another one. */
async function describeBare(folder: string): Promise<readonly Repository[]> {
  if (!(await looksLikeGit(folder))) return [];
  const configs: string[] = [];
  for (const name of ['config', 'config.worktree']) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    if (hasCredentials(text)) configs.push(join(folder, name));
  }
  if (configs.length === 0) return [];
  return [{ root: folder, dotGit: join(folder, '.git'), elsewhere: [folder], configs, gitFolders: [folder] }];
}

/**
 * Where git's own folder of a repository really is. A `.git` that is a file or a link may name any folder, and what is
 * believed here is shown to the shell and closed to the agent. So it has to look like git's own; and it has to lie in the
 * workspace, where everything is shown anyway, or else to name this repository as the one that it belongs to.
 */
async function gitFolderOf(dotGit: string, workspace: string): Promise<string | null> {
  try {
    const stats = await lstat(dotGit);
    if (stats.isDirectory()) return dotGit;
    const named = stats.isSymbolicLink()
      ? '.git'
      : /^gitdir: (.+?)\s*$/u.exec(await readFile(dotGit, 'utf8'))?.[1];
    if (named === undefined) return null;
    const root = dirname(dotGit);
    const folder = await realpath(resolve(root, named));
    // Around the repository itself would be all of its files, or those of the whole workspace.
    if (isInside(root, folder) || !(await looksLikeGit(folder))) return null;
    return isInside(folder, workspace) || (await belongsTo(folder, dotGit)) ? folder : null;
  } catch {
    return null;
  }
}

/** As git itself asks (gitrepository-layout(5)): a worktree's folder has its objects and refs elsewhere. */
async function looksLikeGit(folder: string): Promise<boolean> {
  if (!(await isFile(join(folder, 'HEAD')))) return false;
  if (await isFile(join(folder, 'commondir'))) return true;
  return (await isFolder(join(folder, 'objects'))) && (await isFolder(join(folder, 'refs')));
}

/** Whether a git folder names a repository as its own: a worktree's in `gitdir`, a submodule's in its config. */
async function belongsTo(gitFolder: string, dotGit: string): Promise<boolean> {
  const gitdir = await readFile(join(gitFolder, 'gitdir'), 'utf8').catch(() => null);
  const config = await readFile(join(gitFolder, 'config'), 'utf8').catch(() => '');
  const worktree = /^\s*worktree\s*=\s*"?(.+?)"?\s*$/mu.exec(config)?.[1];
  const named = gitdir === null ? worktree : dirname(gitdir.trim());
  return named !== undefined && (await realpath(resolve(gitFolder, named))) === dirname(dotGit);
}

/** The folder that a worktree's folder shares with the others, <common>/worktrees/<name>; anything else is not git's doing. */
async function commonFolderOf(gitFolder: string, root: string): Promise<string> {
  try {
    const named = (await readFile(join(gitFolder, 'commondir'), 'utf8')).trim();
    const common = await realpath(resolve(gitFolder, named));
    const isAbove = basename(dirname(gitFolder)) === 'worktrees' && dirname(dirname(gitFolder)) === common;
    return isAbove && !isInside(root, common) && (await looksLikeGit(common)) ? common : gitFolder;
  } catch {
    return gitFolder;
  }
}

/** The git folders of submodules: a module's name may have any number of slashes, and it may have modules of its own. */
async function nestedGitFolders(folder: string, look: Look): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await look(folder)) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    const isModule = await isFile(join(path, 'HEAD'));
    if (isModule) found.push(path);
    found.push(...(await nestedGitFolders(isModule ? join(path, 'modules') : path, look)));
  }
  return found;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
