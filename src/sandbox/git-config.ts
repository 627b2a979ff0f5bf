/**
 * What the agent's commands see of git's own folders: what is needed to read the history, and a config of harmless
 * keys. Hooks, credentials and programs that a config names are left out.
 */
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { SandboxError } from '../errors.ts';
import { WAIT } from '../text/limits.ts';
import { findProgram, runOnHost } from './host-program.ts';
import { isWithin, realOrSame } from './system-root.ts';

/** What stays of a git folder; configs are written anew. */
const KEPT = new Set(
  `HEAD commondir gitdir index info modules objects packed-refs refs reftable shallow sparse-checkout
  worktrees`.split(/\s+/u),
);

/** The keys of a config that git needs to read a repository, and those that people look up. */
const KEYS =
  /^(?:core\.(?:autocrlf|bare|eol|filemode|ignorecase|logallrefupdates|precomposeunicode|repositoryformatversion|safecrlf|sparsecheckout|sparsecheckoutcone|symlinks|worktree)|extensions\.(?:objectformat|partialclone|refstorage|worktreeconfig)|index\.version|user\.(?:name|email)|remote\..+\.(?:fetch|url|promisor)|branch\..+\.(?:merge|remote)|submodule\..+\.(?:active|url))$/su;

/** Files in the root of a checkout in which tools leave keys. They are absent, whatever they are. */
const CREDENTIAL_FILE = /^(?:\.netrc|\.git-credentials|gha-creds-.*\.json)$/su;

/** What has to be done to a layer over a checkout before commands see it. Paths are relative to the checkout. */
export interface GitPlan {
  readonly remove: readonly string[];
  /** Configs, by their paths. */
  readonly configs: ReadonlyMap<string, string>;
  /** The git folders, which commands can only read. */
  readonly folders: readonly string[];
  /** What is shown of a git folder that lies elsewhere, as that of a worktree; absolute paths. */
  readonly outside: readonly string[];
  /** The configs of that folder, by absolute paths. */
  readonly outsideConfigs: ReadonlyMap<string, string>;
  /** Whether a config, or a file that was removed, holds credentials. */
  readonly hasCredentials: boolean;
}

/** Plans what is shown of the git folders of a checkout. @throws SandboxError if they cannot be found in time */
export async function planGit(workspace: string, signal: AbortSignal): Promise<GitPlan> {
  const plan = new Planner(workspace);
  for (const name of await readdir(workspace)) if (CREDENTIAL_FILE.test(name)) plan.dropCredential(name);
  const pointers: string[] = [];
  for (const path of await findGitFolders(workspace, signal)) {
    const stats = await lstat(join(workspace, path)).catch(() => null);
    // A name that is not UTF-8: what it holds cannot be left out.
    if (stats === null) throw new SandboxError(`The git folder ${JSON.stringify(path)} cannot be read.`);
    if (stats.isDirectory()) await plan.addFolder(path);
    else pointers.push(path);
  }
  for (const path of pointers) await plan.addPointer(path);
  return plan;
}

/** Returns the paths of everything named `.git` below a folder. */
async function findGitFolders(workspace: string, signal: AbortSignal): Promise<readonly string[]> {
  const find = await findProgram('find');
  if (find === null) throw new SandboxError('The sandbox needs the program find (findutils).');
  const found = await runOnHost(find, [workspace, '-name', '.git', '-prune', '-print0'], {
    withinMs: WAIT.gitFolders,
    signal,
  });
  if (found === null)
    throw new SandboxError(
      `The checkout could not be searched for git folders within ${WAIT.gitFolders / 1000} s.`,
    );
  const paths = found.stdout.split('\0').filter((path) => path.startsWith(`${workspace}/`));
  return paths.map((path) => path.slice(workspace.length + 1));
}

class Planner implements GitPlan {
  readonly remove: string[] = [];
  readonly configs = new Map<string, string>();
  readonly folders: string[] = [];
  readonly outside: string[] = [];
  readonly outsideConfigs = new Map<string, string>();
  hasCredentials = false;
  private readonly workspace: string;

  constructor(workspace: string) {
    this.workspace = workspace;
  }

  dropCredential(path: string): void {
    this.remove.push(path);
    this.hasCredentials = true;
  }

  /** Adds a git folder in the checkout, and those of its submodules and worktrees. */
  async addFolder(path: string): Promise<void> {
    this.folders.push(path);
    await this.addEntries(path);
  }

  private async addEntries(path: string): Promise<void> {
    const folder = join(this.workspace, path);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const place = join(path, entry.name);
      const isKept = KEPT.has(entry.name) && !entry.isSymbolicLink();
      if (!isKept) this.remove.push(place);
      if (entry.name === 'config' || entry.name === 'config.worktree')
        this.configs.set(place, await this.readConfig(join(this.workspace, place)));
      else if (isKept && (entry.name === 'modules' || entry.name === 'worktrees')) await this.addInner(place);
    }
  }

  /** Adds the git folders in `modules` or `worktrees`; the name of a submodule may have slashes. */
  private async addInner(path: string): Promise<void> {
    for (const entry of await readdir(join(this.workspace, path), { withFileTypes: true })) {
      const place = join(path, entry.name);
      const isFolder = entry.isDirectory();
      if (!isFolder) this.remove.push(place);
      else if (await exists(join(this.workspace, place, 'HEAD'))) await this.addEntries(place);
      else await this.addInner(place);
    }
  }

  /**
   * Adds the git folder that a link or a `.git` file names, and the one that it shares with the main checkout. What lies
   * outside of the checkout is shown for a `.git` in its root only.
   */
  async addPointer(path: string): Promise<void> {
    const file = join(this.workspace, path);
    const target = /^gitdir: (.+)\n?$/u.exec(await readFile(file, 'utf8').catch(() => ''))?.[1];
    const folder = target === undefined ? file : resolve(dirname(file), target);
    const common = (await readFile(join(folder, 'commondir'), 'utf8').catch(() => '.')).trim();
    for (const place of new Set([folder, resolve(folder, common)])) {
      const real = realOrSame(place);
      if (isWithin(real, this.workspace)) await this.addInside(relative(this.workspace, real));
      else if (path === '.git' && target !== undefined) await this.addOutside(place);
    }
  }

  /** Adds a git folder in the checkout that has another name than `.git`. */
  private async addInside(path: string): Promise<void> {
    const isKnown = this.folders.some((folder) => isWithin(path, folder));
    if (!isKnown && (await exists(join(this.workspace, path, 'HEAD')))) await this.addFolder(path);
  }

  private async addOutside(place: string): Promise<void> {
    for (const name of await readdir(place).catch(() => [])) {
      const path = join(place, name);
      if (name === 'config' || name === 'config.worktree') {
        this.outsideConfigs.set(path, await this.readConfig(path));
      } else if (KEPT.has(name) && name !== 'modules' && name !== 'worktrees') this.outside.push(path);
    }
  }

  /** Returns a config with the allowed keys only. git reads it: it knows quotes, escapes and line continuations. */
  private async readConfig(file: string): Promise<string> {
    const git = await findProgram('git');
    const isFile = await stat(file).then(
      (stats) => stats.isFile(),
      () => false,
    );
    if (git === null || !isFile) return '';
    const listed = await runOnHost(git, ['config', '--file', file, '--no-includes', '--list', '-z']);
    const entries = (listed?.exitCode === 0 ? listed.stdout : '').split('\0').slice(0, -1);
    return entries.map((entry) => this.writeEntry(entry)).join('');
  }

  /** @param entry a key, a line feed and a value; without the last two for a key alone, which means true */
  private writeEntry(entry: string): string {
    const end = entry.indexOf('\n');
    const key = end < 0 ? entry : entry.slice(0, end);
    const written = end < 0 ? 'true' : entry.slice(end + 1);
    const value = written.replace(/(:\/\/)[^/\s]*@/gu, '$1');
    const isLogin = value !== written && /^https?:/u.test(value);
    if (isLogin || /^(?:http\..*extraheader|credential\.|include|url\..*@)/su.test(key))
      this.hasCredentials = true;
    if (!KEYS.test(key)) return '';
    const [, section = '', subsection, name = ''] = /^([^.]+)(?:\.(.+))?\.([^.]+)$/su.exec(key) ?? [];
    const title = subsection === undefined ? section : `${section} ${quoteValue(subsection)}`;
    return `[${title}]\n\t${name} = ${quoteValue(value)}\n`;
  }
}

function quoteValue(text: string): string {
  return `"${text.replace(/[\\"]/gu, '\\$&').replaceAll('\n', '\\n')}"`;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
