import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Change, createHunk, type FileChange } from '../../src/evidence/change.ts';
import { createCoverageMeter, type SeenResult } from '../../src/evidence/coverage.ts';
import { unknownCoverage } from '../../src/evidence/share.ts';

const file = (
  path: string,
  hunks: readonly (readonly string[])[],
  over: Partial<FileChange> = {},
): FileChange => ({
  ...{ path, previous: null, kind: hunks.length > 0 ? 'text' : 'unit', isRemoved: false, isBinary: false },
  hunks: hunks.map((lines, at) => createHunk(1 + at * 100, 1 + at * 100, lines)),
  ...over,
});
const changeOf = (...files: readonly FileChange[]): Change => ({
  files,
  incomplete: null,
  marked: new Map(),
});
const meterOf = (change: Change, subject = '') =>
  createCoverageMeter(change, { root: '/r', workingDirectory: '/r', subject });
const read = (target: string, text: string): SeenResult => ({ tool: 'read_file', target, text });
const ran = (target: string, text: string): SeenResult => ({ tool: 'shell', target, text });

/** The paths that are not shown after some results. */
function unseen(change: Change, ...results: readonly SeenResult[]): readonly string[] {
  const meter = meterOf(change);
  for (const result of results) meter.observe(result);
  return meter.unseen();
}

describe('a line of one file shows nothing of another', () => {
  const header = ['+// Licensed under the Apache License', '+// See LICENSE for details'];
  const both = changeOf(file('a.ts', [[...header, '+one();']]), file('b.ts', [[...header, '+two();']]));
  const licence = '// Licensed under the Apache License\n// See LICENSE for details\n';
  const diff = (name: string) => `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n`;

  const begins = (name: string, lines: string, at = '-0,0 +1,2') =>
    ran('git diff', `${diff(name)}@@ ${at} @@\n${lines}\n`);
  const [one, two] = [file('a.ts', [['+one();']]), file('b.ts', [['+two();']])];
  const inDiff = ran('cat *', `${diff('b.ts')}@@ -0,0 +1 @@\n+two();\n`);
  const embedded = changeOf(file('x.patch', [['+diff --git a/b.ts b/b.ts']]), two);
  const alone = changeOf(file('a.ts', [[' f();', '+one();', ' g();']]));
  const brace = changeOf(file('a.ts', [[' if (a) {', '+}', ' else']]));
  const headers = '--- a/b.ts\n+++ b/b.ts\n+two();\n+one();';
  it.each<[why: string, change: Change, result: SeenResult, unseen: readonly string[]]>([
    ['read_file of the other', both, read('a.ts', licence), ['b.ts']],
    ['a file that is not changed', both, read('c.ts', licence), ['a.ts', 'b.ts']],
    ['a command that reads one', both, ran('cd src; cat -n c.ts | head -2', licence), ['a.ts', 'b.ts']],
    ['a file with lines that look like a diff', both, { ...inDiff, target: 'cat a.ts' }, ['a.ts', 'b.ts']],
    ['a diff in a file of the change', embedded, { ...inDiff, target: 'cat ./x.patch' }, ['b.ts']],
    ['a command that names the other', both, ran('head -2 a.ts', licence), ['b.ts']],
    ['no file is named', both, ran('head -2 $(ls)', licence), ['a.ts', 'b.ts']],
    ['a header of the other', both, begins('a.ts', header.join('\n')), ['b.ts']],
    ['a path of the other', both, ran('grep -rn See', 'b.ts:2:// See LICENSE for details\n'), ['a.ts']],
    ['a link to it', changeOf(one, file('link', [])), read('link', 'one();\n'), ['a.ts', 'link']],
    ['a brace', brace, read('a.ts', '}\n}\n'), ['a.ts']],
    ['one line without its neighbour', alone, ran('cat $x', 'one();\n'), ['a.ts']],
    ['neighbours', alone, ran('cat $x', 'one();\n\ng();\n'), []],
    ['its name after cd to elsewhere', both, ran('cd "$x" && cat a.ts', licence), ['a.ts', 'b.ts']],
    ['a hit without a number or context', both, ran('grep one a.ts', 'one();\n'), ['a.ts', 'b.ts']],
    [
      'lines of a hunk that look like headers',
      changeOf(one, two),
      begins('a.ts', headers, '-1 +1,3'),
      ['b.ts'],
    ],
  ])('%s', (_, change, result, expected) => {
    expect(unseen(change, result)).toEqual(expected);
  });
});

describe('the same text elsewhere in a file', () => {
  const far: FileChange = {
    ...file('a.py', [['+steal()']]),
    hunks: [createHunk(500, 500, ['     one()', '+    steal()', '+    return None', '     two()'])],
  };
  it.each<[result: SeenResult, unseen: readonly string[]]>([
    [read('a.py', '     1\tdef f():\n     2\t    return None\n'), ['a.py']],
    [ran('head -2 a.py', 'def f():\n    return None\n'), ['a.py']],
    [ran('grep -n None a.py', '2:    return None\n'), ['a.py']],
    [ran('grep -rn None', 'a.py:2:    return None\n'), ['a.py']],
    [ran('grep -rn None', 'a.py:502:    return None\n'), []],
    [read('a.py', '   502\t    return None\n'), []],
    // In a checkout in which the base has been merged the numbers may differ: there the diff shows it.
    [read('a.py', '   602\t    return None\n   603\t    two()\n'), ['a.py']],
    [ran('nl -ba a.py | tail -2', '     1\t    return None\n     2\t    two()\n'), []],
    // What looks like a mark of a diff is a part of the line.
    [read('a.py', '     2\t     return None\n     3\t     steal()\n'), ['a.py']],
    [ran('cat a.py', '     steal()\n+    steal()\n-    steal()\n'), ['a.py']],
    [ran('tail -2 a.py', '    return None\n    two()\n'), []],
  ])('%j', (result, expected) => {
    expect(unseen(changeOf(far), result)).toEqual(expected);
  });

  it('does not matter where a line has no neighbour on its side', () => {
    const version = changeOf(file('VERSION', [['-1.0.0', '+1.1.0']]));
    expect(unseen(version, ran('cat VERSION', '1.1.0\n'))).toEqual([]);
  });
});

it.each<[text: string, result: SeenResult]>([
  ['\x1b[31mred\x1b[0m', ran('git diff', 'diff --git a/a.ts b/a.ts\n@@ -1 +1 @@\n+\x1b[31mred\x1b[0m\n')],
  ['\x1b[31mred\x1b[0m', read('a.ts', '     1\t\x1b[31mred\x1b[0m\n')],
  ['\ufeffusing System;', read('a.ts', '     1\tusing System;\n')],
  ['\ufeffusing System;', ran('cat a.ts', '\ufeffusing System;\n')],
])('%j is shown by %j', (text, result) => {
  expect(unseen(changeOf(file('a.ts', [[`+${text}`]])), result)).toEqual([]);
});

describe('sides', () => {
  const check = ' if (!isAdmin(user)) throw denied();';
  const moved = changeOf(
    file('a.ts', [[' f() {', `-${check}`, ' work();']]),
    file('b.ts', [[' g() {', `+${check}`, ' rest();']]),
  );
  it.each<[why: string, result: SeenResult, unseen: readonly string[]]>([
    ['an added line shows no removed one of its file', read('a.ts', `${check}\n`), ['a.ts', 'b.ts']],
    ['the added one is shown by its own file', read('b.ts', `g() {\n${check}\n`), ['a.ts']],
    ['the removed one by its mark', ran('git diff a.ts', `-${check}\n`), ['b.ts']],
    ['an added one is not shown by that mark', ran('git diff b.ts', `-${check}\n`), ['a.ts', 'b.ts']],
    ['the old revision shows the removed one', ran('git show base:a.ts', `${check}\n`), ['b.ts']],
    ['nor by two of them', ran('git diff b.ts', `- g() {\n-${check}\n- rest();\n`), ['a.ts', 'b.ts']],
    ['HEAD has no removed lines', ran('git show HEAD:a.ts', `${check}\n`), ['a.ts', 'b.ts']],
    ['without a name it needs its mark', ran('cat $x', `f() {\n${check}\nwork();\n`), ['a.ts', 'b.ts']],
  ])('%s', (_, result, expected) => {
    expect(unseen(moved, result)).toEqual(expected);
  });

  it('an unmarked line shows one of a file that was removed as a whole', () => {
    const removed = changeOf(file('a.ts', [['-one();']], { isRemoved: true }));
    expect(unseen(removed, ran('git show v1:a.ts', 'one();\n'))).toEqual([]);
  });
});

describe('texts that occur more than once', () => {
  const hunk = (name: string) => [` ${name}();`, '+return null;', ' done();'];
  const twice = changeOf(file('a.ts', [hunk('f'), hunk('g')]));
  it.each<[why: string, text: string, shownHunks: number]>([
    ['alone it shows none', 'return null;\n', 0],
    ['with its neighbour it shows one', 'f();\nreturn null;\n', 1],
    ['with its number it shows one', '     2\treturn null;\n', 1],
    ['with the number of another line it shows none', '     3\treturn null;\n', 0],
    ['with another number it shows none', '    50\treturn null;\n', 0],
    [
      'in a diff the numbers tell',
      'diff --git a/a.ts b/a.ts\n@@ -101,2 +101,3 @@\n g();\n+return null;\n',
      1,
    ],
  ])('%s', (_, text, shown) => {
    const meter = meterOf(twice);
    meter.observe(ran('head a.ts; git diff', text));
    const [first] = meter.measure().files.unseen;
    expect(first).toEqual({ path: 'a.ts', hunks: 2, shownHunks: shown });
  });
});

describe('units', () => {
  const units = changeOf(file('new "q".ts', [], { previous: 'old.ts' }), file('run.sh', []));
  it.each<[string, string, readonly string[]]>([
    ['our list', 'renamed\t+0\t-0\t"new \\"q\\".ts" (was old.ts)\nmodified\t+0\t-0\trun.sh\n', []],
    ['our list with line numbers', '     2\tmodified\t+0\t-0\trun.sh\n', ['new "q".ts']],
    ['git diff --name-status', 'R100\told.ts\t"new \\"q\\".ts"\nM\trun.sh\n', []],
    ['a header', 'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n', ['new "q".ts']],
    ['a rename', 'diff --git a/old.ts "b/new \\"q\\".ts"\nsimilarity index 100%\n', ['run.sh']],
    ['another line with its name', 'x\trun.sh\nrun.sh\n', ['new "q".ts', 'run.sh']],
  ])('%s', (_, text, expected) => {
    expect(unseen(units, read('/tmp/context/changed-files.txt', text))).toEqual(expected);
  });
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
  meter.observe(read('/r/src/a.ts', 'a1\n'));
  expect(meter.measure()).toEqual({
    status: 'measured',
    why: null,
    files: {
      changed: 8,
      required: 5,
      shown: 1,
      unseen: [
        { path: 'package-lock.json', hunks: 1, shownHunks: 0 },
        { path: 'yarn.lock', hunks: 1, shownHunks: 0 },
        { path: 'large.ts', hunks: 0, shownHunks: 0 },
        { path: 'moved.js', hunks: 1, shownHunks: 0 },
      ],
      notRequired: [
        { path: 'src/go.sum', why: 'lock_file' },
        { path: 'image.png', why: 'binary' },
        { path: 'out.js', why: 'generated' },
      ],
    },
  });
  const outside = meterOf(change, 'src')
    .measure()
    .files.notRequired.map(({ path, why }) => `${path} ${why}`);
  expect(outside).toEqual([
    'src/go.sum lock_file',
    ...['image.png', 'out.js', 'package-lock.json', 'large.ts'].map(
      (name) => `${name} outside_working_directory`,
    ),
  ]);
  expect(meterOf({ ...change, incomplete: 'Why.' }).measure()).toMatchObject({
    status: 'partial',
    why: 'Why.',
  });
  expect(unknownCoverage('No base.')).toMatchObject({ status: 'unknown', why: 'No base.' });
});

it('shows trivial lines with a neighbour, and alone if a hunk has no others', () => {
  const brace = changeOf(file('a.ts', [[' f();', '+}', ' g();']]));
  for (const line of ['     1\tf();\n', '     3\tg();\n'])
    expect(unseen(brace, read('a.ts', line))).toEqual([]);
  const change = changeOf(file('a.json', [['+{', '+}']]));
  expect(unseen(change, ran('cat $x', '{\n}\n'))).toEqual(['a.json']);
  expect(unseen(change, read('a.json', '     1\t{\n     2\t}\n'))).toEqual([]);
});

it('is partial after more results than it reads', () => {
  const meter = meterOf(changeOf(file('a.ts', [['+one();']])));
  const text = `${'x'.repeat(999)}\n`.repeat(26_000);
  meter.observe(ran('', text));
  expect(meter.measure().status).toBe('measured');
  meter.observe(ran('', text));
  meter.observe(read('a.ts', 'one();\n'));
  expect(meter.measure()).toMatchObject({ status: 'partial', files: { shown: 0 } });
});

describe('hostile texts', () => {
  const long = 'x'.repeat(1_000);
  it.each<[string, string, string]>([
    ['NUL, which the shell tool shows as a sign', 'a\0b', 'a\u2400b'],
    ['a line that is cut', `${long}${'y'.repeat(5_000)}`, `${long}y [… line cut]`],
    ['CR in a line', 'a\rb c', 'a\rb c'],
    ['CR at its end', 'a b c', 'a b c\r'],
    ['invalid UTF-8', 'a \ufffd b', 'a \ufffd b'],
    ['an unpaired surrogate', 'a \ud800', 'a \ud800'],
    ['terminal sequences', 'return 1;', '\x1b[31mreturn\x1b[0m 1;\x1b[K'],
    ['terminal sequences in the file', 'return \x1b[31m1;', 'return \x1b[31m1;'],
  ])('%s', (_, changed, shown) => {
    expect(unseen(changeOf(file('a', [[`+${changed}`]])), read('a', `${shown}\n`))).toEqual([]);
    expect(unseen(changeOf(file('a', [[`+${changed}`]])), read('a', `z${shown}\n`))).toEqual(['a']);
  });
});

describe('any change', () => {
  const plain = ['a1', 'b2', 'if (x) {', '}', '', 'return null;', '-x', '+y', '12:z', 'same'];
  const word = fc.constantFrom(...plain, 'w'.repeat(1_100));
  const line = fc.tuple(fc.constantFrom(' ', '+', '-'), word).map(([mark, text]) => `${mark}${text}`);
  const hunk = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => [...lines, '+end1']);
  const changes = fc
    .array(fc.array(hunk, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 })
    .map((files) => changeOf(...files.map((hunks, at) => file(`src/f${at}.ts`, hunks))));
  const runs = { numRuns: Number(process.env['FUZZ_RUNS'] ?? 300) };
  const diffOf = ({ path, hunks }: FileChange) =>
    [
      ...[`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`],
      ...hunks.flatMap(({ lines: readLines, oldStart, newStart }) => {
        const lines = readLines();
        const count = (mark: string) => lines.filter((each) => !each.startsWith(mark)).length;
        return [`@@ -${oldStart},${count('+')} +${newStart},${count('-')} @@`, ...lines];
      }),
      '',
    ].join('\n');

  it('is shown by its own diff, as a whole, and nothing of it by that of other files', () => {
    fc.assert(
      fc.property(changes, (change) => {
        const [first, ...others] = change.files;
        const whole = meterOf(change);
        whole.observe(ran('git diff', change.files.map(diffOf).join('')));
        expect(whole.unseen()).toEqual([]);
        const rest = meterOf(change);
        rest.observe(ran('git diff', others.map(diffOf).join('')));
        expect(rest.unseen()).toEqual([first?.path]);
      }),
      runs,
    );
  });

  it('is not shown by lines that were in no result', () => {
    const results = fc.array(
      fc.tuple(fc.constantFrom('cat $x', 'cat src/f0.ts', 'git diff'), fc.array(word)),
    );
    fc.assert(
      fc.property(changes, results, (change, seen) => {
        const meter = meterOf(change);
        for (const [command, lines] of seen) meter.observe(ran(command, lines.join('\n')));
        // `end1` is in no result, so each hunk with another changed line may be shown, and none that has no such line.
        const all = seen.flatMap(([, texts]) => texts);
        // Whatever stands before it, a shown line ends one of a result; a trivial one may have a neighbour that does.
        const isPossible = (each: string) =>
          !each.startsWith(' ') &&
          (/^.[^a-z0-9]{0,8}$/u.test(each) || all.some((text) => text.endsWith(each.slice(1))));
        const possible = change.files.map(
          ({ hunks }) => hunks.filter(({ lines }) => lines().some(isPossible)).length,
        );
        const { unseen: left } = meter.measure().files;
        for (const [at, { path, hunks }] of change.files.entries()) {
          const shown = left.find((each) => each.path === path)?.shownHunks ?? hunks.length;
          expect(shown).toBeLessThanOrEqual(possible[at] ?? 0);
        }
      }),
      runs,
    );
  });
});
