import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkedOutCommit } from '../../src/github/checked-out.ts';

const SHA = 'a'.repeat(40);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'checked-out-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("of git's own checkouts is the commit, on a branch or on none", () => {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
    }).trim();
  git('init', '-q', '-b', 'feature/x');
  git('commit', '-q', '--allow-empty', '-m', 'x');
  const commit = git('rev-parse', 'HEAD');
  expect(checkedOutCommit(folder)).toBe(commit);
  git('checkout', '-q', '--detach');
  expect(checkedOutCommit(folder)).toBe(commit);
});

it.each([
  ['no checkout', () => undefined],
  ['a branch without a commit', (git: string) => writeFileSync(path.join(git, 'HEAD'), 'ref: refs/heads/x')],
  ['a way out', (git: string) => writeFileSync(path.join(git, 'HEAD'), 'ref: refs/heads/../../../commit')],
  ['a link', (git: string) => symlinkSync('../commit', path.join(git, 'HEAD'))],
  ['what is no commit', (git: string) => writeFileSync(path.join(git, 'HEAD'), `${SHA}\n${SHA}`)],
])('of %s is not known', (_, write) => {
  mkdirSync(path.join(folder, '.git', 'refs', 'heads'), { recursive: true });
  writeFileSync(path.join(folder, 'commit'), SHA);
  write(path.join(folder, '.git'));
  expect(checkedOutCommit(folder)).toBeNull();
});
