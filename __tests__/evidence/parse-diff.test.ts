import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FileChange } from '../../src/evidence/change.ts';
import { mergeBinaries, type PatchRow, parseDiff, parsePatches } from '../../src/evidence/parse-diff.ts';

const git = (folder: string, ...args: readonly string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  });

/** Makes a repository, changes it and returns its diff. */
function diffOf(
  before: (folder: string) => void,
  after: (folder: string) => void,
  ...flags: string[]
): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'diff-'));
  try {
    git(folder, 'init', '-q');
    before(folder);
    git(folder, 'add', '-A');
    git(folder, 'commit', '-qm', 'a', '--allow-empty');
    after(folder);
    git(folder, 'add', '-A');
    return git(folder, 'diff', '--no-color', '--find-renames', ...flags, '--cached');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A file with the lines of its hunks. */
function readAll(file: FileChange) {
  const hunks = file.hunks.map(({ oldStart, newStart, lineCount, lines }) => ({
    ...{ oldStart, newStart, lineCount, lines: lines() },
  }));
  return { ...file, hunks };
}

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join('');
const NAMES = ['a', 'ü "q"\t.txt', 'with blank', 'line\nbreak', 'a b/a', '-- a/x'];

describe('git diff', () => {
  const write = (folder: string, name: string, text: string | Buffer) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  };

  it.each(NAMES)('reads the name %j in each kind of change', (name) => {
    const kinds = ['changed', 'removed', 'moved', 'moved and changed', 'mode', 'binary'];
    const text = diffOf(
      (folder) => {
        // Different texts, so that each file is moved to where it belongs.
        for (const kind of kinds) write(folder, `${kind}/${name}`, LINES.replaceAll('line', `${kind} line`));
      },
      (folder) => {
        const at = (kind: string) => path.join(folder, kind, name);
        write(folder, `changed/${name}`, LINES.replaceAll('line', 'changed line').replace('line 15', 'LINE'));
        rmSync(at('removed'));
        for (const kind of ['moved', 'moved and changed']) {
          mkdirSync(path.dirname(at(`new ${kind}`)), { recursive: true });
          renameSync(at(kind), at(`new ${kind}`));
        }
        write(
          folder,
          `new moved and changed/${name}`,
          LINES.replaceAll('line', 'moved and changed line').slice(0, -20),
        );
        chmodSync(at('mode'), 0o755);
        write(folder, `binary/${name}`, Buffer.from([0, 1, 2]));
        write(folder, `empty/${name}`, '');
        mkdirSync(path.dirname(at('link')), { recursive: true });
        symlinkSync('elsewhere', at('link'));
      },
    );
    const files = parseDiff(text);
    const found = new Map(files.map((file) => [file.path, file]));
    const kindOf = (folder: string) => {
      const { kind, isRemoved, isBinary, previous } = found.get(`${folder}/${name}`) ?? {};
      return [kind, isRemoved, isBinary, previous];
    };
    expect(files).toHaveLength(8);
    expect(kindOf('changed')).toEqual(['text', false, false, null]);
    expect(kindOf('removed')).toEqual(['text', true, false, null]);
    expect(kindOf('new moved')).toEqual(['unit', false, false, `moved/${name}`]);
    expect(kindOf('new moved and changed')).toEqual(['text', false, false, `moved and changed/${name}`]);
    expect(kindOf('mode')).toEqual(['unit', false, false, null]);
    expect(kindOf('binary')).toEqual(['unit', false, true, null]);
    expect(kindOf('empty')).toEqual(['unit', false, false, null]);
    expect(kindOf('link')).toEqual(['unit', false, false, null]);
  });

  it('counts the lines of a hunk, whatever they look like', () => {
    const text = diffOf(
      (folder) => write(folder, 'a', '-- a/b\ndiff --git a/b b/b\n@@ -1 +1 @@\n'),
      (folder) => write(folder, 'a', '++ b/b\r\nBinary files a and b differ'),
    );
    const lines = [
      '--- a/b',
      '-diff --git a/b b/b',
      '-@@ -1 +1 @@',
      '+++ b/b',
      '+Binary files a and b differ',
    ];
    expect(parseDiff(text).map(readAll)).toEqual([
      {
        ...{ path: 'a', previous: null, kind: 'text', isRemoved: false, isBinary: false },
        hunks: [{ oldStart: 1, newStart: 1, lineCount: 5, lines }],
      },
    ]);
  });

  it('takes the lines of a source file with a NUL from the second diff, and leaves a real binary', () => {
    const change = (folder: string) => {
      write(folder, 'source.ts', `${LINES}\0`);
      write(folder, 'image', Buffer.from(Array.from({ length: 999 }, (_, at) => (at * 37) % 256)));
    };
    const [first, second] = [[], ['--text']].map((flags) => diffOf(() => undefined, change, ...flags));
    const files = parseDiff(first ?? '');
    expect(files.map(({ isBinary }) => isBinary)).toEqual([true, true]);
    const merged = mergeBinaries(files, parseDiff(second ?? ''));
    expect(merged.map(({ path, kind, isBinary }) => [path, kind, isBinary])).toEqual([
      ['image', 'unit', true],
      ['source.ts', 'text', false],
    ]);
    expect(merged[1]?.hunks[0]?.lines()).toHaveLength(31);
    expect(mergeBinaries(files, []).map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
  });

  it('never takes a part of a file for the whole', () => {
    const text = diffOf(
      (folder) => {
        for (const name of NAMES) write(folder, name, LINES);
      },
      (folder) => {
        for (const name of NAMES) write(folder, name, LINES.replace('line 3', 'x').replace('line 20', 'y'));
      },
    );
    const whole = parseDiff(text);
    expect(whole).toHaveLength(NAMES.length);
    fc.assert(
      fc.property(fc.nat(text.length), (end) => {
        const cut = parseDiff(text.slice(0, end), true);
        const last = cut.at(-1);
        for (const file of cut) {
          const known = whole.find(({ path }) => path === file.path);
          if (file === last)
            expect([file.kind, file.hunks.length, known === undefined]).toEqual(['unknown', 0, false]);
          else expect(readAll(file)).toEqual(known && readAll(known));
        }
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 200) },
    );
  });
});

describe("a patch of GitHub's API", () => {
  const row = (over: Partial<PatchRow>): PatchRow => ({
    ...{ path: 'a', previous: '', status: 'modified', additions: 1, deletions: 1, blob: 'b' },
    ...{ patch: '@@ -1 +1 @@\n-old\n+new\n\\ No newline at end of file' },
    ...over,
  });
  const none = { patch: null, additions: 0, deletions: 0 };
  const empty = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
  it.each<[string, Partial<PatchRow>, string]>([
    ['whole', {}, 'text'],
    ['removed', { status: 'removed', additions: 0, patch: '@@ -1 +0,0 @@\n-old' }, 'text'],
    ['a patch with fewer lines than counted', { additions: 2 }, 'unknown'],
    ['a patch that ends in a hunk', { patch: '@@ -1,9 +1,9 @@\n-old\n+new' }, 'unknown'],
    ['a text that is no patch', { patch: 'new' }, 'unknown'],
    ['none, with lines', { patch: null }, 'unknown'],
    ['none, a rename', { ...none, status: 'renamed', previous: 'b' }, 'unit'],
    ['none, an empty file', { ...none, status: 'added', blob: empty }, 'unit'],
    ['none, a file that was removed', { ...none, status: 'removed' }, 'unit'],
    ['none, a mode or a binary file', none, 'unknown'],
  ])('%s', (_, over, kind) => {
    const [file] = parsePatches([row(over)]);
    expect([file?.kind, (file?.hunks.length ?? 0) > 0]).toEqual([kind, kind === 'text']);
  });

  it('does not believe a rename where the change edits .gitattributes', () => {
    const rows = [row({ ...none, status: 'renamed', previous: 'b' }), row({ path: 'x/.gitattributes' })];
    expect(parsePatches(rows).map(({ kind }) => kind)).toEqual(['unknown', 'text']);
  });
});
