/** Diffs as git makes them of real files, and patches as GitHub's API gives them. */
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDiff, parsePatches } from '../../src/evidence/change.ts';
import type { ChangedFile } from '../../src/types.ts';
import { gitIn } from '../sandbox/world.ts';
import { makeFolder } from '../support/surroundings.ts';
import { commitChange } from '../support/worlds/pull-request.ts';

const root = makeFolder();
type Files = Readonly<Record<string, string | Buffer | null>>;

/** Makes a repository of files, changes them and returns the diff. */
function diffBetween(
  before: Record<string, string>,
  after: Files,
  more: (folder: string) => void = () => undefined,
): string {
  const folder = mkdtempSync(path.join(root, 'diff-'));
  commitChange(folder, before, after);
  more(folder);
  gitIn(folder, 'add', '-A');
  return gitIn(folder, 'diff', '--no-color', '--find-renames', '--cached', 'main');
}

const linesOf = (word: string) => Array.from({ length: 30 }, (_, at) => `${word} line ${at}\n`).join('');
const NAMES = ['a', 'ü "q"\t.txt', 'with blank', 'line\nbreak', 'a b/a', '-- a/x'];

describe('git diff', () => {
  it.each(NAMES)('reads the name %j in each kind of change', (name) => {
    // Different texts, so that each file is moved to where it belongs.
    const kinds = ['changed', 'removed', 'moved', 'edited', 'mode'];
    const before = kinds.map((kind) => [`${kind}/${name}`, linesOf(kind)]);
    const after = {
      [`changed/${name}`]: linesOf('changed').replace('line 15', 'LINE'),
      ...Object.fromEntries(['removed', 'moved', 'edited'].map((kind) => [`${kind}/${name}`, null])),
      [`new moved/${name}`]: linesOf('moved'),
      [`new edited/${name}`]: linesOf('edited').slice(0, -20),
      [`binary/${name}.png`]: Buffer.from([0, 1, 2]),
      [`nul/${name}`]: Buffer.from([0, 1, 2]),
      [`empty/${name}`]: '',
    };
    const text = diffBetween(Object.fromEntries(before), after, (folder) => {
      chmodSync(path.join(folder, 'mode', name), 0o755);
      mkdirSync(path.join(folder, 'link', path.dirname(name)), { recursive: true });
      symlinkSync('elsewhere', path.join(folder, 'link', name));
    });
    const found = parseDiff(text).map(({ path: at, kind, isRemoved, previous }) =>
      [at, kind, isRemoved ? 'removed' : (previous ?? '')].join(' | '),
    );
    expect(found.toSorted()).toEqual([
      `binary/${name}.png | binary | `,
      `changed/${name} | text | `,
      `empty/${name} | unit | `,
      `link/${name} | unit | `,
      `mode/${name} | unit | `,
      `new edited/${name} | text | edited/${name}`,
      `new moved/${name} | unit | moved/${name}`,
      // git shows no lines of it, although nothing says that it is binary.
      `nul/${name} | unknown | `,
      `removed/${name} | text | removed`,
    ]);
  });

  it('counts the lines of a hunk, whatever they look like', () => {
    const before = { a: '-- a/b\ndiff --git a/b b/b\n@@ -1 +1 @@\n' };
    const text = diffBetween(before, { a: '++ b/b\r\nBinary files a and b differ' });
    const [found] = parseDiff(text).flatMap(({ hunks }) => hunks);
    expect(found?.map(({ number, mark, text: rest }) => `${number} ${mark}${rest}`)).toEqual([
      '-1 --- a/b',
      '-2 -diff --git a/b b/b',
      '-3 -@@ -1 +1 @@',
      '1 +++ b/b\r',
      '2 +Binary files a and b differ',
    ]);
  });

  it('leaves out no file whose header it does not understand', () => {
    const copied = 'diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n';
    expect(parseDiff(copied).map((file) => file.path)).toEqual(['a/x b/y']);
  });

  it('reads the files before the one that is cut', () => {
    const files = (one: string, two: string) =>
      Object.fromEntries(
        NAMES.map((name) => [name, linesOf('a').replace('line 3', one).replace('line 20', two)]),
      );
    const text = diffBetween(files('a', 'b'), files('x', 'y'));
    const whole = new Map(parseDiff(text).map((file) => [file.path, file]));
    expect(whole.size).toBe(NAMES.length);
    fc.assert(
      fc.property(fc.nat(text.length), (end) => {
        const cut = parseDiff(text.slice(0, end));
        for (const file of cut.slice(0, -1)) expect(file).toEqual(whole.get(file.path));
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 300) },
    );
  });
});

const patched: ChangedFile = {
  ...{ path: 'a', previous: '', status: 'modified', additions: 1, deletions: 1, blob: 'b' },
  patch: '@@ -1 +1 @@\n-old\n+new\n\\ No newline at end of file',
};
const none = { patch: null, additions: 0, deletions: 0 };

describe("a patch of GitHub's API", () => {
  it.each<[string, Partial<ChangedFile>, string]>([
    ['whole', {}, 'text'],
    ['removed', { status: 'removed', additions: 0, patch: '@@ -1 +0,0 @@\n-old' }, 'text'],
    ['a patch with fewer lines than counted', { additions: 2 }, 'unknown'],
    ['a patch that ends in a hunk', { patch: '@@ -1,9 +1,9 @@\n-old\n+new' }, 'unknown'],
    ['more lines than its header counts', { patch: '@@ -1 +1,2 @@\n-a\n-b\n+c\n+d' }, 'unknown'],
    ['a text that is no patch', { patch: 'new' }, 'unknown'],
    ['none, with lines', { patch: null }, 'unknown'],
    ['none, a rename', { ...none, status: 'renamed', previous: 'b' }, 'unit'],
    ['none, a new file', { ...none, status: 'added' }, 'unknown'],
    ['none, a file that was removed', { ...none, status: 'removed' }, 'unit'],
    ['none, a mode or a binary file', none, 'unknown'],
  ])('%s', (_, over, kind) => {
    const [file] = parsePatches([{ ...patched, ...over }]);
    expect([file?.kind, (file?.hunks.length ?? 0) > 0]).toEqual([kind, kind === 'text']);
  });
});
