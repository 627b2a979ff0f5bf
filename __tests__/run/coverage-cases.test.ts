/** Coverage of whole runs: what is sent back and how often, files without a patch, long lines, and ways to read. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Reply } from '../support/fakes/model/server.ts';
import {
  coverageOf,
  endOf,
  listedFile,
  listedFiles,
  onPullRequest,
  readDiff,
  readFile,
  submit,
} from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/pull-request.ts';
import { base, command, converse } from '../support/worlds/run.ts';

const workspace = () => path.join(base, 'workspace');
const DOCUMENTATION = readFileSync(path.join(import.meta.dirname, '../../docs/evidence.md'), 'utf8');

const review = { schema: 'code-review' };
const submits = submit('code-review');
const [half, rest] = [readDiff(0, 20), readDiff(20, 20)];

describe('a payload that is sent back', () => {
  it.each<[string, readonly Reply[], number, string?]>([
    ['the last turn', [readDiff(0, 5), submits, readDiff(5, 5), submits], 1, '4'],
    ['the only turn', [submits], 0, '1'],
    ['a turn after it without another payload', [submits, readDiff(0, 40)], 1, '2'],
  ])('ends the run as unsupported after %s', async (_, replies, rejections, turns = '30') => {
    const judged = await converse(replies, { ...review, 'max-turns': turns }, onPullRequest(listedFiles(40)));
    expect([endOf(judged), judged.report.rejections]).toEqual(['inconclusive unsupported 1', rejections]);
    expect(judged.report.payload).toBeNull();
    expect(judged.report.verdict.subtype).toBe('error_evidence');
  });

  it('names 20 files of 250, the report 200, and both count all', async () => {
    const judged = await converse([submits], review, onPullRequest(listedFiles(250)));
    const files = judged.report.evidence?.coverage?.files;
    expect([files?.required, files?.shown, files?.unseen.length]).toEqual([250, 0, 200]);
    expect(judged.rejections[0]).toContain('Not taken yet: 250 of the 250 changed files were in no result');
    expect(judged.rejections[0]).toContain('- and 230 more files');
    expect(judged.report.verdict.error).toMatch(/ Not seen: "src\/file000.ts", .* and 245 more\. /u);
  });

  it('beside other calls runs none of them, and they do not count', async () => {
    const beside: Reply = { calls: [...(readDiff(0, 40).calls ?? []), ...(submits.calls ?? [])] };
    const judged = await converse([beside, submits], review, onPullRequest(listedFiles(40)));
    expect(judged.asked[1]?.toolResults.map(({ text }) => text.split(':')[0])).toEqual([
      'Skipped',
      'Not taken yet',
    ]);
    expect(coverageOf(judged)).toBe('measured, 0 of 40 files');
  });
});

describe('what the model received counts', () => {
  const world = onPullRequest(listedFiles(40));
  const tooLong: Reply = {
    status: 400,
    error: { message: 'This model has a maximum context length.', code: 'context_length_exceeded' },
  };

  const all = ['success accepted 0', 'measured, 40 of 40 files'];
  const part = ['inconclusive unsupported 1', 'measured, 20 of 40 files'];
  const cut = ['inconclusive max_turns 53', 'measured, 20 of 40 files'];
  const both: Reply = { calls: [...(half.calls ?? []), ...(rest.calls ?? [])] };

  it.each<[string, readonly Reply[], string, readonly string[]]>([
    ['of several calls in one turn', [both, submits], '30', all],
    ['before it was dropped from a conversation that is too long', [half, rest, tooLong, submits], '30', all],
    ['but not what was dropped before', [half, tooLong, rest, submits], '30', part],
    ['but not what the last turn read, which the model never answered', [half, rest], '2', cut],
  ])('%s', async (_, replies, turns, ends) => {
    const judged = await converse(replies, { ...review, 'max-turns': turns }, world);
    expect([endOf(judged), coverageOf(judged)]).toEqual(ends);
  });
});

describe('a file without a patch', () => {
  it.each([
    ['is unseen where only GitHub could give it', { additions: 9_000 }, '(its diff is not known)'],
    ['that may be binary is unseen, too', { additions: 0, deletions: 0 }, '(its diff is not known)'],
  ])('%s, and the model is told so', async (_, more, told) => {
    const files = [listedFile(0), listedFile(1, { patch: null, ...more })];
    const script = [readDiff(0, 1), readFile('src/file001.ts'), submits];
    const judged = await converse(script, review, onPullRequest(files));
    expect([endOf(judged), coverageOf(judged)]).toEqual([
      'inconclusive unsupported 1',
      'measured, 1 of 2 files',
    ]);
    expect(judged.rejections[0]).toContain(`- "src/file001.ts" ${told}`);
    expect(judged.report.verdict.error).toContain(
      'a checkout with the whole history (fetch-depth: 0) lets git tell what changed',
    );
  });

  it('that was only renamed needs its row in the list of files', async () => {
    const more = { patch: null, additions: 0, deletions: 0, status: 'renamed', previous: 'src/before.ts' };
    const world = onPullRequest([listedFile(0), listedFile(1, more)]);
    const row = readFile('/tmp/context/changed-files.txt');
    const judged = await converse([readDiff(0, 1), submits, row, submits], review, world);
    expect([endOf(judged), coverageOf(judged)]).toEqual(['success accepted 0', 'measured, 2 of 2 files']);
    expect(judged.rejections).toEqual([expect.stringContaining('- "src/file001.ts"\n')]);
  });
});

it('a line of 4 MB is shown by its start, and one that is longer is not known', async () => {
  const line = (length: number) => `const big = "${'0123456789abcdef'.repeat(length / 16)}";\n`;
  commitChange(workspace(), { 'a.js': 'const big = "";\n' }, { 'a.js': line(3_900_000) });
  for (const [look, shown] of [
    ['git diff main', 1],
    ['head -c 500 a.js', 0],
  ] as const) {
    const judged = await converse([command(look), submit('verdict')], {}, { since: 'main' });
    expect(coverageOf(judged)).toBe(`measured, ${shown} of 1 files`);
  }
  writeFileSync(path.join(workspace(), 'a.js'), line(4_800_000));
  const judged = await converse([command('git diff main'), submits], review, { since: 'main' });
  expect([judged.report.evidence?.coverage?.status, endOf(judged)]).toEqual([
    'partial',
    'success accepted 0',
  ]);
});

describe('a change that is read by', () => {
  /** A file of 60 lines that are in no other file. */
  const body = (name: string) => Array.from({ length: 60 }, (_, at) => `const ${name}_${at} = ${at};`);
  const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;
  const [one, two] = [body('one'), body('two')];
  const after = {
    'src/one.ts': text(one.with(29, 'const changed_29 = "mine";')),
    'src/two.ts': text([...two, ...body('added')]),
  };
  /** Of a command whose words say nothing of the file. */
  const log = [
    'AssertionError: expected 3 to be 4',
    ' ❯ src/one.ts:30:7',
    '     28| const one_27 = 27;',
    '     29| const one_28 = 28;',
    '     30| const changed_29 = "mine";',
    '       |       ^',
    '     31| const one_30 = 30;',
  ];
  const before = {
    'src/one.ts': text(one),
    'src/two.ts': text(two),
    'check.sh': text(["cat <<'END'", ...log, 'END']),
  };

  const ways: readonly [name: string, replies: readonly Reply[], files: number][] = [
    ['`git diff`', [command('git diff main')], 2],
    ['`cat` of both files', [command('cat src/one.ts src/two.ts')], 2],
    ['`sed -n` of the changed lines', [command("sed -n '25,35p' src/one.ts; sed -n '61,$p' src/two.ts")], 2],
    ['`grep -n` for the changed lines', [command('grep -n changed_29 src/one.ts && grep -rn added_ src')], 2],
    [
      '`read_file` with the offsets of the changed lines',
      [readFile('src/one.ts', { offset: 30, limit: 1 }), readFile('src/two.ts', { offset: 61 })],
      2,
    ],
    [
      '`read_file` of the lines around them',
      [readFile('src/one.ts', { offset: 31 }), readFile('src/two.ts', { limit: 60 })],
      0,
    ],
    [
      '`cat` of a file that a command has written over',
      [command('sed -i s/mine/yours/ src/one.ts; cat src/one.ts')],
      0,
    ],
    ['`read_file` of `/tmp/context/diff.patch`', [readFile('/tmp/context/diff.patch')], 2],
    ['one page of that diff', [readFile('/tmp/context/diff.patch', { limit: 14 })], 1],
    ['another page of it', [readFile('/tmp/context/diff.patch', { offset: 20 })], 1],
    ['the code frame of a failed test in one of them', [command('sh ./check.sh')], 1],
  ];

  it.each(ways)('%s', async (name, replies, files) => {
    expect(DOCUMENTATION).toContain(`| ${name} | ${files} of 2 |\n`);
    commitChange(workspace(), before, after);
    const judged = await converse([...replies, submit('verdict')], {}, { since: 'main' });
    expect(coverageOf(judged)).toBe(`measured, ${files} of 2 files`);
  });
});
