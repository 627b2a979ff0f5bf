import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { findRepositories } from '../../src/sandbox/git-folders.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'git-')));
afterAll(() => rmSync(base, { recursive: true }));

function repository(path: string): string {
  mkdirSync(path, { recursive: true });
  git(path, 'init', '-q', '-b', 'main', '.');
  git(path, 'commit', '--allow-empty', '-qm', 'first');
  return path;
}

function git(cwd: string, ...args: string[]): void {
  const options = ['-c', 'user.name=a', '-c', 'user.email=b@c.d', '-c', 'protocol.file.allow=always'];
  execFileSync('git', [...options, ...args], { cwd, stdio: 'pipe' });
}

it('the workspace, checkouts in it, their modules and worktrees are found', async () => {
  const module = repository(join(base, 'module'));
  const workspace = repository(join(base, 'ws'));
  repository(join(workspace, 'a', 'nested'));
  repository(join(workspace, 'node_modules', 'not-this-one'));
  git(workspace, 'submodule', '-q', 'add', module, 'sub');
  const tree = join(base, 'tree');
  git(workspace, 'worktree', 'add', '-q', tree);

  const dot = join(workspace, '.git');
  const modules = join(dot, 'modules', 'sub');
  const found = await findRepositories(workspace);
  expect(found).toEqual([
    {
      root: workspace,
      dotGit: dot,
      elsewhere: [],
      configs: [join(dot, 'config'), join(modules, 'config')],
      gitFolders: [dot, modules, join(dot, 'worktrees', 'tree')],
    },
    {
      root: join(workspace, 'sub'),
      dotGit: join(workspace, 'sub', '.git'),
      elsewhere: [modules],
      configs: [join(modules, 'config')],
      gitFolders: [modules],
    },
    {
      root: join(workspace, 'a', 'nested'),
      dotGit: join(workspace, 'a', 'nested', '.git'),
      elsewhere: [],
      configs: [join(workspace, 'a', 'nested', '.git', 'config')],
      gitFolders: [join(workspace, 'a', 'nested', '.git')],
    },
  ]);
  expect((await findRepositories(tree)).map(({ elsewhere }) => elsewhere)).toEqual([
    [join(dot, 'worktrees', 'tree'), dot],
  ]);
});

it('a .git file that names a folder which is not git’s opens nothing', async () => {
  const workspace = join(base, 'hostile');
  mkdirSync(join(base, 'secrets'), { recursive: true });
  mkdirSync(workspace);
  writeFileSync(join(workspace, '.git'), `gitdir: ${join(base, 'secrets')}\n`);
  expect(await findRepositories(workspace)).toEqual([
    { root: workspace, dotGit: join(workspace, '.git'), elsewhere: [], configs: [], gitFolders: [] },
  ]);
});
