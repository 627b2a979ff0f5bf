/** The merge action through the bundle. How votes, findings and gates are merged is in __tests__/merge/. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { MERGE_OUTPUTS } from '../../scripts/generate.ts';
import { startGitHubServer } from '../support/fakes/github/server.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import {
  type ActionOptions,
  type ActionRun,
  calls,
  runAction,
  submits,
} from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';

type Envelope = NonNullable<ActionRun['envelope']>;
/** Envelopes or texts by their path in the folder of verdicts. */
type Verdicts = Readonly<Record<string, Envelope | string>>;

const KEY = '0123456789abcdef0123456789abcdef';
const RUN = { GITHUB_REPOSITORY: 'octo/demo', GITHUB_RUN_ID: '100' };
const FINDING = { severity: 'error', path: 'src/a.ts', line: 3, message: 'It leaks.' };

/** Runs a leg as in its own job. The files of its findings do not exist. */
async function runLeg(reply: Reply, inputs: Readonly<Record<string, string>>): Promise<Envelope> {
  const own = { leg: 'api', gate: 'off', grounding: 'off', ...inputs };
  const { envelope } = await runAction({ script: [reply], inputs: own, variables: RUN });
  if (envelope === null) throw new Error('no envelope');
  return envelope;
}

const green = submits({ passed: true, summary: 'Fine.', findings: [] });
let passing: Envelope;
let failing: Envelope;
let cutOff: Envelope;
let signed: Envelope;
beforeAll(async () => {
  passing = await runLeg(green, { vote: '1' });
  failing = await runLeg(submits({ passed: false, summary: 'No.', findings: [FINDING] }), { vote: '1' });
  cutOff = await runLeg(calls('read_file', { path: '.' }), { 'max-turns': '1' });
  signed = await runLeg(green, { 'signing-key': KEY });
});

/** The same verdict for another leg, vote or attempt. */
function of(envelope: Envelope, leg: string, vote: string | null = null, attempt = 1): Envelope {
  const subject = Object(envelope['subject']);
  // As if the run's workspace were a checkout of the subject.
  const own = { ...subject, checked_out: subject.sha, run_attempt: attempt };
  return { ...envelope, leg, vote, subject: own };
}

function merge(verdicts: Verdicts, inputs: Readonly<Record<string, string>>, options: ActionOptions = {}) {
  return runAction({
    ...options,
    entry: 'merge',
    inputs: { verdicts: 'verdicts', ...inputs },
    variables: { ...RUN, ...options.variables },
    async prepare({ workspace }) {
      for (const [name, content] of Object.entries(verdicts)) {
        const file = path.join(workspace, 'verdicts', name);
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
      }
    },
  });
}

const endOf = ({ exitCode, outputs }: ActionRun) => `${exitCode} ${outputs.get('run-reason')}`;

it('is green when every leg passes: outputs, envelope, summary, and an outvoted finding, which is marked', async () => {
  const verdicts = {
    'a/result.json': of(failing, 'api', '1'),
    'b/result.json': of(passing, 'api', '2'),
    'c/result.json': of(passing, 'api', '3'),
  };
  const run = await merge(verdicts, { expect: 'api', votes: 'majority of 3' });
  expect([endOf(run), run.outputs.get('passed'), run.requests]).toEqual(['0 accepted', 'true', []]);
  const payload = JSON.parse(run.outputs.get('structured_output') ?? '');
  expect(payload).toMatchObject({
    passed: true,
    findings: [{ ...FINDING, legs: ['api'], votes: 1, outvoted: true }],
  });
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

it('takes envelopes signed with its key, refuses others, and never shows it', async () => {
  const expected = { expect: 'api', 'signing-key': KEY };
  const good = await merge({ 'a.json': signed }, expected, { variables: { RUNNER_DEBUG: '1' } });
  expect(endOf(good)).toBe('0 accepted');
  expect(String(good.envelope?.['signature'])).toMatch(/^hmac-sha256:[0-9a-f]{64}$/u);
  const masked = good.log.replaceAll(`::add-mask::${KEY}`, '');
  for (const text of [masked, good.summary, JSON.stringify(good.envelope)]) expect(text).not.toContain(KEY);
  const both = await merge({ 'a.json': signed, 'b.json': of(failing, 'api') }, expected);
  expect([endOf(both), both.outputs.has('passed')]).toEqual(['52 config', false]);
  expect(both.log).toContain('it is not signed');
});

it('gives the runner no command and no Markdown of an envelope, whatever a leg or a file is named', async () => {
  const LEG = '<img src=x onerror=alert(1)> | **b** `c` [x](https://evil.example) @octocat';
  const hostile = `${LEG}\n::set-output name=passed::true\r::error::x\u001b[31m\u202e`;
  const error = `${hostile}\n::warning::injected`;
  const name = hostile.trim().replace(/\s+/gu, ' ');
  const debug = { variables: { RUNNER_DEBUG: '1' } };
  const run = await merge(
    { 'a.json': of(passing, name), 'b.json': { ...of(cutOff, 'web'), error, result: error } },
    { expect: JSON.stringify([name, 'web']) },
    debug,
  );
  const junk = { '::error::named.json': hostile, 'a.json': of(passing, hostile) };
  const refused = await merge(junk, { expect: 'api' });
  expect([endOf(run), endOf(refused)]).toEqual(['1 undecided', '52 config']);
  for (const { log } of [run, refused]) {
    const effects = parseLog(log).filter(
      ({ name }) => !/^(?:add-mask|group|endgroup|error|warning)$/u.test(name),
    );
    expect(effects).toEqual([]);
    expect(log).not.toMatch(/^::(?:warning|error)::(?:injected|x)|\u001b\[31m|\u202e/mu);
  }
  expect(run.summary).not.toMatch(/<img|(?<!\\)\[x\]\(https:\/\/evil/u);
  expect(run.outputs.has('passed')).toBe(false);
});

it('ends with 130 after a signal while envelopes are read', async () => {
  const names = Array.from({ length: 400 }, (_, at) => `leg-${at}`);
  const many = Object.fromEntries(names.map((name) => [`${name}/result.json`, of(passing, name)]));
  // The mask of the key is written first, long before the last file is read.
  const onLine: ActionOptions['onLine'] = (line, kill) => line.startsWith('::add-mask::') && kill('SIGTERM');
  const run = await merge(many, { expect: names.join(), 'signing-key': KEY }, { onLine });
  expect([endOf(run), run.outputs.get('run-exit-code')]).toEqual(['130 cancelled', '130']);
  expect(run.envelope).toMatchObject({ reason: 'cancelled', exit_code: 130 });
  expect(run.outputs.has('passed')).toBe(false);
});

it('keeps one comment and one status on a pull request across attempts', async () => {
  const repo = { full_name: RUN.GITHUB_REPOSITORY };
  const [head, base] = [
    { ref: 'change', sha: 'a'.repeat(40) },
    { ref: 'main', sha: 'b'.repeat(40) },
  ];
  const hub = await startGitHubServer({ pulls: [{ number: 7, head, base, files: [] }] });
  const pull = { number: 7, title: 'A change', body: '', user: { login: 'x' } };
  const event = { pull_request: { ...pull, head: { ...head, repo }, base: { ...base, repo } } };
  const reports = { comment: 'always', 'commit-status': 'verdict', 'github-token': 'test-token' };
  const run = (verdicts: Verdicts, attempt: string) =>
    merge(
      verdicts,
      { expect: 'api, web', ...reports },
      {
        github: { hub, event },
        variables: { GITHUB_REF: 'refs/pull/7/merge', GITHUB_RUN_ATTEMPT: attempt },
      },
    );
  const first = { 'a.json': of(passing, 'api'), 'b.json': of(cutOff, 'web') };
  expect(endOf(await run(first, '1'))).toBe('1 undecided');
  expect(endOf(await run({ ...first, 'c.json': of(passing, 'web', null, 2) }, '2'))).toBe('0 accepted');
  expect(hub.comments()).toHaveLength(1);
  expect(hub.statuses().map(({ state }) => state)).toEqual(['error', 'success']);
  await hub.close();
});
