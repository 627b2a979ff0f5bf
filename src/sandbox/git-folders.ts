/** The repositories in a workspace: their folders are read-only in the shell, and their configs without credentials. */
import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** One repository whose working tree lies in the workspace. */
export interface Repository {
  /** The folder that holds `.git`. */
  readonly root: string;
  /** `.git` itself: a folder, or the file of a worktree or submodule. */
  readonly dotGit: string;
  /** Real folders of git's own that lie elsewhere (a worktree's, a submodule's). */
  readonly elsewhere: readonly string[];
  /** Config files that exist, the modules' and worktrees' among them. */
  readonly configs: readonly string[];
  /** Folders with hooks, attributes and configs: the git folder and those of its modules. */
  readonly gitFolders: readonly string[];
}

const MAX_DEPTH = 3;
const MAX_FOLDERS = 4000;

/**
 * The repositories whose `.git` lies at most three folders deep (actions/checkout with `path:` makes such), within the
 * first 4,000 folders; never inside node_modules.
 */
export async function findRepositories(workspace: string): Promise<readonly Repository[]> {
  const found: Repository[] = [];
  let level: string[] = [workspace];
  let seen = 0;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      seen += 1;
      if (seen > MAX_FOLDERS) return found;
      for (const entry of await entriesOf(folder)) {
        if (entry.name === '.git') found.push(await describe(folder));
        else if (entry.isDirectory() && entry.name !== 'node_modules') next.push(join(folder, entry.name));
      }
    }
    level = next;
  }
  return found;
}

async function describe(root: string): Promise<Repository> {
  const dotGit = join(root, '.git');
  const own = await gitFolderOf(dotGit);
  if (own === null) return { root, dotGit, elsewhere: [], configs: [], gitFolders: [] };
  const common = await commonFolderOf(own);
  const bases = [...new Set([own, common])];
  const gitFolders = [...bases, ...(await nestedGitFolders(join(common, 'modules'), 4))];
  gitFolders.push(
    ...(await entriesOf(join(common, 'worktrees'))).map((entry) => join(common, 'worktrees', entry.name)),
  );
  const candidates = gitFolders.flatMap((folder) => [
    join(folder, 'config'),
    join(folder, 'config.worktree'),
  ]);
  const configs: string[] = [];
  for (const path of candidates) if (await isFile(path)) configs.push(path);
  return { root, dotGit, elsewhere: bases.filter((folder) => folder !== dotGit), configs, gitFolders };
}

/** Where `.git` really is. A `.git` file may name any folder, so only one that looks like git's own is believed. */
async function gitFolderOf(dotGit: string): Promise<string | null> {
  try {
    if ((await stat(dotGit)).isDirectory()) return await realpath(dotGit);
    const named = /^gitdir: (.+?)\s*$/u.exec(await readFile(dotGit, 'utf8'))?.[1];
    if (named === undefined) return null;
    const folder = await realpath(resolve(dirname(dotGit), named));
    const inGit = folder.split('/').includes('.git') || folder.includes('.git/');
    return inGit && (await isFile(join(folder, 'HEAD'))) ? folder : null;
  } catch {
    return null;
  }
}

async function commonFolderOf(gitFolder: string): Promise<string> {
  try {
    const named = (await readFile(join(gitFolder, 'commondir'), 'utf8')).trim();
    const common = await realpath(resolve(gitFolder, named));
    // A worktree's folder is <common>/worktrees/<name>; anything else named here is not git's doing.
    return basename(dirname(gitFolder)) === 'worktrees' && dirname(dirname(gitFolder)) === common
      ? common
      : gitFolder;
  } catch {
    return gitFolder;
  }
}

async function nestedGitFolders(folder: string, depth: number): Promise<readonly string[]> {
  if (depth === 0) return [];
  const found: string[] = [];
  for (const entry of await entriesOf(folder)) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    if (await isFile(join(path, 'HEAD')))
      found.push(path, ...(await nestedGitFolders(join(path, 'modules'), depth - 1)));
    else found.push(...(await nestedGitFolders(path, depth - 1)));
  }
  return found;
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
