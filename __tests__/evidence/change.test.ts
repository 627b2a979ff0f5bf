import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDiff, parsePatches, wholeFile } from '../../src/evidence/change.ts';
import type { ChangedFile } from '../../src/types.ts';

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

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join('');
const NAMES = ['a', 'ü "q"\t.txt', 'with blank', 'line\nbreak', 'a b/a', '-- a/x'];

describe('git diff', () => {
  const write = (folder: string, name: string, text: string | Buffer) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  };

  it.each(NAMES)('reads the name %j in each kind of change', (name) => {
    const kinds = ['changed', 'removed', 'moved', 'moved and changed', 'mode'];
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
        write(folder, `binary/${name}.png`, Buffer.from([0, 1, 2]));
        write(folder, `nul/${name}`, Buffer.from([0, 1, 2]));
        write(folder, `empty/${name}`, '');
        mkdirSync(path.dirname(at('link')), { recursive: true });
        symlinkSync('elsewhere', at('link'));
      },
    );
    const files = parseDiff(text);
    const found = new Map(files.map((file) => [file.path, file]));
    const kindOf = (folder: string, suffix = '') => {
      const { kind, isRemoved, isBinary, previous } = found.get(`${folder}/${name}${suffix}`) ?? {};
      return [kind, isRemoved, isBinary, previous];
    };
    expect(files).toHaveLength(9);
    expect(kindOf('changed')).toEqual(['text', false, false, null]);
    expect(kindOf('removed')).toEqual(['text', true, false, null]);
    expect(kindOf('new moved')).toEqual(['unit', false, false, `moved/${name}`]);
    expect(kindOf('new moved and changed')).toEqual(['text', false, false, `moved and changed/${name}`]);
    expect(kindOf('mode')).toEqual(['unit', false, false, null]);
    expect(kindOf('binary', '.png')).toEqual(['unit', false, true, null]);
    // git shows no lines of it, although nothing says that it is binary.
    expect(kindOf('nul')).toEqual(['unknown', false, false, null]);
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
      '+++ b/b\r',
      '+Binary files a and b differ',
    ];
    expect(parseDiff(text).map(({ hunks }) => hunks)).toEqual([[{ oldStart: 1, newStart: 1, lines }]]);
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
          else expect(file).toEqual(known);
        }
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 200) },
    );
  });
});

describe("a patch of GitHub's API", () => {
  const row = (over: Partial<ChangedFile>): ChangedFile => ({
    ...{ path: 'a', previous: '', status: 'modified', additions: 1, deletions: 1, blob: 'b' },
    ...{ patch: '@@ -1 +1 @@\n-old\n+new\n\\ No newline at end of file' },
    ...over,
  });
  const none = { patch: null, additions: 0, deletions: 0 };
  it.each<[string, Partial<ChangedFile>, string]>([
    ['whole', {}, 'text'],
    ['removed', { status: 'removed', additions: 0, patch: '@@ -1 +0,0 @@\n-old' }, 'text'],
    ['a patch with fewer lines than counted', { additions: 2 }, 'unknown'],
    ['a patch that ends in a hunk', { patch: '@@ -1,9 +1,9 @@\n-old\n+new' }, 'unknown'],
    ['a text that is no patch', { patch: 'new' }, 'unknown'],
    ['none, with lines', { patch: null }, 'unknown'],
    ['none, a rename', { ...none, status: 'renamed', previous: 'b' }, 'unit'],
    ['none, a new file', { ...none, status: 'added' }, 'unknown'],
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

  it('that is missing makes the whole file the hunk', () => {
    const [file] = parsePatches([row({ ...none })]);
    const whole = file === undefined ? undefined : wholeFile(file, 'one\ntwo\n');
    expect([whole?.kind, whole?.hunks]).toEqual([
      'text',
      [{ oldStart: 0, newStart: 1, lines: ['+one', '+two'] }],
    ]);
  });
});
