import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { readCheckedOut } from '../../src/github/checked-out.ts';
import { gitIn } from '../sandbox/world.ts';
import { putFiles } from '../support/local.ts';
import { makeFolder } from '../support/surroundings.ts';

const SHA = 'a'.repeat(40);
const folders = makeFolder();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(folders, 'checked-out-'));
});

/** A repository at `folder`/repo with one commit. */
function makeRepository(format: 'sha1' | 'sha256' = 'sha1') {
  const root = path.join(folder, 'repo');
  mkdirSync(root);
  const git = (...args: readonly string[]) => gitIn(root, ...args);
  git('init', '-q', '-b', 'main', `--object-format=${format}`);
  git('commit', '-q', '--allow-empty', '-m', 'first');
  return { root, git, commit: git('rev-parse', 'HEAD') };
}

it.each(['sha1', 'sha256'] as const)('a checkout is found with loose and packed refs (%s)', (format) => {
  const { root, git, commit } = makeRepository(format);
  const main = { commit, ref: 'refs/heads/main', repository: '' };
  expect(readCheckedOut(root)).toEqual(main);
  git('pack-refs', '--all', '--prune');
  expect(readdirSync(path.join(root, '.git', 'refs', 'heads'))).toEqual([]);
  expect(readCheckedOut(root)).toEqual(main);
  git('checkout', '-q', '--detach');
  expect(readCheckedOut(root)).toEqual({ ...main, ref: '' });
  git('checkout', '-q', '-b', 'feature/#1-ä+x');
  expect(readCheckedOut(root)).toEqual({ ...main, ref: 'refs/heads/feature/#1-ä+x' });
});

it('a checkout is found in a worktree, a submodule, and a separate git folder', () => {
  const { root, git, commit } = makeRepository();
  git('worktree', 'add', '-q', '-b', 'other', '../worktree');
  expect(readCheckedOut(path.join(folder, 'worktree'))).toMatchObject({ commit, ref: 'refs/heads/other' });
  gitIn(folder, 'clone', '-q', '--separate-git-dir', 'elsewhere', root, 'separate');
  const separate = path.join(folder, 'separate');
  expect(readCheckedOut(separate).commit).toBe(commit);
  gitIn(separate, 'submodule', '--quiet', 'add', root, 'sub');
  expect(readCheckedOut(path.join(separate, 'sub')).commit).toBe(commit);
  rmSync(path.join(separate, '.git'));
  symlinkSync('../elsewhere', path.join(separate, '.git'));
  expect(readCheckedOut(separate).commit).toBe(commit);
});

it.each([
  ['https://github.com/octo/demo.git', 'octo/demo'],
  ['https://x-access-token:s3cret@github.com/octo/demo', 'octo/demo'],
  ['git@github.com:octo/demo.git', 'octo/demo'],
  ['https://s3cret@github.com/demo', ''],
  ['git@host:demo', ''],
])('a checkout is found with the name of the remote %s, and without its token', (url, repository) => {
  const { root, git } = makeRepository();
  git('remote', 'add', 'upstream', 'https://github.com/other/one.git');
  git('remote', 'add', 'origin', url);
  git('remote', 'add', 'last', 'https://github.com/other/two.git');
  expect(readCheckedOut(root).repository).toBe(repository);
});

const REF = 'ref: refs/heads/x';
it.each<[string, (git: string) => unknown]>([
  ['no checkout', () => undefined],
  ['a branch without a commit', (git) => putFiles(git, { HEAD: REF })],
  ['a path outside', (git) => putFiles(git, { HEAD: 'ref: refs/heads/../../../commit' })],
  ['a ref to itself', (git) => putFiles(git, { HEAD: REF, 'refs/heads/x': REF })],
  ['a symlink', (git) => symlinkSync('../commit', path.join(git, 'HEAD'))],
  ['a pipe', (git) => execFileSync('mkfifo', [path.join(git, 'HEAD')])],
  ['an invalid commit', (git) => putFiles(git, { HEAD: `${SHA}\n${SHA}` })],
])('there is no commit for %s', (_, write) => {
  mkdirSync(path.join(folder, '.git', 'refs', 'heads'), { recursive: true });
  putFiles(folder, { commit: SHA });
  write(path.join(folder, '.git'));
  expect(readCheckedOut(folder).commit).toBeNull();
});
