/** The merge action through the bundle. How votes, findings and gates are merged is in __tests__/merge/. */
import { expect, it } from 'vitest';
import { MERGE_OUTPUTS } from '../../scripts/generate.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { type ActionRun, calls, runAction, submits } from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const RUN = { GITHUB_REPOSITORY: 'octo/demo', GITHUB_RUN_ID: '100', RUNNER_DEBUG: '1' };
const FINDING = { severity: 'error', path: 'src/a.ts', line: 3, message: 'It leaks.' };
type Texts = Readonly<Record<string, string>>;

/** Runs a leg as in its own job. The files of its findings do not exist. */
async function runLeg(reply: Reply, inputs: Texts = {}) {
  const own = { leg: 'api', gate: 'off', grounding: 'off', ...inputs };
  const { envelope } = await runAction({ script: [reply], inputs: own, variables: RUN });
  // As if the run's workspace were a checkout of the subject.
  const subject = Object(envelope?.['subject']);
  return { ...envelope, subject: { ...subject, checked_out: subject.sha } };
}

/** Merges envelopes or texts, by the names of their files. */
function merge(verdicts: Readonly<Record<string, object | string>>, inputs: Texts) {
  const files = Object.entries(verdicts).map(([name, content]) => [
    ...[`verdicts/${name}`, typeof content === 'string' ? content : JSON.stringify(content)],
  ]);
  const given = { verdicts: 'verdicts', ...inputs };
  return runAction({ entry: 'merge', files: Object.fromEntries(files), inputs: given, variables: RUN });
}

const endOf = ({ exitCode, outputs }: ActionRun) => `${exitCode} ${outputs.get('run-reason')}`;
const green = submits({ passed: true, summary: 'Fine.', findings: [] });

it('is green when every leg passes: outputs, envelope, summary, and an outvoted finding, which is marked', async () => {
  const passing = await runLeg(green);
  const failing = await runLeg(submits({ passed: false, summary: 'No.', findings: [FINDING] }));
  const votes = [failing, passing, passing].map((each, at) => [
    `${at}/result.json`,
    { ...each, vote: `${at}` },
  ]);
  const verdicts = Object.fromEntries(votes);
  const run = await merge(verdicts, { expect: 'api', votes: 'majority of 3' });
  expect([endOf(run), run.outputs.get('passed'), run.requests]).toEqual(['0 accepted', 'true', []]);
  const payload = JSON.parse(run.outputs.get('structured_output') ?? '');
  const outvoted = { ...FINDING, legs: ['api'], votes: 1, outvoted: true };
  expect(payload).toMatchObject({ passed: true, findings: [outvoted] });
  const tally = { pass: 1, fail: 0, abstain: 0, expected: 1 };
  expect(run.envelope).toMatchObject({ leg: null, merged: { tally }, structured_output: payload });
  expect([...run.outputs.keys()]).toEqual(Object.keys(MERGE_OUTPUTS));
  expect(run.summary).toContain('1 of 1 leg');
  expect(run.summary).toContain('| api · outvoted |');
  // Nothing is checked out: no finding has a place, so none is annotated, and a SARIF file would close every alert.
  expect(Object.keys(run.results)).toEqual(['result.json']);
  expect(parseLog(run.log).filter(({ name }) => ['error', 'warning', 'notice'].includes(name))).toEqual([]);
  expect([run.leftovers, run.survivors]).toEqual([[], []]);
});

it('takes envelopes signed with its key, and never shows it', async () => {
  const expected = { expect: 'api', 'signing-key': KEY };
  const inputs = { leg: 'api', 'signing-key': KEY };
  const { envelope: signed } = await runAction({ script: [green], variables: RUN, inputs });
  const good = await merge({ 'a.json': signed ?? '' }, expected);
  expect(endOf(good)).toBe('0 accepted');
  expect(String(good.envelope?.['signature'])).toMatch(/^hmac-sha256:[0-9a-f]{64}$/u);
  const masked = good.log.replaceAll(`::add-mask::${KEY}`, '');
  for (const text of [masked, good.summary, JSON.stringify(good.envelope)]) expect(text).not.toContain(KEY);
});

it('gives the runner no command and no Markdown of an envelope, whatever a leg or a file is named', async () => {
  const LEG = '<img src=x onerror=alert(1)> | **b** `c` [x](https://evil.example) @octocat';
  const hostile = `${LEG}\n::set-output name=passed::true\r::error::x\u001b[31m\u202e`;
  const error = `${hostile}\n::warning::injected`;
  const leg = hostile.trim().replace(/\s+/gu, ' ');
  const passing = await runLeg(green);
  const cutOff = await runLeg(calls('read_file', { path: '.' }), { 'max-turns': '1' });
  const web = { ...cutOff, leg: 'web', error, result: error };
  const verdicts = { 'a.json': { ...passing, leg }, 'b.json': web };
  const run = await merge(verdicts, { expect: JSON.stringify([leg, 'web']) });
  const junk = { '::error::named.json': hostile, 'a.json': { ...passing, leg: hostile } };
  const refused = await merge(junk, { expect: 'api' });
  expect([endOf(run), endOf(refused)]).toEqual(['1 undecided', '52 config']);
  for (const { log } of [run, refused]) {
    const harmless = /^(?:add-mask|group|endgroup|error|warning)$/u;
    expect(parseLog(log).filter(({ name }) => !harmless.test(name))).toEqual([]);
    expect(log).not.toMatch(/^::(?:warning|error)::(?:injected|x)|\u001b\[31m|\u202e/mu);
  }
  expect(run.summary).not.toMatch(/<img|(?<!\\)\[x\]\(https:\/\/evil/u);
  expect(run.outputs.has('passed')).toBe(false);
});
