import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { readCheckedOut } from '../../src/github/checked-out.ts';
import { makeFolder } from '../support/surroundings.ts';
import { gitIn } from '../support/worlds/checkout.ts';

const SHA = 'a'.repeat(40);
const folders = makeFolder();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(folders, 'checked-out-'));
});

/** A repository at `folder`/repo whose HEAD merges `topic` into `main`. */
function makeMerge(format: 'sha1' | 'sha256' = 'sha1') {
  const root = path.join(folder, 'repo');
  mkdirSync(root);
  const git = gitIn(root);
  git('init', '-q', '-b', 'main', `--object-format=${format}`);
  git('commit', '-q', '--allow-empty', '-m', 'base');
  git('checkout', '-q', '-b', 'topic');
  git('commit', '-q', '--allow-empty', '-m', 'topic');
  git('checkout', '-q', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'main');
  git('merge', '-q', '--no-ff', '-m', `merge\n\nparent ${SHA}`, 'topic');
  const expected = { sha: git('rev-parse', 'HEAD'), parents: git('log', '-1', '--format=%P').split(' ') };
  expect(expected.parents).toHaveLength(2);
  return { root, git, expected };
}

describe('readCheckedOut finds the commit and its parents', () => {
  it.each(['sha1', 'sha256'] as const)('in loose and packed objects and refs (%s)', (format) => {
    const { root, git, expected } = makeMerge(format);
    expect(readCheckedOut(root)).toEqual(expected);
    git('pack-refs', '--all', '--prune');
    git('gc', '-q', '--prune=now');
    expect(readdirSync(path.join(root, '.git', 'refs', 'heads'))).toEqual([]);
    expect(readCheckedOut(root)).toEqual(expected);
    git('checkout', '-q', '--detach');
    expect(readCheckedOut(root)).toEqual(expected);
    git('checkout', '-q', '-b', 'feature/#1-ä+x');
    expect(readCheckedOut(root)).toEqual(expected);
  });

  it('in a shallow clone, which does not contain the parents', () => {
    const { root, expected } = makeMerge();
    gitIn(folder)('clone', '-q', '--depth=1', `file://${root}`, 'shallow');
    expect(gitIn(path.join(folder, 'shallow'))('rev-list', '--count', 'HEAD')).toBe('1');
    expect(readCheckedOut(path.join(folder, 'shallow'))).toEqual(expected);
  });

  it('in a worktree, a submodule, and with a separate git folder', () => {
    const { root, git, expected } = makeMerge();
    git('worktree', 'add', '-q', '-b', 'other', '../worktree');
    expect(readCheckedOut(path.join(folder, 'worktree'))).toEqual(expected);
    gitIn(folder)('clone', '-q', '--separate-git-dir', 'elsewhere', root, 'separate');
    expect(readCheckedOut(path.join(folder, 'separate'))).toEqual(expected);
    const outer = gitIn(path.join(folder, 'separate'));
    outer('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', root, 'sub');
    expect(readCheckedOut(path.join(folder, 'separate', 'sub'))).toEqual(expected);
    rmSync(path.join(folder, 'separate', '.git'));
    symlinkSync('../elsewhere', path.join(folder, 'separate', '.git'));
    expect(readCheckedOut(path.join(folder, 'separate'))).toEqual(expected);
  });

  it('in a pack with commits as deltas, by offset or by name', () => {
    const { root, git } = makeMerge();
    // Text that compresses well is not stored as a delta.
    const line = (count: number) => createHash('sha256').update(String(count)).digest('base64');
    const long = Array.from({ length: 200 }, (_, count) => line(count)).join('\n');
    for (let count = 0; count < 8; count += 1)
      git('commit', '-q', '--allow-empty', '-m', `${long}\n${count}`);
    for (const byPlace of [true, false]) {
      git('-c', `repack.useDeltaBaseOffset=${byPlace}`, 'repack', '-q', '-adf', '--depth=20', '--window=50');
      const [index = ''] = readdirSync(path.join(root, '.git/objects/pack')).filter((name) =>
        name.endsWith('.idx'),
      );
      const listed = git('verify-pack', '-v', path.join('.git/objects/pack', index));
      const commits = git('rev-list', 'main').split('\n');
      const deltas = commits.filter((commit) =>
        new RegExp(`^${commit} commit.*[0-9a-f]{40}$`, 'mu').test(listed),
      );
      expect(deltas.length).toBeGreaterThan(3);
      for (const sha of commits) {
        git('checkout', '-q', '--detach', sha);
        const parents = git('log', '-1', '--format=%P').split(' ').filter(Boolean);
        expect(readCheckedOut(root)).toEqual({ sha, parents });
      }
    }
  });
});

it('reads the packs of a checkout up to a limit, wherever the commit is', () => {
  const { root, git, expected } = makeMerge();
  git('gc', '-q', '--prune=now');
  const packs = path.join(root, '.git', 'objects', 'pack');
  // A commit of 1 MiB, and a delta to it that exceeds the limit, which its size does not show.
  const size = 1024 * 1024;
  const [zeros, header] = [
    deflateSync(Buffer.alloc(size)),
    (type: number) => [0x80 | (type << 4), 0x80, 0x80, 4],
  ];
  const base = Buffer.concat([Buffer.from(header(1)), zeros]);
  const back = [0x80 | ((base.length >> 7) - 1), base.length & 0x7f];
  const pack = Buffer.concat([base, Buffer.from([...header(6), ...back]), zeros]);
  const number = (value: number) => Buffer.from([0, 0, value >> 8, value & 0xff]);
  const first = Number.parseInt(expected.sha.slice(0, 2), 16);
  const index = Buffer.concat([
    Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]),
    ...Array.from({ length: 256 }, (_, byte) => number(byte < first ? 0 : 1)),
    Buffer.from(expected.sha, 'hex'),
    number(0),
    number(base.length),
  ]);
  const addPacks = (from: number, to: number) => {
    for (let count = from; count < to; count += 1) {
      writeFileSync(path.join(packs, `a${count}.idx`), index);
      writeFileSync(path.join(packs, `a${count}.pack`), pack);
    }
  };
  addPacks(0, 3);
  expect(readCheckedOut(root)).toEqual(expected);
  addPacks(3, 20);
  expect(readCheckedOut(root)).toEqual({ sha: expected.sha, parents: null });
});

it('a misplaced or broken object has no known parents', () => {
  const { root, git, expected } = makeMerge();
  const place = (sha: string) => path.join(root, '.git', 'objects', sha.slice(0, 2), sha.slice(2));
  const other = git('rev-parse', 'topic');
  const bytes = readFileSync(place(expected.sha));
  rmSync(place(expected.sha), { force: true });
  copyFileSync(place(other), place(expected.sha));
  expect(readCheckedOut(root)).toEqual({ sha: expected.sha, parents: null });
  for (let end = 0; end < bytes.length; end += 7) {
    rmSync(place(expected.sha), { force: true });
    writeFileSync(place(expected.sha), bytes.subarray(0, end));
    expect(readCheckedOut(root)).toEqual({ sha: expected.sha, parents: null });
  }
});

it.each([
  ['no checkout', () => undefined],
  ['a branch without a commit', (git: string) => writeFileSync(path.join(git, 'HEAD'), 'ref: refs/heads/x')],
  [
    'a path outside',
    (git: string) => writeFileSync(path.join(git, 'HEAD'), 'ref: refs/heads/../../../commit'),
  ],
  [
    'a ref to itself',
    (git: string) => {
      for (const file of ['HEAD', 'refs/heads/x']) writeFileSync(path.join(git, file), 'ref: refs/heads/x');
    },
  ],
  ['a symlink', (git: string) => symlinkSync('../commit', path.join(git, 'HEAD'))],
  ['a pipe', (git: string) => execFileSync('mkfifo', [path.join(git, 'HEAD')])],
  ['an invalid commit', (git: string) => writeFileSync(path.join(git, 'HEAD'), `${SHA}\n${SHA}`)],
])('returns null for %s', (_, write) => {
  mkdirSync(path.join(folder, '.git', 'refs', 'heads'), { recursive: true });
  writeFileSync(path.join(folder, 'commit'), SHA);
  write(path.join(folder, '.git'));
  expect(readCheckedOut(folder)).toBeNull();
});
