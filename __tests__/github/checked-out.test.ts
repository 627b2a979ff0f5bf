import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readCheckedOut } from '../../src/github/checked-out.ts';
import { gitIn } from '../sandbox/world.ts';
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
  return { root, git, expected: git('rev-parse', 'HEAD') };
}

describe('readCheckedOut finds the commit', () => {
  it.each(['sha1', 'sha256'] as const)('of loose and packed refs (%s)', (format) => {
    const { root, git, expected } = makeRepository(format);
    expect(readCheckedOut(root)).toBe(expected);
    git('pack-refs', '--all', '--prune');
    expect(readdirSync(path.join(root, '.git', 'refs', 'heads'))).toEqual([]);
    expect(readCheckedOut(root)).toBe(expected);
    git('checkout', '-q', '--detach');
    expect(readCheckedOut(root)).toBe(expected);
    git('checkout', '-q', '-b', 'feature/#1-ä+x');
    expect(readCheckedOut(root)).toBe(expected);
  });

  it('of a worktree, a submodule, and a separate git folder', () => {
    const { root, git, expected } = makeRepository();
    git('worktree', 'add', '-q', '-b', 'other', '../worktree');
    expect(readCheckedOut(path.join(folder, 'worktree'))).toBe(expected);
    gitIn(folder, 'clone', '-q', '--separate-git-dir', 'elsewhere', root, 'separate');
    expect(readCheckedOut(path.join(folder, 'separate'))).toBe(expected);
    gitIn(path.join(folder, 'separate'), 'submodule', '--quiet', 'add', root, 'sub');
    expect(readCheckedOut(path.join(folder, 'separate', 'sub'))).toBe(expected);
    rmSync(path.join(folder, 'separate', '.git'));
    symlinkSync('../elsewhere', path.join(folder, 'separate', '.git'));
    expect(readCheckedOut(path.join(folder, 'separate'))).toBe(expected);
  });
});

const headOf = (text: string) => (git: string) => writeFileSync(path.join(git, 'HEAD'), text);
const loop = (git: string) => {
  for (const file of ['HEAD', 'refs/heads/x']) writeFileSync(path.join(git, file), 'ref: refs/heads/x');
};
it.each<[string, (git: string) => unknown]>([
  ['no checkout', () => undefined],
  ['a branch without a commit', headOf('ref: refs/heads/x')],
  ['a path outside', headOf('ref: refs/heads/../../../commit')],
  ['a ref to itself', loop],
  ['a symlink', (git) => symlinkSync('../commit', path.join(git, 'HEAD'))],
  ['a pipe', (git) => execFileSync('mkfifo', [path.join(git, 'HEAD')])],
  ['an invalid commit', headOf(`${SHA}\n${SHA}`)],
])('returns null for %s', (_, write) => {
  mkdirSync(path.join(folder, '.git', 'refs', 'heads'), { recursive: true });
  writeFileSync(path.join(folder, 'commit'), SHA);
  write(path.join(folder, '.git'));
  expect(readCheckedOut(folder)).toBeNull();
});
