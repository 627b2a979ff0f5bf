import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change, FileChange } from '../../src/evidence/change.ts';
import { createCoverageMeter, type SeenResult } from '../../src/evidence/coverage.ts';
import { changeOf, diffOf, file, type HunkLines } from './files.ts';

const meterOf = (change: Change, subject = '') =>
  createCoverageMeter(change, { root: '/r', workingDirectory: '/r', subject, diffs: new Map() });
const read = (target: string, text: string): SeenResult => ({ tool: 'read_file', target, text });
const ran = (target: string, text: string): SeenResult => ({ tool: 'shell', target, text });
/** Numbers lines as read_file does. */
const numbered = (lines: readonly string[], first = 1) =>
  lines.map((line, at) => `${String(at + first).padStart(6)}\t${line}\n`).join('');

/** The paths that are not shown after some results. */
function unseen(change: Change, ...results: readonly SeenResult[]): readonly string[] {
  const meter = meterOf(change);
  for (const result of results) meter.observe(result);
  return meter.measure().files.unseen;
}

const header = ['+// Licensed under the Apache License', '+// See LICENSE for details'];
const both = changeOf(file('a.ts', [header]), file('b.ts', [header]));
const licence = header.map((line) => line.slice(1));
const text = `${licence.join('\n')}\n`;
const [one, two] = [file('a.ts', [['+one();', '+two();']]), file('x.patch', [['+diff --git a/a.ts b/a.ts']])];

it.each<[why: string, change: Change, result: SeenResult, unseen: readonly string[]]>([
  ['read_file of the other', both, read('a.ts', numbered(licence)), ['b.ts']],
  ['read_file of a file that is not changed', both, read('c.ts', numbered(licence)), ['a.ts', 'b.ts']],
  ['read_file without numbers', both, read('a.ts', text), ['a.ts', 'b.ts']],
  ['other numbers', both, read('a.ts', numbered(licence, 2)), ['a.ts', 'b.ts']],
  ['a command that names the other', both, ran('head -2 ./a.ts', text), ['b.ts']],
  ['a command that names the other in quotes', both, ran("head -2 'a.ts'", text), ['b.ts']],
  ['a command that names a file of its folder', both, ran('cd src; head -2 a.ts', text), ['a.ts', 'b.ts']],
  ['an unknown folder', both, ran('cd "$x" && cat a.ts', text), ['a.ts', 'b.ts']],
  ['no file', both, ran('head -2 $(ls)', text), ['a.ts', 'b.ts']],
  ['another name with the same end', both, ran('cat la.ts x/a.ts', text), ['a.ts', 'b.ts']],
  ['the diff of the other', both, ran('git diff', diffOf('a.ts', [header])), ['b.ts']],
  ['a path of the other', both, ran('grep -rn e', `b.ts:1:${licence[0]}\nb.ts:2:${licence[1]}\n`), ['a.ts']],
  [
    'a diff in a changed file',
    changeOf(one, two),
    read('x.patch', diffOf('a.ts', [['+one();']])),
    ['a.ts', 'x.patch'],
  ],
  [
    'one line of a file that has it elsewhere',
    changeOf(file('a.ts', [[' f();', '+return null;', ' g();']])),
    ran('cat a.ts', 'return null;\n'),
    ['a.ts'],
  ],
  [
    'the line with one beside it',
    changeOf(file('a.ts', [[' f();', '+return null;', ' g();']])),
    ran('cat a.ts', 'return null;\ng();\n'),
    [],
  ],
  [
    'a removed line that is still elsewhere',
    changeOf(file('a.ts', [[' f();', '-check();', ' g();']])),
    ran('cat a.ts', 'f();\ncheck();\ng();\n'),
    ['a.ts'],
  ],
  [
    'a file of one line',
    changeOf(file('VERSION', [['-1.0.0', '+1.1.0']])),
    ran('cat VERSION', '1.1.0\n'),
    [],
  ],
  [
    'a hunk header without its lines',
    both,
    ran('git diff', 'diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -0,0 +1,2 @@\n'),
    ['a.ts', 'b.ts'],
  ],
  [
    'a diff with other line numbers',
    both,
    ran('git diff', diffOf('a.ts', [header]).replace('+1,2', '+2,2')),
    ['a.ts', 'b.ts'],
  ],
])('shows nothing that was not shown: %s', (_, change, result, expected) => {
  expect(unseen(change, result)).toEqual(expected);
});

describe('of a hunk, nine tenths of the lines that are not blank', () => {
  const lines = (count: number, make: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => make(at));
  const code = lines(2_000, (at) => `const value${at} = ${at};`);
  const noise = [...lines(1_000, () => '//'), ...lines(990, (at) => `run(${at});`)];
  const odd = [...lines(800, (at) => '[]+'.repeat(at + 1)), 'one();', 'two();', 'three();'];
  const blanks = [...lines(90, (at) => `const a${at} = 1;`), ...lines(300, () => '  ')];
  it.each<[string, readonly string[], number, boolean]>([
    ['all', code, 2_000, true],
    ['nine tenths', code, 1_800, true],
    ['one line less', code, 1_799, false],
    ['two lines of a new file', code, 2, false],
    ['1,000 comments before the code', noise, 1_000, false],
    ['lines without a letter or digit, not shown', [...odd].reverse(), 3, false],
    ['blank lines do not count', blanks, 90, true],
  ])('%s', (_, added, count, isShown) => {
    const change = changeOf(file('a.ts', [added.map((line) => `+${line}`)]));
    const shown = added.slice(0, count);
    const expected = isShown ? [] : ['a.ts'];
    expect(unseen(change, read('a.ts', numbered(shown)))).toEqual(expected);
    expect(unseen(change, ran('git diff', diffOf('a.ts', [shown.map((line) => `+${line}`)])))).toEqual(
      expected,
    );
    if (!isShown) expect(unseen(change, ran('sed a.ts', `${shown.join('\n')}\n`))).toEqual(expected);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['that only removes: its removed lines', ['-check();', ' f();'], ['a.ts']],
    ['that adds a blank line: its removed lines', ['-check();', '+', ' f();'], ['a.ts']],
    ['that also adds: its added lines', ['-check();', '+other();', ' f();'], []],
  ])('%s', (_, hunk, expected) => {
    const change = changeOf(file('a.ts', [hunk]));
    const now = hunk.filter((line) => !line.startsWith('-')).map((line) => line.slice(1));
    expect(unseen(change, read('a.ts', numbered(now)))).toEqual(expected);
    expect(unseen(change, ran('git diff', diffOf('a.ts', [hunk])))).toEqual([]);
  });

  it('each hunk counts', () => {
    const change = changeOf(file('a.ts', [['+one();'], ['+two();']]));
    expect(unseen(change, read('a.ts', '     1\tone();\n'))).toEqual(['a.ts']);
    expect(unseen(change, read('a.ts', '     1\tone();\n   101\ttwo();\n'))).toEqual([]);
  });
});

describe('changes without lines', () => {
  const unit = (path: string, over: Partial<FileChange> = {}) => file(path, [], { kind: 'unit', ...over });
  const units = changeOf(unit('new "q".ts', { previous: 'old.ts' }), unit('run.sh'));
  it.each<[string, string, readonly string[]]>([
    ['our list', 'renamed\t+0\t-0\t"new \\"q\\".ts" (was old.ts)\nmodified\t+0\t-0\trun.sh\n', []],
    ['our list with line numbers', '     2\tmodified\t+0\t-0\trun.sh\n', ['new "q".ts']],
    ['git diff --name-status', 'R100\told.ts\t"new \\"q\\".ts"\nM\trun.sh\n', []],
    ['a header', 'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n', ['new "q".ts']],
    [
      'a rename',
      'diff --git a/old.ts "b/new \\"q\\".ts"\nrename from old.ts\nrename to "new \\"q\\".ts"\n',
      ['run.sh'],
    ],
    ['another line with its name', 'run.sh\n./run.sh\n', ['new "q".ts', 'run.sh']],
  ])('%s', (_, listed, expected) => {
    expect(unseen(units, ran('git diff', listed))).toEqual(expected);
  });
});

it('a file that becomes a link has lines, and a name', () => {
  const gone = file('a', [['-one();']], { isRemoved: true });
  const both = changeOf(gone, file('a', [], { kind: 'unit' }));
  expect(unseen(both, ran('git diff --name-status', 'T\ta\n'))).toEqual(['a']);
  expect(unseen(both, ran('git show base:a', 'one();\n'))).toEqual(['a']);
  expect(unseen(both, ran('git diff', diffOf('a', [['-one();']])))).toEqual([]);
});

it('says what does not have to be seen, and what is not known', () => {
  const change: Change = {
    files: [
      file('src/a.ts', [['+a1', '+}', '-b1']]),
      file('src/go.sum', [['+x1']]),
      file('image.png', [], { isBinary: true }),
      file('out.js', [['+x2']]),
      file('package-lock.json', []),
      file('renamed.lock', [['+x4']], { path: 'yarn.lock', previous: 'src/evil.ts' }),
      file('large.ts', [], { kind: 'unknown' }),
      file('moved.js', [['+x5']], { previous: 'src/auth.js' }),
    ],
    incomplete: null,
    marked: new Map([
      ['out.js', 'generated'],
      ['moved.js', 'generated'],
    ]),
  };
  const meter = meterOf(change);
  meter.observe(read('/r/src/a.ts', '     1\ta1\n     2\t}\n'));
  // A name is not enough for a file whose lines are not known.
  meter.observe(ran('git diff --name-status', 'M\tlarge.ts\n'));
  expect(meter.measure()).toEqual({
    ...{ status: 'measured', why: null },
    files: {
      ...{ changed: 8, required: 5, shown: 1 },
      unseen: ['package-lock.json', 'yarn.lock', 'large.ts', 'moved.js'],
      notRequired: [
        { path: 'src/go.sum', why: 'lock_file' },
        { path: 'image.png', why: 'binary' },
        { path: 'out.js', why: 'generated' },
      ],
    },
  });
  const outside = meterOf(change, 'src').measure().files;
  expect(outside.notRequired.map(({ path, why }) => `${path} ${why}`)).toEqual([
    'src/go.sum lock_file',
    ...['image.png', 'out.js', 'package-lock.json', 'large.ts'].map(
      (name) => `${name} outside_working_directory`,
    ),
  ]);
  expect(meterOf({ ...change, incomplete: 'Why.' }).measure()).toMatchObject({
    status: 'partial',
    why: 'Why.',
  });
});

describe('hostile texts', () => {
  const long = 'x'.repeat(2_000);
  it.each<[string, string, string]>([
    ['NUL, which the tools show as a sign', 'a\0b', 'a\u2400b'],
    ['a control character, as read_file shows it', 'a\x01b', 'a\\x01b'],
    ['a line that is cut', `${long}${'y'.repeat(5_000)}`, `${long} [… line cut]`],
    ['CR in a line', 'a\rb c', 'a\\x0db c'],
    ['CR at its end', 'a b c\r', 'a b c'],
    ['invalid UTF-8', 'a \ufffd b', 'a \ufffd b'],
    ['an unpaired surrogate', 'a \ud800', 'a \ufffd'],
    ['terminal sequences', 'return 1;', '\x1b[31mreturn\x1b[0m 1;\x1b[K'],
    ['terminal sequences in the file', 'return \x1b[31m1;', 'return \\x1b[31m1;'],
    ['a byte order mark', '\ufeffusing System;', 'using System;'],
  ])('%s', (_, changed, shown) => {
    const change = changeOf(file('a', [[`+${changed}`]]));
    expect(unseen(change, read('a', numbered([shown])))).toEqual([]);
    expect(unseen(change, ran('git diff', diffOf('a', [[`+${shown}`]])))).toEqual([]);
    expect(unseen(change, read('a', numbered([`z${shown}`])))).toEqual(['a']);
  });
});

describe('any change', () => {
  const plain = ['a1', 'b2', 'if (x) {', '}', '', 'return null;', '-x', '+y', '12:z', 'same', '@@ -1 +1 @@'];
  const word = fc.constantFrom(...plain, 'w'.repeat(2_100));
  const line = fc.tuple(fc.constantFrom(' ', '+', '-'), word).map(([mark, each]) => `${mark}${each}`);
  const hunk = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => [...lines, '+end1']);
  const changes = fc.array(fc.array(hunk, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
  const changeFrom = (files: readonly (readonly HunkLines[])[]) =>
    changeOf(...files.map((hunks, at) => file(`src/f${at}.ts`, hunks)));
  const runs = { numRuns: Number(process.env['FUZZ_RUNS'] ?? 300) };

  it('is shown by its own diff, as a whole, and nothing of it by that of other files', () => {
    fc.assert(
      fc.property(changes, (files) => {
        const texts = files.map((hunks, at) => diffOf(`src/f${at}.ts`, hunks));
        const change = changeFrom(files);
        expect(unseen(change, ran('git diff', texts.join('')))).toEqual([]);
        expect(unseen(change, ran('git diff', texts.slice(1).join('')))).toEqual(['src/f0.ts']);
      }),
      runs,
    );
  });

  it('is not shown by lines that were in no result', () => {
    const commands = fc.constantFrom('cat $x', 'cat src/f0.ts', 'git diff', 'cat src/f0.ts src/f1.ts');
    fc.assert(
      fc.property(changes, fc.array(fc.tuple(commands, fc.array(word))), (files, seen) => {
        const results = seen.map(([command, lines]) => ran(command, lines.join('\n')));
        expect(unseen(changeFrom(files), ...results)).toEqual(files.map((_, at) => `src/f${at}.ts`));
      }),
      runs,
    );
  });
});
