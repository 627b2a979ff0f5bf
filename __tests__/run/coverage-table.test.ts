/** Whole runs on a change of 40 files: each cell of the table of docs/evidence.md, what counts as shown, and until when. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { hasSandbox } from '../sandbox/world.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { coverageOf, endOf, listedFiles, onPullRequest, readDiff, submit } from '../support/worlds/change.ts';
import { converse, type Inputs, record, replay } from '../support/worlds/run.ts';

const OWN = '{"type":"object","properties":{"passed":{"type":"boolean"}}}';
const SCHEMAS = ['code-review', 'security-review', 'verdict', 'your own'] as const;
type SchemaName = (typeof SCHEMAS)[number];
const submits = (name: SchemaName, payload = {}) => submit(name === 'your own' ? 'verdict' : name, payload);
const settings = (name: SchemaName, minCoverage: string): Inputs => ({
  ...{ schema: name === 'your own' ? OWN : name, gate: 'passed', 'min-coverage': minCoverage },
});

const FILES = listedFiles(40);
const known = onPullRequest(FILES);
const partly = onPullRequest(FILES, 'GitHub lists 3000 files.');
const [half, rest] = [readDiff(0, 20), readDiff(20, 20)];

/** Of each column: what the model reads and submits, and the coverage in the end, if it is sent back or not. */
const SITUATIONS: readonly (readonly [string, readonly (Reply | 'submit')[], object, string, string?])[] = [
  ['all 40', [half, rest], known, 'measured, 40 of 40'],
  ['20, then the rest', [half, 'submit', rest], known, 'measured, 20 of 40', 'measured, 40 of 40'],
  ['20', [half], known, 'measured, 20 of 40'],
  ['none', [], known, 'measured, 0 of 40'],
  ['unknown change', [half], {}, 'unknown, 0 of 0'],
  ['partly known change', [half, rest], partly, 'partial, 40 of 40'],
];
const columns = ['`min-coverage`', '`schema`', ...SITUATIONS.map(([column]) => column)].join(' | ');
const document = readFileSync(path.join(import.meta.dirname, '../../docs/evidence.md'), 'utf8');
const [table = ''] = document.split(`| ${columns} |`)[1]?.split('\n\n') ?? [];
const lines = table.split('\n').slice(2);
const rows = lines.map((line) => line.slice(2, -2).replaceAll('`', '').split(' | '));
/** What `auto` stands for differs from preset to preset; a typed setting is the same for two of them. */
const cases = rows.flatMap(([setting = '', schemas = '', ...ends]) =>
  SCHEMAS.filter((name) => schemas === 'any' || schemas.split(', ').includes(name))
    .filter((name) => setting === 'auto' || name !== 'security-review')
    .map((name) => [setting, name, ends] as const),
);

it('the table of the documentation is read as a whole', () => {
  expect([rows.length, cases.length]).toEqual([7, 13]);
});

it.each(cases)('min-coverage: %s with %s', async (setting, name, ends) => {
  for (const [at, [column, reads, world, asRead, whenTold = asRead]] of SITUATIONS.entries()) {
    const script = [...reads, 'submit' as const].map((each) => (each === 'submit' ? submits(name) : each));
    const judged = await converse(script, settings(name, setting), world);
    const { rejections, payload } = judged.report;
    const isTaken = ends[at] === 'accepted';
    const end = isTaken ? 'success accepted 0' : `inconclusive ${ends[at]} 1`;
    const coverage = `${rejections === 0 ? asRead : whenTold} files`;
    expect([column, endOf(judged), coverageOf(judged)]).toEqual([column, end, coverage]);
    expect(payload !== null).toBe(isTaken);
    // A payload is sent back only where the model can show more.
    expect(rejections).toBeLessThanOrEqual(asRead.startsWith('measured') ? 3 : 0);
  }
});

const review = settings('code-review', 'auto');
const green = submits('code-review');
const red = submits('code-review', { passed: false });
const both: Reply = { calls: [...(half.calls ?? []), ...(rest.calls ?? [])] };
const beside: Reply = { calls: [...(both.calls ?? []), ...(green.calls ?? [])] };
const tooLong: Reply = { status: 400, error: { message: 'No.', code: 'context_length_exceeded' } };
/** A provider that says how much of the first message it was given; by default it is next to nothing. */
const given = (inputTokens: number, name: SchemaName = 'code-review'): readonly Reply[] => [
  { ...submits(name), usage: { inputTokens, outputTokens: 10 } },
];
const turns = (count: string) => ({ ...review, 'max-turns': count });

it.each<[string, readonly Reply[], Inputs, string]>([
  ['several calls in one turn', [both, green], review, 'accepted 40/40 0'],
  ['a result that is dropped later', [half, rest, tooLong, green], review, 'accepted 40/40 0'],
  ['but none that was dropped before', [half, tooLong, rest, green], review, 'unsupported 20/40 3'],
  ['but no call beside a payload', [beside, green], review, 'unsupported 0/40 3'],
  ['but nothing behind the last answer', [half, rest], turns('2'), 'max_turns 20/40 0'],
  ['until the last turn', [half, green, green], turns('3'), 'unsupported 20/40 1'],
  ['until the only turn', [green], turns('1'), 'unsupported 0/40 0'],
  ['until a last turn without a payload', [green, both], turns('2'), 'unsupported 0/40 1'],
  ['nothing, if the payload is red', [red], review, 'gate_not_met 0/40 0'],
  ['the diff in the first message', given(5_000), review, 'accepted 40/40 0'],
  ['one that the provider cut', given(100), review, 'unsupported 0/40 3'],
  ["with a schema of one's own", given(5_000, 'your own'), settings('your own', '1'), 'accepted 40/40 0'],
  ['but not by default', given(5_000, 'verdict'), settings('verdict', 'auto'), 'unsupported 0/40 1'],
])('what the model received counts: %s', async (_, replies, inputs, expected) => {
  const { report } = await converse(replies, inputs, known);
  const { shown, required } = report.evidence?.coverage?.files ?? {};
  expect(`${report.verdict.reason} ${shown}/${required} ${report.rejections}`).toBe(expected);
  expect(report.payload !== null).toBe(/^(?:accepted|gate)/u.test(expected));
});

it.runIf(hasSandbox)('a replay ends as the run did, and is judged by its own files', async () => {
  // With sandbox: off the context files are in another folder in each run.
  const inputs = { ...review, sandbox: 'required' };
  const recorded = await record([half, green, rest, green], inputs, known);
  for (const { report } of [recorded, await replay(inputs, known)])
    expect([coverageOf({ report }), report.rejections]).toEqual(['measured, 40 of 40 files', 1]);
  const others = await replay(inputs, onPullRequest(listedFiles(41)));
  expect([coverageOf(others), others.report.payload]).toEqual(['measured, 40 of 41 files', null]);
});
