/** Coverage of whole runs: what is sent back and how often, files without a patch, and long lines. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { gitIn } from '../sandbox/world.ts';
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

const review = { schema: 'code-review', 'min-coverage': 'auto' };
const submits = submit('code-review');
const [half, rest] = [readDiff(0, 20), readDiff(20, 20)];
/** A provider that cuts the first message, so that the diff in it does not count. */
const cut = (reply: Reply): Reply => ({ ...reply, usage: { inputTokens: 1, outputTokens: 1 } });

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
    expect(judged.report.verdict.error).toMatch(/ Not shown: "src\/file000.ts", .* and 245 more\. /u);
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
  it.each([{ additions: 9_000 }, { additions: 0, deletions: 0 }])(
    'is not shown if the checkout lacks it: %j',
    async (more) => {
      const files = [listedFile(0), listedFile(1, { patch: null, ...more })];
      const script = [readDiff(0, 1), readFile('src/file001.ts'), submits];
      const judged = await converse(script, review, onPullRequest(files));
      expect([endOf(judged), coverageOf(judged)]).toEqual([
        'inconclusive unsupported 1',
        'measured, 1 of 2 files',
      ]);
      expect(judged.rejections[0]).toContain('- "src/file001.ts"\n');
    },
  );

  it('is shown by all of its lines at the head', async () => {
    commitChange(workspace(), {}, { 'src/file001.ts': 'one();\nnul("\0");\n' });
    const blob = gitIn(workspace(), 'hash-object', 'src/file001.ts');
    const files = [listedFile(0), listedFile(1, { patch: null, additions: 0, deletions: 0, blob })];
    for (const [limit, shown] of [
      [2, 2],
      [1, 1],
    ] as const) {
      const script = [cut(readDiff(0, 1)), readFile('src/file001.ts', { limit }), submits];
      const judged = await converse(script, review, onPullRequest(files));
      expect(coverageOf(judged)).toBe(`measured, ${shown} of 2 files`);
    }
  });

  it('that was only renamed needs its row in the list of files', async () => {
    const more = { patch: null, additions: 0, deletions: 0, status: 'renamed', previous: 'src/before.ts' };
    const world = onPullRequest([listedFile(0), listedFile(1, more)]);
    const row = readFile('/tmp/context/changed-files.txt');
    const judged = await converse([cut(readDiff(0, 1)), submits, row, submits], review, world);
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
    'inconclusive unsupported 1',
  ]);
});
