/** What shows a line and what does not, by texts made for it. Real ways to read are in coverage-ways.test.ts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change, FileChange } from '../../src/evidence/change.ts';
import { createCoverageMeter, type SeenResult } from '../../src/evidence/coverage.ts';
import type { NotRequired } from '../../src/types.ts';
import { changeOf, diffOf, file, type HunkLines } from './files.ts';

const meterOf = (change: Change, subject = '', diff = '') =>
  createCoverageMeter(change, {
    ...{ root: '/r', workingDirectory: '/r', subject },
    diff: { path: '/r.diff', text: diff },
  });
const read = (target: string, text: string): SeenResult => ({ tool: 'read_file', target, text });
const ran = (target: string, text: string): SeenResult => ({ tool: 'shell', target, text });
const diffed = (path: string, hunks: readonly HunkLines[]) => ran('git diff', diffOf(path, hunks));
/** Numbers lines as read_file does. */
const numbered = (lines: readonly string[], first = 1) =>
  lines.map((line, at) => `${String(at + first).padStart(6)}\t${line}\n`).join('');

/** The paths that are not shown after a result. */
function unseen(change: Change, ...results: readonly SeenResult[]): readonly string[] {
  const meter = meterOf(change);
  for (const result of results) meter.observe(result);
  return meter.measure().files.unseen;
}

const header = ['+// Licensed under the Apache License', '+// See LICENSE for details'];
const both = changeOf(file('a.ts', [header]), file('b.ts', [header]));
const licence = header.map((line) => line.slice(1));
const grepped = licence.map((line, at) => `b.ts:${at + 1}:${line}\n`).join('');
const patch = changeOf(file('a.ts', [header]), file('x.patch', [['+diff --git a/a.ts b/a.ts']]));
const whole = diffOf('a.ts', [header]);
const empty = whole.replace(/^\+\/.*/gm, '');
const cut = whole.replace('\n+// See', '\n[cut]\n+// See');
const long = 'x'.repeat(2_000);
const behind = cut.replace('[cut]', '[cut]\n@@ -0,0 +1,2 @@\n+// Licensed under the Apache License');

it.each<[why: string, change: Change, result: SeenResult, unseen: readonly string[]]>([
  ['read_file of the other', both, read('a.ts', numbered(licence)), ['b.ts']],
  ['other numbers', both, read('a.ts', numbered(licence, 2)), ['a.ts', 'b.ts']],
  ['a command that names the other', both, ran("head -2 'a.ts'", licence.join('\n')), ['b.ts']],
  ['a command in another folder', both, ran('cd src; cat a.ts', licence.join('\n')), ['a.ts', 'b.ts']],
  ['another name with the same end', both, ran('cat la.ts x/a.ts', licence.join('\n')), ['a.ts', 'b.ts']],
  ['a path of the other', both, ran('grep -rn e', grepped), ['a.ts']],
  ['a path in another folder', both, ran('git -C src grep -n e', grepped), ['a.ts', 'b.ts']],
  ['a hunk header without its lines', both, ran('git diff', empty), ['a.ts', 'b.ts']],
  ['a diff of other lines', both, diffed('a.ts', [[' x', ...header]]), ['a.ts', 'b.ts']],
  ['a line that is cut', changeOf(file('a.ts', [[`+${long}y`]])), read('a.ts', numbered([long])), ['a.ts']],
  ['a diff in a file', patch, read('x.patch', numbered(whole.split('\n'))), ['a.ts']],
  ['what stands behind a cut', both, ran('git diff', cut), ['a.ts', 'b.ts']],
  ['a hunk that stands behind a cut', both, ran('git diff', behind), ['a.ts', 'b.ts']],
])('shows nothing that was not shown: %s', (_, change, result, expected) => {
  expect(unseen(change, result)).toEqual(expected);
});

it.each<[why: string, hunks: readonly HunkLines[], shown: readonly string[], isShown: boolean]>([
  ['a line that is elsewhere, too', [[' f();', '+return null;', ' g();']], ['return null;'], false],
  ['it with one beside it', [[' f();', '+return null;', ' g();']], ['return null;', 'g();'], true],
  ['removed lines', [[' f();', '-check();', '-more();']], ['check();', 'more();', 'check();'], false],
  ['a line that is there twice', [['+run();', '+}', ' x();', ' run();', ' }']], ['run();', '}'], false],
  ['a short line, and a blank one', [[' f();', '+}', ' ']], ['}', '', ''], false],
  [
    'a line between two',
    [
      ['+one();', '+}'],
      ['+}', '+two();'],
    ],
    ['one();', '}', 'two();'],
    false,
  ],
  ['a short line before one that is like no other', [['+}', '+one();']], ['}', 'one();'], false],
  ['a short line behind one', [['+one();', '+}']], ['one();', '}'], true],
  ['the header of a diff', [['+--- The', '+one()', '+++ -1']], ['--- The', 'one()', '++ -1'], true],
])('the output of a command that names the file has %s', (_, hunks, shown, isShown) => {
  const result = ran('cat a.ts', shown.join('\n'));
  expect(unseen(changeOf(file('a.ts', hunks)), result)).toEqual(isShown ? [] : ['a.ts']);
});

describe('of a hunk, nine tenths of the lines that are not blank', () => {
  const lines = (count: number, make: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => make(at));
  const code = lines(2_000, (at) => `const value${at} = ${at};`);
  const noise = [...lines(1_000, () => '//'), ...lines(990, (at) => `run(${at});`)];
  const odd = ['three();', 'two();', 'one();', ...lines(800, (at) => '[]+'.repeat(801 - at))];
  const blanks = [...lines(90, (at) => `const a${at} = 1;`), ...lines(300, () => '  ')];
  it.each<[string, readonly string[], number, boolean]>([
    ['nine tenths', code, 1_800, true],
    ['one line less', code, 1_799, false],
    ['two lines of a new file', code, 2, false],
    ['1,000 comments before the code', noise, 1_000, false],
    ['lines without a letter or digit, not shown', odd, 3, false],
    ['blank lines do not count', blanks, 90, true],
  ])('%s', (_, all, count, isShown) => {
    const change = changeOf(file('a.ts', [all.map((line) => `+${line}`)]));
    const shown = all.slice(0, count);
    const ways = [
      read('a.ts', numbered(shown)),
      diffed('a.ts', [shown.map((line) => `+${line}`)]),
      ran('sed a.ts', `${shown.join('\n')}\n`),
    ];
    for (const way of ways) expect(unseen(change, way)).toEqual(isShown ? [] : ['a.ts']);
  });

  it.each<[string, readonly HunkLines[], readonly string[]]>([
    ['that only removes: its removed lines', [['-check();', ' f();']], ['a.ts']],
    ['that adds a blank line: its removed lines', [['-check();', '+', ' f();']], ['a.ts']],
    ['that also adds: its added lines', [['-check();', '+other();', ' f();']], []],
    ['as each hunk counts', [['+one();'], ['+two();']], ['a.ts']],
  ])('%s', (_, hunks, expected) => {
    const change = changeOf(file('a.ts', hunks));
    const now = hunks[0]?.filter((line) => !line.startsWith('-')).map((line) => line.slice(1)) ?? [];
    expect(unseen(change, read('a.ts', numbered(now)))).toEqual(expected);
    // As of git diff -U0.
    const bare = hunks.map((lines) => lines.filter((line) => !line.startsWith(' ')));
    expect(unseen(change, diffed('a.ts', bare))).toEqual([]);
    expect(unseen(change, ran('git diff --name-status', 'M\ta.ts\n'))).toEqual(['a.ts']);
  });
});

const moved = file('new "q".ts', [], { previous: 'old.ts' });
const units = changeOf(moved, file('run.sh', []));
const names = 'diff --git a/old.ts "b/new \\"q\\".ts"\nrename from old.ts\nrename to "new \\"q\\".ts"\n';
const [removal, link] = [file('a', [['-one();', '-two();']], { isRemoved: true }), file('a', [])];
const retyped = changeOf(removal, link);

const list = 'renamed\t+0\t-0\t"new \\"q\\".ts" (was old.ts)\nmodified\t+0\t-0\trun.sh\n';
it.each<[string, Change, string, readonly string[], string?]>([
  ['our list', units, list, []],
  ['our list with numbers', units, '     2\trenamed\t+0\t-0\trun.sh (was go.sh)\n', ['new "q".ts']],
  ['git diff --name-status', units, 'R100\told.ts\t"new \\"q\\".ts"\nM\trun.sh\n', []],
  ['a header', units, 'diff --git a/run.sh b/run.sh\nnew mode 100755\n', ['new "q".ts']],
  ['a rename', units, names, ['run.sh']],
  ['another line with its name', units, 'run.sh\n./run.sh\n', ['new "q".ts', 'run.sh']],
  ['the name of a file that became a link', retyped, 'T\ta\n', ['a']],
  ['its lines, and not its name', retyped, 'one();\ntwo();\n', ['a'], 'git show base:a'],
  ['both', retyped, diffOf('a', [['-one();', '-two();']]), []],
  ['both, if it was a link', changeOf(link, removal), diffOf('a', [['-one();', '-two();']]), []],
])('a change without lines is shown by %s', (_, change, shown, expected, command = '') => {
  expect(unseen(change, ran(command, shown))).toEqual(expected);
});

const plus = [['+x1']];
const MEASURED = { status: 'measured', why: null };
it.each<[subject: string, path: string, FileChange, why: NotRequired | null]>([
  ['', 'a lock file', file('src/go.sum', plus), 'lock_file'],
  ['', 'a binary file', file('image.png', [], { kind: 'binary' }), 'binary'],
  ['', 'a file that the base marks', file('out.js', plus), 'generated'],
  ['', 'what was moved to its name', file('out.js', plus, { previous: 'src/auth.js' }), null],
  ['', 'what was moved to the name of a lock file', file('yarn.lock', plus, { previous: 'src/a.ts' }), null],
  ['', 'a link with that name', file('package-lock.json', []), null],
  ['', 'a file without known lines', file('large.ts', [], { kind: 'unknown' }), null],
  ['src', 'a file of the judged folder', file('src/a.ts', plus), null],
  ['src', 'one of another folder', file('srcs/a.ts', plus), 'outside_working_directory'],
  ['src', 'one moved out of it', file('b.ts', plus, { previous: 'src/a.ts' }), null],
  [
    'src',
    'one without known lines elsewhere',
    file('a', [], { kind: 'unknown' }),
    'outside_working_directory',
  ],
])('what does not have to be seen, judged in "%s": %s', (subject, _, only, why) => {
  const marked = new Map([['out.js', 'generated' as const]]);
  const meter = meterOf({ ...changeOf(only), marked }, subject);
  // A name is not enough for a file whose lines are not known.
  if (only.kind === 'unknown') meter.observe(ran('git diff --name-status', `M\t${only.path}\n`));
  const [unseen, notRequired] = why === null ? [[only.path], []] : [[], [{ path: only.path, why }]];
  const files = { changed: 1, required: unseen.length, shown: 0, unseen, notRequired };
  const isPart = unseen.length > 0 && only.kind === 'unknown';
  const known = isPart ? { status: 'partial', why: 'The lines of "large.ts" are not known.' } : MEASURED;
  expect(meter.measure()).toEqual({ ...known, files });
});

it.each<[string, string, string]>([
  ['NUL, which the tools show as a sign', 'a\0b', 'a\u2400b'],
  ['a control character, as read_file shows it', 'a\x01b', 'a\\x01b'],
  ['CR in a line', 'a\rb c', 'a\\x0db c'],
  ['CR at its end', 'a b c\r', 'a b c'],
  ['an unpaired surrogate', 'a \ud800', 'a \ufffd'],
  ['terminal sequences', 'return 1;', '\x1b[31mreturn\x1b[0m 1;\x1b[K'],
  ['terminal sequences in the file', 'return \x1b[31m1;', 'return \\x1b[31m1;'],
  ['a byte order mark', '\ufeffusing System;', 'using System;'],
])('a line is found again with %s', (_, line, shown) => {
  const change = changeOf(file('a', [['+first1();', `+${line}`]]));
  expect(unseen(change, read('a', numbered(['first1();', shown])))).toEqual([]);
  expect(unseen(change, ran('cat a', `first1();\n${shown}`))).toEqual([]);
  expect(unseen(change, diffed('a', [['+first1();', `+${shown}`]]))).toEqual([]);
  expect(unseen(change, read('a', numbered(['first1();', `z${shown}`])))).toEqual(['a']);
});

const plain = ['a1', 'b2', 'if (x) {', '}', '', 'return null;', '-x', '+y', '12:z', 'same', '@@ -1 +1 @@'];
const word = fc.constantFrom(...plain, 'w'.repeat(2_100));
const anyLine = fc.tuple(fc.constantFrom(' ', '+', '-'), word).map((parts) => parts.join(''));
const anyHunk = fc.array(anyLine, { minLength: 1, maxLength: 8 }).map((lines) => [...lines, '+end1']);
const anyFiles = fc.array(fc.array(anyHunk, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
const changeFrom = (files: readonly (readonly HunkLines[])[]) =>
  changeOf(...files.map((hunks, at) => file(`src/f${at}.ts`, hunks)));
const runs = { numRuns: Number(process.env['FUZZ_RUNS'] ?? 300) };

it('any change is shown by its own diff, as a whole, and nothing of it by that of other files', () => {
  const property = fc.property(anyFiles, (files) => {
    const texts = files.map((hunks, at) => diffOf(`src/f${at}.ts`, hunks));
    const change = changeFrom(files);
    expect(unseen(change, ran('git diff', texts.join('')))).toEqual([]);
    expect(unseen(change, ran('git diff', texts.slice(1).join('')))).toEqual(['src/f0.ts']);
  });
  fc.assert(property, runs);
});

it('no change is shown by lines that were in no result', () => {
  const commands = fc.constantFrom(
    'cat $x',
    'cat src/f0.ts',
    'git diff',
    'cat src/f0.ts src/f1.ts',
    'cat /r.diff',
  );
  const seen = fc.array(fc.tuple(commands, fc.array(word)));
  const property = fc.property(anyFiles, seen, (files, outputs) => {
    const names = files.map((_, at) => `src/f${at}.ts`);
    const diff = files.map((hunks, at) => diffOf(`src/f${at}.ts`, hunks)).join('');
    const meter = meterOf(changeFrom(files), '', diff);
    for (const [command, lines] of outputs) meter.observe(ran(command, lines.join('\n')));
    expect(meter.measure().files.unseen).toEqual(names);
  });
  fc.assert(property, runs);
});
