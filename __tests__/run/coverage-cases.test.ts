/** Coverage of whole runs: what is sent back and how often, files without a patch, long lines, and ways to read. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Reply } from '../support/fakes/model/server.ts';
import {
  coverageOf,
  endOf,
  judge,
  listedFile,
  listedFiles,
  onPullRequest,
  readDiff,
  readFile,
  submit,
} from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/commit-change.ts';
import { base, command } from '../support/worlds/run.ts';

const workspace = () => path.join(base, 'workspace');
const DOCUMENTATION = readFileSync(path.join(import.meta.dirname, '../../docs/evidence.md'), 'utf8');

const review = { schema: 'code-review' };
const submits = submit('code-review');

describe('a payload that is sent back', () => {
  it('says how many files are missing, and names 20 of 21', async () => {
    const { rejections, report } = await judge(
      [readDiff(0, 19), submits],
      review,
      onPullRequest(listedFiles(40)),
    );
    expect(rejections).toHaveLength(1);
    expect(rejections[0]).toContain('Not taken yet: 21 of the 40 changed files were in no result');
    const named = rejections[0]?.match(/^- .*$/gmu) ?? [];
    expect(named).toHaveLength(21);
    expect([named[0], named[19], named[20]]).toEqual([
      '- "src/file019.ts"',
      '- "src/file038.ts"',
      '- and 1 more file',
    ]);
    expect(report.evidence?.coverage?.files.unseen).toHaveLength(21);
    expect(report.verdict.error).toMatch(/ Not seen: "src\/file019.ts", .* and 16 more\. /u);
  });

  it('is sent back five times at most, however little each round shows', async () => {
    const rounds = Array.from({ length: 20 }, (_, at) => [readDiff(at, 1), submits]).flat();
    const judged = await judge(rounds, { ...review, 'max-turns': '100' }, onPullRequest(listedFiles(40)));
    expect([endOf(judged), judged.report.rejections, judged.report.turnCount]).toEqual([
      'inconclusive unread 1',
      5,
      12,
    ]);
    expect(coverageOf(judged)).toBe('measured, 6 of 40 files, 12 of 80 lines');
  });

  it.each([
    ['its first round', [submits], 1],
    ['a round that showed nothing new', [readDiff(0, 5), submits, readDiff(0, 5), submits], 1],
    ['the last turn', [readDiff(0, 5), submits, readDiff(5, 5), submits], 1, '4'],
    ['the only turn', [submits], 0, '1'],
    ['a turn after it without another payload', [submits, readDiff(0, 40)], 1, '2'],
  ] as const)('ends the run as unread after %s', async (_, replies, rejections, turns: string = '30') => {
    const judged = await judge(
      [...replies],
      { ...review, 'max-turns': turns },
      onPullRequest(listedFiles(40)),
    );
    expect([endOf(judged), judged.report.rejections]).toEqual(['inconclusive unread 1', rejections]);
    expect(judged.report.payload).toBeNull();
    expect(judged.report.verdict.subtype).toBe('error_evidence');
  });

  it('names a change of 250 files: 200 in the report, and the count of all', async () => {
    const judged = await judge([submits], review, onPullRequest(listedFiles(250)));
    const files = judged.report.evidence?.coverage?.files;
    expect([files?.required, files?.shown, files?.unseen.length]).toEqual([250, 0, 200]);
    expect(judged.rejections[0]).toContain('- and 230 more files');
  });

  it('is held to complete: true by the input complete only if it claims so', async () => {
    const inputs = { schema: 'code-review', 'min-coverage': '0.5' };
    const judged = await judge([readDiff(0, 20), submits], inputs, onPullRequest(listedFiles(40)));
    expect(judged.report.turns.at(-2)?.calls[0]?.decision).toBe('rejected');
    expect(judged.report.verdict.error).toContain('the payload says that it is complete');
  });

  it('beside other calls runs none of them, and they do not count', async () => {
    const beside: Reply = { calls: [...(readDiff(0, 40).calls ?? []), ...(submits.calls ?? [])] };
    const judged = await judge([beside, submits], review, onPullRequest(listedFiles(40)));
    expect(judged.asked[1]?.toolResults.map(({ text }) => text.split(':')[0])).toEqual([
      'Skipped',
      'Not taken yet',
    ]);
    expect([endOf(judged), coverageOf(judged)]).toEqual([
      'inconclusive unread 1',
      'measured, 0 of 40 files, 0 of 80 lines',
    ]);
  });
});

describe('a line share', () => {
  it.each([
    ['lines:0.9', 9, 'success accepted 0'],
    ['lines:0.9', 8, 'inconclusive unread 1'],
    ['0.9', 9, 'success accepted 0'],
    ['0.9', 8, 'inconclusive unread 1'],
  ])('%s of ten files is reached by nine: %i', async (setting, count, end) => {
    const inputs = { schema: 'verdict', 'min-coverage': setting };
    const world = onPullRequest(listedFiles(10));
    expect(endOf(await judge([readDiff(0, count), submit('verdict')], inputs, world))).toBe(end);
  });

  it('counts lines where a share of files counts files', async () => {
    const long = listedFile(1, {
      ...{ additions: 98, deletions: 0 },
      patch: `@@ -0,0 +1,98 @@\n${Array.from({ length: 98 }, (_, at) => `+const long_${at} = ${at};`).join('\n')}`,
    });
    const world = onPullRequest([listedFile(0), long]);
    const inputs = (share: string) => ({ schema: 'verdict', 'min-coverage': share });
    const read = readFile('/tmp/context/diff.patch', { offset: 10 });
    const lines = await judge([read, submit('verdict')], inputs('lines:0.9'), world);
    expect([endOf(lines), coverageOf(lines)]).toEqual([
      'success accepted 0',
      'measured, 1 of 2 files, 98 of 100 lines',
    ]);
    expect(endOf(await judge([read, submit('verdict')], inputs('0.9'), world))).toBe('inconclusive unread 1');
  });
});

describe('a file without a patch', () => {
  const files = [listedFile(0), listedFile(1, { patch: null, additions: 9_000 })];

  it('is unseen where only GitHub could give it, and the model is told so', async () => {
    const judged = await judge(
      [readDiff(0, 1), readFile('src/file001.ts'), submits],
      review,
      onPullRequest(files),
    );
    expect(endOf(judged)).toBe('inconclusive unread 1');
    expect(judged.rejections[0]).toContain('- "src/file001.ts" (its diff is not known)');
    expect(judged.report.evidence?.coverage?.files.unseen).toEqual([
      { path: 'src/file001.ts', hunks: 0, shownHunks: 0 },
    ]);
  });

  it('which may be binary, is found out by git with the whole history only, and the advice says so', async () => {
    const binary = listedFile(1, { patch: null, additions: 0, deletions: 0 });
    const judged = await judge([readDiff(0, 1), submits], review, onPullRequest([listedFile(0), binary]));
    expect(endOf(judged)).toBe('inconclusive unread 1');
    expect(judged.report.verdict.error).toContain(
      'a checkout with the whole history (fetch-depth: 0) lets git tell what changed',
    );
  });

  it('that was only renamed needs its row in the list of files', async () => {
    const more = { patch: null, additions: 0, deletions: 0, status: 'renamed', previous: 'src/before.ts' };
    const world = onPullRequest([listedFile(0), listedFile(1, more)]);
    const row = readFile('/tmp/context/changed-files.txt');
    const judged = await judge([readDiff(0, 1), row, submits], review, world);
    expect([endOf(judged), coverageOf(judged)]).toEqual([
      'success accepted 0',
      'measured, 2 of 2 files, 2 of 2 lines',
    ]);
    const unread = await judge([readDiff(0, 1), submits], review, world);
    expect(unread.report.evidence?.coverage?.files.unseen).toEqual([
      { path: 'src/file001.ts', hunks: 1, shownHunks: 0 },
    ]);
    expect(unread.rejections[0]).toContain('- "src/file001.ts"');
    expect(unread.report.verdict.error).not.toContain('fetch-depth');
  });
});

/** A file of 60 lines that are in no other file. */
const body = (name: string) => Array.from({ length: 60 }, (_, at) => `const ${name}_${at} = ${at};`);
const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;

describe('a line of 4 MB', () => {
  const line = (length: number) => `const big = "${'0123456789abcdef'.repeat(length / 16)}";\n`;

  it('is shown by its start, in a diff that is known whole', async () => {
    commitChange(workspace(), { 'a.js': 'const big = "";\n' }, { 'a.js': line(3_900_000) });
    const judged = await judge(
      [command('cut -c1-5000 a.js; git diff main | cut -c1-5000'), submits],
      review,
      {
        since: 'main',
      },
    );
    expect([coverageOf(judged), endOf(judged)]).toEqual([
      'measured, 1 of 1 files, 2 of 2 lines',
      'success accepted 0',
    ]);
  });

  it.each([
    ['git diff main', 'measured, 1 of 1 files, 2 of 2 lines'],
    ['head -c 500 a.js', 'measured, 0 of 1 files, 0 of 2 lines'],
  ])('as the result of a command, which is cut: %s', async (look, coverage) => {
    commitChange(workspace(), { 'a.js': 'const big = "";\n' }, { 'a.js': line(3_900_000) });
    const judged = await judge([command(look), submit('verdict')], {}, { since: 'main' });
    expect(coverageOf(judged)).toBe(coverage);
  });

  it('is more than is known of a diff, whose coverage is then partial', async () => {
    commitChange(
      workspace(),
      { 'a.js': 'const big = "";\n', 'b.js': 'b\n' },
      { 'a.js': line(4_800_000), 'b.js': 'bb\n' },
    );
    const script = [command('git diff main | cut -c1-5000'), submits];
    const judged = await judge(script, review, { since: 'main' });
    expect([judged.report.evidence?.coverage?.status, endOf(judged)]).toEqual([
      'partial',
      'success accepted 0',
    ]);
    const typed = await judge(script, { ...review, 'min-coverage': '0.1' }, { since: 'main' });
    expect(endOf(typed)).toBe('inconclusive unread 1');
  });
});

describe('a change that is read by', () => {
  const added = body('added');
  const [one, two] = [body('one'), body('two')];
  const all = { 'src/one.ts': text(one), 'src/two.ts': text(two) };
  const after = {
    'src/one.ts': text(one.with(29, 'const changed_29 = "mine";')),
    'src/two.ts': text([...two, ...added]),
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
  const before = { ...all, 'check.sh': text(["cat <<'END'", ...log, 'END']) };

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
    const judged = await judge([...replies, submit('verdict')], {}, { since: 'main' });
    expect(judged.report.evidence?.coverage).toMatchObject({
      status: 'measured',
      files: { changed: 2, required: 2, shown: files },
    });
  });

  it('sed -n in the working directory, whose paths are not those of the repository', async () => {
    commitChange(workspace(), before, after);
    const judged = await judge(
      [command('sed -n 25,35p one.ts'), readFile('two.ts', { offset: 61 }), submit('verdict')],
      { 'working-directory': 'src' },
      { since: 'main' },
    );
    expect(judged.report.evidence?.coverage?.files).toMatchObject({ required: 2, shown: 2 });
  });
});
