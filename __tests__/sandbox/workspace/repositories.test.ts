import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { WorkspaceError } from '../../../src/errors.ts';
import { findRepositories } from '../../../src/sandbox/workspace/repositories.ts';
import { putFiles } from '../../support/local.ts';
import { gitIn } from '../world.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'git-')));
// Uses the shell, because the tree is deeper than the maximum path length.
afterAll(() => execFileSync('/bin/rm', ['-rf', base]));

const HEAD = 'ref: refs/heads/main\n';

function repository(path: string): string {
  mkdirSync(path, { recursive: true });
  gitIn(path, 'init', '-q', '-b', 'main', '.');
  gitIn(path, 'commit', '--allow-empty', '-qm', 'first');
  return path;
}

/** The result for an ordinary repository. */
const plain = (root: string) => ({
  ...{ root, dotGit: join(root, '.git'), elsewhere: [], configs: [], gitFolders: [], hidden: [] },
  unconfirmed: null,
});

it('finds the workspace, nested checkouts, their modules and worktrees', async () => {
  const module = repository(join(base, 'module'));
  const workspace = repository(join(base, 'ws'));
  const nested = repository(join(workspace, 'a', 'nested'));
  gitIn(workspace, 'submodule', '-q', 'add', module, 'sub');
  const tree = join(base, 'tree');
  gitIn(workspace, 'worktree', 'add', '-q', tree);

  const dot = join(workspace, '.git');
  const modules = join(dot, 'modules', 'sub');
  const found = await findRepositories(workspace);
  expect(found).toEqual([
    {
      ...plain(workspace),
      configs: [join(dot, 'config'), join(modules, 'config')],
      gitFolders: [dot, modules, join(dot, 'worktrees', 'tree')],
    },
    {
      ...plain(join(workspace, 'sub')),
      elsewhere: [modules],
      configs: [join(modules, 'config')],
      gitFolders: [modules],
    },
    { ...plain(nested), configs: [join(nested, '.git', 'config')], gitFolders: [join(nested, '.git')] },
  ]);
  expect((await findRepositories(tree)).map(({ elsewhere }) => elsewhere)).toEqual([
    [join(dot, 'worktrees', 'tree'), dot],
  ]);
});

it('does not follow a .git file to a directory that is not a git directory', async () => {
  const workspace = join(base, 'hostile');
  mkdirSync(join(base, 'secrets'), { recursive: true });
  mkdirSync(workspace);
  writeFileSync(join(workspace, '.git'), `gitdir: ${join(base, 'secrets')}\n`);
  expect(await findRepositories(workspace)).toEqual([plain(workspace)]);
});

it('only watches a directory that a nested .git file declares as its git directory', async () => {
  const workspace = join(base, 'named');
  const target = join(workspace, 'src');
  for (const name of ['objects', 'refs', 'worktrees/x']) mkdirSync(join(target, name), { recursive: true });
  putFiles(target, { HEAD, config: '[credential]\n', 'worktrees/x/HEAD': HEAD });
  putFiles(target, { 'worktrees/x/commondir': '../..\n' });
  const makers: readonly ((root: string) => void)[] = [
    (root) => writeFileSync(join(root, '.git'), 'gitdir: ../../src\n'),
    (root) => symlinkSync('../../src', join(root, '.git')),
    (root) => writeFileSync(join(root, '.git'), 'gitdir: ../../src/worktrees/x\n'),
  ];
  for (const [n, make] of makers.entries()) {
    const root = join(workspace, 'node_modules', `p${n}`);
    mkdirSync(root, { recursive: true });
    make(root);
  }
  const found = await findRepositories(workspace);
  expect(found.map(({ unconfirmed }) => unconfirmed).sort()).toEqual([
    target,
    target,
    join(target, 'worktrees', 'x'),
  ]);
  for (const each of found)
    expect(each).toMatchObject({ elsewhere: [], configs: [], gitFolders: [], hidden: [] });
});

it('follows no path out of a .git directory that a package contains', async () => {
  const workspace = join(base, 'package');
  const target = join(workspace, 'src');
  for (const name of ['m', 'w', 'objects', 'refs', 'worktrees/.git/objects', 'worktrees/.git/refs'])
    mkdirSync(join(target, name), { recursive: true });
  for (const folder of ['', 'm', 'w', 'worktrees/.git'])
    putFiles(join(target, folder), { HEAD, config: '[include]\n\tpath = ../src/config\n[credential]\n' });
  // The directory of a worktree can name the shared one two levels above.
  writeFileSync(join(target, 'worktrees', '.git', 'commondir'), '../..\n');
  const dot = join(workspace, 'node_modules', 'p', '.git');
  mkdirSync(join(dot, 'deep', 'modules'), { recursive: true });
  for (const name of ['modules', 'worktrees', 'annex']) symlinkSync(target, join(dot, name));
  for (const name of ['config', 'config.worktree', 'credentials', 'deep/link'])
    symlinkSync(join(target, 'config'), join(dot, name));
  const found = await findRepositories(workspace);
  const touched = found.flatMap(({ elsewhere, configs, gitFolders, hidden }) => {
    return [...elsewhere, ...configs, ...gitFolders, ...hidden.map(({ path }) => path)];
  });
  const real = touched.map((path) => realpathSync(path).slice(workspace.length));
  expect(real.filter((path) => !path.split('/').includes('.git'))).toEqual([]);
});

it('skips pipes, devices and large files in .git without hanging', async () => {
  const workspace = join(base, 'devices');
  const kinds: readonly ((path: string) => void)[] = [
    (path) => void execFileSync('mkfifo', [path]),
    (path) => symlinkSync('/dev/zero', path),
    (path) => symlinkSync('/proc/self/environ', path),
    (path) => symlinkSync(path, path),
    (path) => {
      writeFileSync(path, '');
      truncateSync(path, 3 * 1024 ** 3);
    },
  ];
  const folders = ['modules', 'worktrees', 'commondir', 'gitdir'];
  const names = ['config', 'config.worktree', 'HEAD', 'credentials', ...folders];
  for (const [n, make] of kinds.entries()) {
    const dot = join(workspace, String(n), '.git');
    mkdirSync(dot, { recursive: true });
    for (const name of names) make(join(dot, name));
    mkdirSync(join(workspace, `file-${n}`));
    make(join(workspace, `file-${n}`, '.git'));
  }
  expect(await findRepositories(workspace)).toHaveLength(2 * kinds.length);
});

it('hides keys, tokens and included configs in a git directory, but no file of git itself', async () => {
  const workspace = repository(join(base, 'keys'));
  gitIn(workspace, 'config', 'include.path', 'hooks/auth.inc');
  const dot = join(workspace, '.git');
  const own = ['HEAD', 'index', 'COMMIT_EDITMSG', 'packed-refs', 'FETCH_HEAD', 'MERGE_MODE', 'info/exclude'];
  const keys = ['credentials', 'token', 'git-crypt/keys/default', 'annex/creds/x'];
  for (const name of [...own, ...keys, 'annex/objects/x', 'lfs/objects/x']) putFiles(dot, { [name]: 'x' });
  symlinkSync(join(workspace, 'README'), join(dot, 'info', 'link'));
  putFiles(workspace, {
    README: 'hello',
    '.git/hooks/auth.inc': '[includeIf "gitdir:/x"]\n\tpath = ../info/more.inc\n\tpath = ../../README\n',
    '.git/info/more.inc':
      '[INCLUDE] path = ../hooks/auth.inc\n[include]\n\tpath = "link"\n\tpath = nowhere\n',
  });
  const [found] = await findRepositories(workspace);
  expect(found?.hidden.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: join(dot, 'annex', 'creds'), kind: 'directory' },
    { path: join(dot, 'credentials'), kind: 'file' },
    { path: join(dot, 'git-crypt'), kind: 'directory' },
    { path: join(dot, 'hooks', 'auth.inc'), kind: 'file' },
    { path: join(dot, 'info', 'more.inc'), kind: 'file' },
    { path: join(dot, 'token'), kind: 'file' },
  ]);
});

it('accepts a .git file that leads out of the workspace only when the target refers back', async () => {
  const victim = repository(join(base, 'victim'));
  const module = repository(join(base, 'module2'));
  gitIn(victim, 'submodule', '-q', 'add', module, 'sub');
  gitIn(victim, 'worktree', 'add', '-q', join(base, 'linked'));
  const folders = async (workspace: string) =>
    (await findRepositories(workspace)).flatMap(({ gitFolders }) => gitFolders);
  const modules = join(victim, '.git', 'modules', 'sub');
  const worktree = join(victim, '.git', 'worktrees', 'linked');
  expect(await folders(join(victim, 'sub'))).toEqual([modules]);
  expect(await folders(join(base, 'linked'))).toContain(worktree);

  const workspace = join(base, 'thief');
  const targets = [join(victim, '.git'), modules, worktree, victim, '/'];
  for (const [n, target] of targets.entries()) {
    for (const kind of ['file', 'link']) mkdirSync(join(workspace, kind, String(n)), { recursive: true });
    writeFileSync(join(workspace, 'file', String(n), '.git'), `gitdir: ${target}\n`);
    symlinkSync(target, join(workspace, 'link', String(n), '.git'));
  }
  expect([(await findRepositories(workspace)).length, await folders(workspace)]).toEqual([10, []]);
});

it('throws a WorkspaceError with a fix for too many directories', async () => {
  const workspace = join(base, 'many');
  for (const name of ['a', 'b', 'c']) mkdirSync(join(workspace, name), { recursive: true });
  expect(await findRepositories(workspace, 4)).toEqual([]);
  const refused = findRepositories(workspace, 3);
  await expect(refused).rejects.toBeInstanceOf(WorkspaceError);
  await expect(refused).rejects.toThrow(/more than 3 folders.*sparse-checkout/u);
});

it('throws a WorkspaceError for a directory that it cannot read but the agent could open', async () => {
  // Deeper than the maximum path length; a command gets there with several cd.
  const deep = join(base, 'deep');
  mkdirSync(deep);
  execFileSync('bash', ['-c', 'for i in $(seq 25); do mkdir $0 && cd $0; done', 'd'.repeat(200)], {
    cwd: deep,
  });
  await expect(findRepositories(deep)).rejects.toBeInstanceOf(WorkspaceError);
  if (process.getuid?.() === 0) return;
  const closed = join(base, 'closed');
  mkdirSync(join(closed, 'x'), { recursive: true });
  chmodSync(join(closed, 'x'), 0);
  await expect(findRepositories(closed)).rejects.toBeInstanceOf(WorkspaceError);
  chmodSync(join(closed, 'x'), 0o700);
});

describe('a name that is not UTF-8', () => {
  const odd = (...parts: string[]) => Buffer.from(parts.join('/'), 'latin1');
  const gitFolder = (folder: Buffer) => {
    for (const name of ['objects', 'refs'])
      mkdirSync(Buffer.concat([folder, odd('/', name)]), { recursive: true });
    writeFileSync(Buffer.concat([folder, odd('/HEAD')]), HEAD);
  };

  it.each([
    ['a submodule, as .gitmodules names it', '.git/modules/\xff'],
    ['a nested submodule', '.git/modules/a/\xe9/b'],
    ['a repository in a directory', 'd\xff/sub/.git'],
    ['a repository in a module', '.git/modules/a/modules/\xff'],
    ['a file of a tool in .git', '.git/keys\xff'],
  ])('causes a WorkspaceError when it could hide a token: %s', async (name, path) => {
    const workspace = repository(join(base, `odd ${name}`));
    gitFolder(odd(workspace, '.git/modules/a'));
    gitFolder(odd(workspace, path));
    const found = findRepositories(workspace);
    await expect(found).rejects.toThrow(WorkspaceError);
    await expect(found).rejects.toThrow('is not UTF-8');
  });
});
