import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import { findRepositories } from '../../src/sandbox/git-folders.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'git-')));
// The shell's: a tree of these is deeper than a path can name.
afterAll(() => execFileSync('/bin/rm', ['-rf', base]));

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

it('a git folder under another name in the workspace is believed, by a .git file and by a link', async () => {
  const workspace = join(base, 'separate');
  mkdirSync(join(workspace, 'parts'), { recursive: true });
  const store = join(workspace, 'stores', 'one');
  mkdirSync(join(workspace, 'stores'));
  git(workspace, 'init', '-q', `--separate-git-dir=${store}`, 'parts/one');
  git(workspace, 'init', '-q', 'parts/two');
  renameSync(join(workspace, 'parts', 'two', '.git'), join(workspace, 'stores', 'two'));
  symlinkSync('../../stores/two', join(workspace, 'parts', 'two', '.git'));
  const found = (await findRepositories(workspace)).toSorted((a, b) => (a.root < b.root ? -1 : 1));
  expect(found).toEqual(
    ['one', 'two'].map((name) => ({
      root: join(workspace, 'parts', name),
      dotGit: join(workspace, 'parts', name, '.git'),
      elsewhere: [join(workspace, 'stores', name)],
      configs: [join(workspace, 'stores', name, 'config')],
      gitFolders: [join(workspace, 'stores', name)],
    })),
  );
});

it('a bare repository is found where its config holds credentials, and is a folder like any other where not', async () => {
  const workspace = join(base, 'bares');
  for (const name of ['plain.git', 'a/mirror.git']) {
    mkdirSync(join(workspace, name), { recursive: true });
    git(join(workspace, name), 'init', '-q', '--bare', '.');
  }
  const mirror = join(workspace, 'a', 'mirror.git');
  git(mirror, 'config', 'remote.origin.url', 'https://user:pass@example.com/x.git');
  expect(await findRepositories(workspace)).toEqual([
    {
      root: mirror,
      dotGit: join(mirror, '.git'),
      elsewhere: [mirror],
      configs: [join(mirror, 'config')],
      gitFolders: [mirror],
    },
  ]);
});

it('a .git that leads out of the workspace is believed where git’s own folder names it back, and nowhere else', async () => {
  const victim = repository(join(base, 'victim'));
  const module = repository(join(base, 'module2'));
  git(victim, 'submodule', '-q', 'add', module, 'sub');
  git(victim, 'worktree', 'add', '-q', join(base, 'linked'));
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

it('files that look like a git folder around a repository are not taken for its own', async () => {
  const workspace = join(base, 'around');
  mkdirSync(join(workspace, 'in'), { recursive: true });
  for (const name of ['objects', 'refs']) mkdirSync(join(workspace, name));
  writeFileSync(join(workspace, 'HEAD'), 'ref: refs/heads/main\n');
  for (const target of ['..', '.']) {
    writeFileSync(join(workspace, 'in', '.git'), `gitdir: ${target}\n`);
    expect((await findRepositories(workspace)).flatMap(({ gitFolders }) => gitFolders)).toEqual([]);
  }
});

it('a checkout is found however deep it lies, however many folders come before it, and in node_modules', async () => {
  const workspace = join(base, 'wide');
  for (let n = 0; n < 4100; n += 1) mkdirSync(join(workspace, `p${n}`), { recursive: true });
  const nested = ['p7/zz', 'node_modules/one', 'p1/b/c/d/e/f/g'].map((path) =>
    repository(join(workspace, path)),
  );
  const found = await findRepositories(workspace);
  expect(found.map(({ root }) => root).sort()).toEqual([...nested].sort());
  expect(found.flatMap(({ configs }) => configs).sort()).toEqual(
    nested.map((root) => join(root, '.git', 'config')).sort(),
  );
});

it('a .git folder is not walked: what lies in it is protected as a whole', async () => {
  const workspace = repository(join(base, 'inner'));
  repository(join(workspace, '.git', 'x'));
  expect((await findRepositories(workspace)).map(({ root }) => root)).toEqual([workspace]);
});

it('modules are found under long names, and in the folder of a worktree', async () => {
  const workspace = repository(join(base, 'modules'));
  const folders = [
    join(workspace, '.git', 'modules', 'a', 'b', 'c', 'd', 'e'),
    join(workspace, '.git', 'modules', 'a', 'b', 'c', 'd', 'e', 'modules', 'f'),
    join(workspace, '.git', 'worktrees', 'tree', 'modules', 'g'),
  ];
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    for (const name of ['HEAD', 'config']) writeFileSync(join(folder, name), '');
  }
  const [found] = await findRepositories(workspace);
  expect(found?.configs).toEqual(
    [join(workspace, '.git'), ...folders].map((folder) => join(folder, 'config')),
  );
});

it('more folders than can be looked at are a SandboxError that says what to do', async () => {
  const workspace = join(base, 'many');
  for (const name of ['a', 'b', 'c']) mkdirSync(join(workspace, name), { recursive: true });
  expect(await findRepositories(workspace, 4)).toEqual([]);
  const refused = findRepositories(workspace, 3);
  await expect(refused).rejects.toBeInstanceOf(SandboxError);
  await expect(refused).rejects.toThrow(/more than 3 folders.*sparse-checkout/u);
});

it('a folder that the agent could open, and this step cannot look into, is a SandboxError', async () => {
  // Deeper than a path can name; a command gets there step by step.
  const deep = join(base, 'deep');
  mkdirSync(deep);
  execFileSync('bash', ['-c', 'for i in $(seq 25); do mkdir $0 && cd $0; done', 'd'.repeat(200)], {
    cwd: deep,
  });
  await expect(findRepositories(deep)).rejects.toBeInstanceOf(SandboxError);
  if (process.getuid?.() === 0) return;
  const closed = join(base, 'closed');
  mkdirSync(join(closed, 'x'), { recursive: true });
  chmodSync(join(closed, 'x'), 0);
  await expect(findRepositories(closed)).rejects.toBeInstanceOf(SandboxError);
  chmodSync(join(closed, 'x'), 0o700);
});
