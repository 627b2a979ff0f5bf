/** Coverage of whole runs: what counts and when it is too late, files without a patch, and where the checkout is. */
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { ChangedFile } from '../../src/types.ts';
import { gitIn, hasSandbox } from '../sandbox/world.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import {
  coverageOf,
  listedFile,
  listedFiles,
  onPullRequest,
  readDiff,
  readFile,
  submit,
} from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/pull-request.ts';
import { record, replay } from '../support/worlds/recorded-run.ts';
import { base, converse } from '../support/worlds/run.ts';

const workspace = () => path.join(base, 'workspace');
const review = { schema: 'code-review', 'min-coverage': 'auto' };
const submits = submit('code-review');
const [half, rest] = [readDiff(0, 20), readDiff(20, 20)];
const both: Reply = { calls: [...(half.calls ?? []), ...(rest.calls ?? [])] };
const beside: Reply = { calls: [...(both.calls ?? []), ...(submits.calls ?? [])] };
const tooLong: Reply = {
  status: 400,
  error: { message: 'This model has a maximum context length.', code: 'context_length_exceeded' },
};
/** A provider that says how much of the first message it was given: next to nothing, or all. */
const cut = (reply: Reply): Reply => ({ ...reply, usage: { inputTokens: 1, outputTokens: 1 } });
const whole = (reply: Reply): Reply => ({ ...reply, usage: { inputTokens: 5_000, outputTokens: 1 } });

/** Its reason, the files that were shown and required, and how often a payload was sent back. */
function resultOf({ report }: Awaited<ReturnType<typeof converse>>): string {
  const { status, files } = report.evidence?.coverage ?? {};
  const isTaken = report.verdict.reason === 'accepted';
  expect([report.payload !== null, report.verdict.exitCode === 0]).toEqual([isTaken, isTaken]);
  expect(status).toBe('measured');
  return `${report.verdict.reason} ${files?.shown}/${files?.required} ${report.rejections}`;
}

it.each<[string, readonly Reply[], string, string]>([
  ['several calls in one turn', [both, submits], '30', 'accepted 40/40 0'],
  ['a result that is dropped later', [half, rest, tooLong, submits], '30', 'accepted 40/40 0'],
  ['but none that was dropped before', [half, tooLong, rest, submits], '30', 'unsupported 20/40 3'],
  ['but no call beside a payload', [beside, submits], '30', 'unsupported 0/40 3'],
  ['but nothing behind the last answer', [half, rest], '2', 'max_turns 20/40 0'],
  ['until the last turn', [half, submits, submits], '3', 'unsupported 20/40 1'],
  ['until the only turn', [submits], '1', 'unsupported 0/40 0'],
  ['until a last turn without a payload', [submits, both], '2', 'unsupported 0/40 1'],
])('what the model received counts: %s', async (_, replies, turns, expected) => {
  const judged = await converse(replies, { ...review, 'max-turns': turns }, onPullRequest(listedFiles(40)));
  expect(resultOf(judged)).toBe(expected);
});

it.runIf(hasSandbox)('a replay ends as the run did, and is judged by its own files', async () => {
  // With sandbox: off the context files are in another folder in each run.
  const inputs = { ...review, sandbox: 'required' };
  const world = onPullRequest(listedFiles(40));
  const recorded = await record([half, submits, rest, submits], inputs, world);
  for (const { report } of [recorded, await replay(inputs, world)])
    expect([coverageOf({ report }), report.rejections]).toEqual(['measured, 40 of 40 files', 1]);
  const others = await replay(inputs, onPullRequest(listedFiles(41)));
  expect([coverageOf(others), others.report.payload]).toEqual(['measured, 40 of 41 files', null]);
});

const image = Buffer.from([0, 1, 2, 3]);
const nul = 'one();\nnul("\0");\n';
const renamed = { status: 'renamed', previous: 'src/b.ts' };
const [first, list] = [cut(readDiff(0, 1)), readFile('/tmp/context/changed-files.txt')];
const [readWhole, readPart] = [readFile('a.ts'), readFile('a.ts', { limit: 1 })];
it.each<[string, string, Buffer | string | null, Partial<ChangedFile>, readonly Reply[], string]>([
  ['large, not in the checkout', 'a.ts', null, { additions: 9 }, [first, readWhole], 'unsupported 1/2'],
  ['not in the checkout', 'a.ts', null, {}, [first, readWhole], 'unsupported 1/2'],
  ['with a NUL, read as a whole', 'a.ts', nul, {}, [first, readWhole], 'accepted 2/2'],
  ['with a NUL, read in part', 'a.ts', nul, {}, [first, readPart], 'unsupported 1/2'],
  ['renamed, not listed', 'a.ts', null, renamed, [first], 'unsupported 1/2'],
  ['renamed, and listed', 'a.ts', null, renamed, [first, list], 'accepted 2/2'],
  ['an image beside a diff in the first message', 'a.png', image, {}, [], 'accepted 1/1'],
  ['a text with the name of an image', 'a.png', 'evil();\n', {}, [], 'unsupported 1/2'],
])('a file without a patch: %s', async (_, name, text, more, replies, expected) => {
  if (text !== null) commitChange(workspace(), {}, { [name]: text });
  const blob = text === null ? '' : gitIn(workspace(), 'hash-object', name);
  const bare = { patch: null, additions: 0, deletions: 0, path: name, blob };
  const files = [listedFile(0), listedFile(1, { ...bare, ...more })];
  const judged = await converse([...replies, whole(submits)], review, onPullRequest(files));
  expect(resultOf(judged)).toContain(expected);
  for (const sentBack of judged.rejections) expect(sentBack).toContain(`- "${name}"\n`);
});

it.each<[folder: string, file: string]>([
  ['.', 'sub/src/file000.ts'],
  ['sub', 'src/file000.ts'],
  ['sub/src', 'file000.ts'],
  ['link', 'file000.ts'],
  ['sub/docs', ''],
])('a checkout below the workspace, judged in %s', async (folder, file) => {
  const lines = (middle: string) => ({
    'src/file000.ts': `const first_file000 = 1;\nconst ${middle}_file000 = 2;\nconst last_file000 = 3;\n`,
  });
  mkdirSync(path.join(workspace(), 'sub/docs'), { recursive: true });
  symlinkSync('sub/src', path.join(workspace(), 'link'));
  commitChange(path.join(workspace(), 'sub'), lines('old'), lines('new'));
  const inputs = { ...review, 'working-directory': folder };
  const count = file === '' ? 0 : 1;
  for (const world of [onPullRequest([listedFile(0)]), { since: 'main' }]) {
    const read = await converse([cut(readFile(file || '.')), submits], inputs, world);
    expect(resultOf(read)).toBe(`accepted ${count}/${count} 0`);
    const unread = await converse([cut(readFile('.')), submits], inputs, world);
    expect(coverageOf(unread)).toBe(`measured, 0 of ${count} files`);
    const inlined = await converse([whole(submits)], inputs, world);
    expect(coverageOf(inlined)).toBe(`measured, ${count} of ${count} files`);
  }
});
