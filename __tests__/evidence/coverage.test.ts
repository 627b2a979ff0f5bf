/** What shows a line and what does not, by texts made for it. Real ways to read are in coverage-ways.test.ts. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Change, FileChange } from '../../src/evidence/change.ts';
import { createCoverageMeter, type SeenResult } from '../../src/evidence/coverage.ts';
import type { NotRequired } from '../../src/types.ts';
import { changeOf, diffOf, file } from './files.ts';

const read = (target: string, text: string): SeenResult => ({ tool: 'read_file', target, text });
const ran = (target: string, text: string): SeenResult => ({ tool: 'shell', target, text });
const diffed = (path: string, ...hunks: readonly string[]) => ran('git diff', diffOf(path, ...hunks));
/** Numbers lines as read_file does. */
const numbered = (lines: readonly string[], first = 1) =>
  lines.map((line, at) => `${String(at + first).padStart(6)}\t${line}\n`).join('');
const add = (lines: readonly string[]) => lines.map((line) => `+${line}`).join('\n');

function measure(change: Change, results: readonly SeenResult[], subject = '', text = '') {
  const diff = { path: '/r.diff', text };
  const meter = createCoverageMeter(change, { root: '/r', workingDirectory: '/r', subject, diff });
  for (const result of results) meter.observe(result);
  return meter.measure();
}
/** The paths that are not shown after a result. */
const unseen = (change: Change, result: SeenResult) => measure(change, [result]).files.unseen;

const licence = ['// Licensed under the Apache License', '// See LICENSE for details'];
const header = add(licence);
const both = changeOf(file('a.ts', header), file('b.ts', header));
const grepped = licence.map((line, at) => `b.ts:${at + 1}:${line}\n`).join('');
const patch = changeOf(file('a.ts', header), file('x.patch', '+diff --git a/a.ts b/a.ts'));
const whole = diffOf('a.ts', header);
const empty = whole.replace(/^\+\/.*/gm, '');
const behind = whole.replace(header, `[cut]\n@@ -0,0 +1,2 @@\n${header}`);
const long = 'x'.repeat(2_000);

const units = changeOf({ ...file('new "q".ts'), previous: 'old.ts' }, file('run.sh'));
const list = 'renamed\t+0\t-0\t"new \\"q\\".ts" (was old.ts)\nmodified\t+0\t-0\trun.sh\n';
const renamed = 'diff --git a/old.ts "b/new \\"q\\".ts"\nrename from old.ts\nrename to "new \\"q\\".ts"\n';
const [removal, link] = [{ ...file('a', '-one();\n-two();'), isRemoved: true }, file('a')];
const retyped = changeOf(removal, link);

it.each<[why: string, change: Change, result: SeenResult, unseen: readonly string[]]>([
  ['read_file of the other', both, read('a.ts', numbered(licence)), ['b.ts']],
  ['other numbers', both, read('a.ts', numbered(licence, 2)), ['a.ts', 'b.ts']],
  ['a command that names the other', both, ran("head -2 'a.ts'", licence.join('\n')), ['b.ts']],
  ['a command in another folder', both, ran('cd src; cat a.ts', licence.join('\n')), ['a.ts', 'b.ts']],
  ['another name with the same end', both, ran('cat la.ts x/a.ts', licence.join('\n')), ['a.ts', 'b.ts']],
  ['a path of the other', both, ran('grep -rn e', grepped), ['a.ts']],
  ['a path in another folder', both, ran('git -C src grep -n e', grepped), ['a.ts', 'b.ts']],
  ['a hunk header without its lines', both, ran('git diff', empty), ['a.ts', 'b.ts']],
  ['a diff of other lines', both, diffed('a.ts', ` x\n${header}`), ['a.ts', 'b.ts']],
  ['a line that is cut', changeOf(file('a.ts', `+${long}y`)), read('a.ts', numbered([long])), ['a.ts']],
  ['a diff in a file', patch, read('x.patch', numbered(whole.split('\n'))), ['a.ts']],
  ['a hunk that stands behind a cut', both, ran('git diff', behind), ['a.ts', 'b.ts']],
  ['our list', units, ran('', list), []],
  ['our list with numbers', units, ran('', '     2\trenamed\t+0\t-0\trun.sh (was go.sh)\n'), ['new "q".ts']],
  ['git diff --name-status', units, ran('', 'R100\told.ts\t"new \\"q\\".ts"\nM\trun.sh\n'), []],
  ['a header', units, ran('', 'diff --git a/run.sh b/run.sh\nnew mode 100755\n'), ['new "q".ts']],
  ['a rename', units, ran('', renamed), ['run.sh']],
  ['another line with its name', units, ran('', 'run.sh\n./run.sh\n'), ['new "q".ts', 'run.sh']],
  ['the name of a file that became a link', retyped, ran('', 'T\ta\n'), ['a']],
  ['its lines, and not its name', retyped, ran('git show base:a', 'one();\ntwo();\n'), ['a']],
  ['both', retyped, diffed('a', '-one();\n-two();'), []],
  ['both, if it was a link', changeOf(link, removal), diffed('a', '-one();\n-two();'), []],
])('a result shows what is in it, and nothing else: %s', (_, change, result, expected) => {
  expect(unseen(change, result)).toEqual(expected);
});

it.each<[why: string, hunks: readonly string[], output: string, isShown: boolean]>([
  ['a line that is elsewhere, too', [' f();\n+return null;\n g();'], 'return null;', false],
  ['it with one beside it', [' f();\n+return null;\n g();'], 'return null;\ng();', true],
  ['removed lines', [' f();\n-check();\n-more();'], 'check();\nmore();\ncheck();', false],
  ['a line that is there twice', ['+run();\n+}\n x();\n run();\n }'], 'run();\n}', false],
  ['a short line, and a blank one', [' f();\n+}\n '], '}\n\n', false],
  ['a line between two', ['+one();\n+}', '+}\n+two();'], 'one();\n}\ntwo();', false],
  ['a short line before one that is like no other', ['+}\n+one();'], '}\none();', false],
  ['a short line behind one', ['+one();\n+}'], 'one();\n}', true],
  ['the header of a diff', ['+--- The\n+one()\n+++ -1'], '--- The\none()\n++ -1', true],
])('the output of a command that names the file has %s', (_, hunks, output, isShown) => {
  const change = changeOf(file('a.ts', ...hunks));
  expect(unseen(change, ran('cat a.ts', output))).toEqual(isShown ? [] : ['a.ts']);
});

const code = Array.from({ length: 2_000 }, (_, at) => `const value${at} = ${at};`);
const noise = [...Array<string>(1_000).fill('//'), ...code.slice(0, 990)];
const bare = code.slice(0, 800).map((_, at) => '[]+'.repeat(at + 1));
const blanks = [...code.slice(0, 90), ...Array<string>(300).fill('  ')];

it.each<[string, lines: readonly string[], count: number, isShown: boolean]>([
  ['nine tenths', code, 1_800, true],
  ['one line less', code, 1_799, false],
  ['two lines of a new file', code, 2, false],
  ['1,000 comments before the code', noise, 1_000, false],
  ['lines without a letter or digit, not shown', [...code.slice(0, 3), ...bare], 3, false],
  ['blank lines do not count', blanks, 90, true],
])('nine tenths of the lines of a hunk have to be shown: %s', (_, lines, count, isShown) => {
  const change = changeOf(file('a.ts', add(lines)));
  const shown = lines.slice(0, count);
  const expected = isShown ? [] : ['a.ts'];
  expect(unseen(change, read('a.ts', numbered(shown)))).toEqual(expected);
  expect(unseen(change, diffed('a.ts', add(shown)))).toEqual(expected);
  expect(unseen(change, ran('sed a.ts', `${shown.join('\n')}\n`))).toEqual(expected);
});

it.each<[string, hunks: readonly string[], unread: readonly string[]]>([
  ['only removes: its removed lines', ['-check();\n f();'], ['a.ts']],
  ['adds a blank line: its removed lines', ['-check();\n+\n f();'], ['a.ts']],
  ['also adds: its added lines', ['-check();\n+other();\n f();'], []],
  ['is one of two: both', ['+one();', '+two();'], ['a.ts']],
])('what has to be shown of a hunk that %s', (_, hunks, unread) => {
  const change = changeOf(file('a.ts', ...hunks));
  const now = hunks[0]?.split('\n').filter((line) => !line.startsWith('-')) ?? [];
  expect(unseen(change, read('a.ts', numbered(now.map((line) => line.slice(1)))))).toEqual(unread);
  // As of git diff -U0.
  expect(unseen(change, diffed('a.ts', ...hunks.map((hunk) => hunk.replace('\n f();', ''))))).toEqual([]);
  expect(unseen(change, ran('git diff --name-status', 'M\ta.ts\n'))).toEqual(['a.ts']);
});

const unknown: FileChange = { ...file('large.ts'), kind: 'unknown' };
it.each<[subject: string, path: string, FileChange, why: NotRequired | null]>([
  ['', 'a lock file', file('src/go.sum', '+x1'), 'lock_file'],
  ['', 'a binary file', { ...file('image.png'), kind: 'binary' }, 'binary'],
  ['', 'a file that the base marks', file('out.js', '+x1'), 'generated'],
  ['', 'what was moved to its name', { ...file('out.js', '+x1'), previous: 'src/auth.js' }, null],
  ['', 'what was moved to the name of a lock file', { ...file('go.sum', '+x1'), previous: 'src/a.ts' }, null],
  ['', 'a link with that name', file('package-lock.json'), null],
  ['', 'a file without known lines', unknown, null],
  ['src', 'a file of the judged folder', file('src/a.ts', '+x1'), null],
  ['src', 'one of another folder', file('srcs/a.ts', '+x1'), 'outside_working_directory'],
  ['src', 'one moved out of it', { ...file('b.ts', '+x1'), previous: 'src/a.ts' }, null],
  ['src', 'one without known lines elsewhere', unknown, 'outside_working_directory'],
])('what does not have to be seen, judged in "%s": %s', (subject, _, only, why) => {
  const change = { ...changeOf(only), marked: new Map([['out.js', 'generated' as const]]) };
  // A name is not enough for a file whose lines are not known.
  const result = ran('git diff --name-status', 'M\tlarge.ts\n');
  const [unseen, notRequired] = why === null ? [[only.path], []] : [[], [{ path: only.path, why }]];
  const files = { changed: 1, required: unseen.length, shown: 0, unseen, notRequired };
  const isPart = why === null && only === unknown;
  const reason = isPart ? 'The lines of "large.ts" are not known.' : null;
  const expected = { status: isPart ? 'partial' : 'measured', why: reason, files };
  expect(measure(change, [result], subject)).toEqual(expected);
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
  const change = changeOf(file('a', `+first1();\n+${line}`));
  expect(unseen(change, read('a', numbered(['first1();', shown])))).toEqual([]);
  expect(unseen(change, ran('cat a', `first1();\n${shown}`))).toEqual([]);
  expect(unseen(change, diffed('a', `+first1();\n+${shown}`))).toEqual([]);
  expect(unseen(change, read('a', numbered(['first1();', `z${shown}`])))).toEqual(['a']);
});

const plain = ['a1', 'b2', 'if (x) {', '}', '', 'return null;', '-x', '+y', '12:z', 'same', '@@ -1 +1 @@'];
const word = fc.constantFrom(...plain, 'w'.repeat(2_100));
const anyLine = fc.tuple(fc.constantFrom(' ', '+', '-'), word).map((parts) => parts.join(''));
const anyHunk = fc
  .array(anyLine, { minLength: 1, maxLength: 8 })
  .map((lines) => [...lines, '+end1'].join('\n'));
const anyFiles = fc.array(fc.array(anyHunk, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
const changeFrom = (files: readonly (readonly string[])[]) =>
  changeOf(...files.map((hunks, at) => file(`src/f${at}.ts`, ...hunks)));
const diffsOf = (files: readonly (readonly string[])[]) =>
  files.map((hunks, at) => diffOf(`src/f${at}.ts`, ...hunks));
const runs = { numRuns: Number(process.env['FUZZ_RUNS'] ?? 300) };

it('any change is shown by its own diff, as a whole, and nothing of it by that of other files', () => {
  const property = fc.property(anyFiles, (files) => {
    const [change, texts] = [changeFrom(files), diffsOf(files)];
    expect(unseen(change, ran('git diff', texts.join('')))).toEqual([]);
    expect(unseen(change, ran('git diff', texts.slice(1).join('')))).toEqual(['src/f0.ts']);
  });
  fc.assert(property, runs);
});

it('no change is shown by lines that were in no result', () => {
  const commands = fc.constantFrom('cat $x', 'git diff', 'cat src/f0.ts src/f1.ts', 'cat /r.diff');
  const output = fc.array(word).map((lines) => lines.join('\n'));
  const results = fc.array(fc.tuple(commands, output).map((each) => ran(...each)));
  const property = fc.property(anyFiles, results, (files, given) => {
    const change = changeFrom(files);
    const { unseen } = measure(change, given, '', diffsOf(files).join('')).files;
    expect(unseen).toEqual(change.files.map(({ path }) => path));
  });
  fc.assert(property, runs);
});
