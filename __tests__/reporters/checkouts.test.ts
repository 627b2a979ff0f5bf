import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { locator, workspaces } from './workspace-world.ts';

const make = workspaces();
const OURS = 'https://github.com/octo/demo';
const FOREIGN = 'https://github.com/octo/tools.git';

describe('a checkout', () => {
  it('in a subdirectory has paths relative to its own root', () => {
    const workspace = make();
    workspace.checkout('sub', OURS);
    workspace.write('sub/src/x.js', 'x\n');
    workspace.write('other.js', 'x\n');
    for (const from of ['.', 'sub', 'sub/src']) {
      const locate = locator(workspace, { from });
      expect(['src/x.js', 'sub/src/x.js', 'other.js'].map((each) => locate(each)?.path ?? null)).toEqual([
        'src/x.js',
        'src/x.js',
        null,
      ]);
    }
  });

  it.each([
    'https://github.com/Octo/Demo.git',
    'git@github.com:octo/demo.git',
    'ssh://git@github.example:22/octo/demo/',
    'https://x-access-token:abc@github.com/octo/demo',
  ])('with the remote %j is recognized among several checkouts', (url) => {
    const workspace = make();
    workspace.checkout('deep/er/demo', url);
    workspace.checkout('tools', FOREIGN);
    workspace.write('deep/er/demo/both.js', 'x\n');
    workspace.write('tools/both.js', 'x\n');
    workspace.write('tools/only.js', 'x\n');
    const locate = locator(workspace);
    const found = ['both.js', 'tools/both.js', 'tools/only.js', 'only.js'].map(
      (each) => locate(each)?.path ?? null,
    );
    expect(found).toEqual(['both.js', null, null, null]);
  });

  it('of the fork of a pull request is recognized', () => {
    const workspace = make();
    workspace.checkout('.', 'https://github.com/someone/fork');
    workspace.write('x.js', 'x\n');
    expect(locator(workspace)('x.js')).toBeNull();
    expect(locator(workspace, { names: ['octo/demo', 'someone/fork'] })('x.js')?.path).toBe('x.js');
  });

  it('nested in another checkout is not part of it', () => {
    const workspace = make();
    workspace.checkout('.', OURS);
    workspace.checkout('vendor/lib', FOREIGN);
    workspace.checkout('fixtures/repo');
    workspace.write('.git/modules/sub/HEAD', 'x');
    workspace.write('.git/modules/sub/config', `[remote "origin"]\nurl = ${FOREIGN}\n`);
    workspace.write('sub/.git', 'gitdir: ../.git/modules/sub\n');
    for (const folder of ['vendor/lib', 'fixtures/repo', 'sub', 'src'])
      workspace.write(`${folder}/x.js`, 'x\n');
    const locate = locator(workspace);
    const found = ['vendor/lib', 'fixtures/repo', 'sub', 'src'].map(
      (each) => locate(`${each}/x.js`)?.path ?? null,
    );
    expect(found).toEqual([null, null, null, 'src/x.js']);
  });

  it('that is a linked worktree has the remotes of its repository', () => {
    const workspace = make();
    workspace.checkout('main', OURS);
    workspace.write('main/.git/worktrees/two/HEAD', 'x');
    workspace.write('main/.git/worktrees/two/commondir', '../..\n');
    workspace.write('two/.git', `gitdir: ${workspace.root}/main/.git/worktrees/two\n`);
    workspace.write('two/x.js', 'x\n');
    expect(locator(workspace)('two/x.js')?.path).toBe('x.js');
  });

  it.each(['/srv/mirrors/any.git', 'file:///srv/mirrors/any.git', '../any.git'])(
    'of the mirror %j counts as the repository',
    (url) => {
      const workspace = make();
      workspace.checkout('sub', url);
      workspace.write('sub/x.js', 'x\n');
      expect(locator(workspace)('sub/x.js')?.path).toBe('x.js');
    },
  );

  it('without a remote counts as the repository, and so does a workspace without a checkout', () => {
    const workspace = make();
    workspace.write('src/x.js', 'x\n');
    expect(locator(workspace)('src/x.js')?.path).toBe('src/x.js');
    workspace.checkout('src');
    expect(locator(workspace)('src/x.js')?.path).toBe('x.js');
  });

  it('is not recognized from a .git directory alone', () => {
    const workspace = make();
    workspace.checkout('.', OURS);
    mkdirSync(path.join(workspace.root, 'src/.git'), { recursive: true });
    workspace.write('src/x.js', 'x\n');
    expect(locator(workspace)('src/x.js')?.path).toBe('src/x.js');
  });

  it('is not required to reject links that lead out of the workspace', () => {
    const workspace = make();
    const outside = make();
    symlinkSync(outside.write('secret', 'x\n'), path.join(workspace.root, 'file'));
    symlinkSync(outside.root, path.join(workspace.root, 'folder'));
    const locate = locator(workspace, { from: 'folder' });
    expect(['file', 'folder/secret', 'secret'].map((each) => locate(each))).toEqual([null, null, null]);
  });

  it.each([
    [
      'the configuration of another repository',
      () => make().write('config', `[remote "origin"]\nurl = ${FOREIGN}\n`),
    ],
    ['an endless file', () => '/dev/zero'],
  ])('whose config is a link to %s is treated as one without a remote', (_, target) => {
    const workspace = make();
    workspace.checkout('.', OURS);
    workspace.write('x.js', 'x\n');
    const config = path.join(workspace.root, '.git/config');
    renameSync(config, path.join(workspace.root, '.git/real'));
    symlinkSync(target(), config);
    expect(locator(workspace)('x.js')?.path).toBe('x.js');
  });
});
