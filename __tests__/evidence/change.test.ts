/** Diffs as git makes them of real files, and patches as GitHub's API gives them. */
import { chmodSync, mkdtempSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseDiff, parsePatches } from '../../src/evidence/change.ts';
import type { ChangedFile } from '../../src/types.ts';
import { gitIn } from '../sandbox/world.ts';
import { makeFolder } from '../support/surroundings.ts';
import { commitChange } from '../support/worlds/pull-request.ts';

const root = makeFolder();
/** Returns the diff from the branch `main` to the files of a folder. */
function diffIn(folder: string): string {
  gitIn(folder, 'add', '-A');
  return gitIn(folder, 'diff', '--no-color', '--find-renames', '--cached', 'main');
}

const linesOf = (word: string) => Array.from({ length: 30 }, (_, at) => `${word} line ${at}\n`).join('');
const NAMES = ['a', 'ü "q"\t.txt', 'with blank', 'line\nbreak', 'a b/a', '-- a/x'];

it.each(NAMES)('reads the name %j in each kind of change', (name) => {
  const folder = mkdtempSync(`${root}/`);
  // Different texts, so that each file is moved to where it belongs.
  const kinds = ['changed', 'removed', 'moved', 'edited', 'mode'];
  const before = kinds.map((kind) => [`${kind}/${name}`, linesOf(kind)]);
  commitChange(folder, Object.fromEntries(before), {
    [`changed/${name}`]: linesOf('changed').replace('line 15', 'LINE'),
    ...Object.fromEntries(['removed', 'moved', 'edited'].map((kind) => [`${kind}/${name}`, null])),
    [`new moved/${name}`]: linesOf('moved'),
    [`new edited/${name}`]: linesOf('edited').slice(0, -20),
    [`binary/${name}.png`]: Buffer.from([0, 1, 2]),
    [`nul/${name}`]: Buffer.from([0, 1, 2]),
    [`empty/${name}`]: '',
  });
  chmodSync(path.join(folder, 'mode', name), 0o755);
  symlinkSync('elsewhere', path.join(folder, 'mode', `${name}.link`));
  const found = parseDiff(diffIn(folder)).map(({ path: at, kind, isRemoved, previous }) =>
    [at, kind, isRemoved ? 'removed' : (previous ?? '')].join(' | '),
  );
  expect(found.toSorted()).toEqual([
    `binary/${name}.png | binary | `,
    `changed/${name} | text | `,
    `empty/${name} | unit | `,
    `mode/${name} | unit | `,
    `mode/${name}.link | unit | `,
    `new edited/${name} | text | edited/${name}`,
    `new moved/${name} | unit | moved/${name}`,
    // git shows no lines of it, although nothing says that it is binary.
    `nul/${name} | unknown | `,
    `removed/${name} | text | removed`,
  ]);
});

it('counts the lines of a hunk, whatever they look like', () => {
  const folder = mkdtempSync(`${root}/`);
  const before = '-- a/b\ndiff --git a/b b/b\n@@ -1 +1 @@\n';
  commitChange(folder, { a: before }, { a: '++ b/b\r\nBinary files a and b differ' });
  const [found] = parseDiff(diffIn(folder)).flatMap(({ hunks }) => hunks);
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
  const folder = mkdtempSync(`${root}/`);
  const files = (word: string) => {
    const text = linesOf('a').replace('line 3', word).replace('line 20', word);
    return Object.fromEntries(NAMES.map((name) => [name, text]));
  };
  commitChange(folder, files('old'), files('new'));
  const text = diffIn(folder);
  const whole = new Map(parseDiff(text).map((file) => [file.path, file]));
  expect(whole.size).toBe(NAMES.length);
  const property = fc.property(fc.nat(text.length), (end) => {
    const cut = parseDiff(text.slice(0, end));
    for (const file of cut.slice(0, -1)) expect(file).toEqual(whole.get(file.path));
  });
  fc.assert(property, { numRuns: Number(process.env['FUZZ_RUNS'] ?? 300) });
});

const patched: ChangedFile = {
  ...{ path: 'a', previous: '', status: 'modified', additions: 1, deletions: 1, blob: 'b' },
  patch: '@@ -1 +1 @@\n-old\n+new\n\\ No newline at end of file',
};
const none = { patch: null, additions: 0, deletions: 0 };

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
])("a patch of GitHub's API: %s", (_, over, kind) => {
  const [file] = parsePatches([{ ...patched, ...over }]);
  expect([file?.kind, (file?.hunks.length ?? 0) > 0]).toEqual([kind, kind === 'text']);
});
