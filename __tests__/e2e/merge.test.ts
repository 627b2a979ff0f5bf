import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MERGE_OUTPUTS } from '../../scripts/generate.ts';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { type ActionOptions, type ActionRun, runAction, submits } from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';

type Envelope = NonNullable<ActionRun['envelope']>;
/** JSON texts by their path in the folder of verdicts. */
type Verdicts = Readonly<Record<string, Envelope | string>>;

const KEY = '0123456789abcdef0123456789abcdef';
const REPOSITORY = 'octo/demo';
const RUN = { GITHUB_REPOSITORY: REPOSITORY, GITHUB_RUN_ID: '100' };
const FINDING = { severity: 'error', path: 'src/a.ts', line: 3, message: 'It leaks.' };

/** Runs a leg as in its own job. */
async function runLeg(options: ActionOptions): Promise<Envelope> {
  const { envelope } = await runAction({ ...options, variables: { ...RUN, ...options.variables } });
  if (envelope === null) throw new Error('no envelope');
  return envelope;
}

let passing: Envelope;
let failing: Envelope;
let cutOff: Envelope;
let signed: Envelope;
beforeAll(async () => {
  const findings = [FINDING];
  // As in docs/: a leg is red only when it is inconclusive.
  // The files of the findings do not exist.
  const inputs = { leg: 'api', vote: '1', gate: 'off', grounding: 'off' };
  const passes = [submits({ passed: true, summary: 'Fine.', findings: [] })];
  passing = await runLeg({ inputs, script: passes });
  failing = await runLeg({ inputs, script: [submits({ passed: false, summary: 'No.', findings })] });
  const looks = [{ text: '', calls: [{ name: 'list_dir', arguments: '{}' }] }];
  cutOff = await runLeg({ inputs: { ...inputs, 'max-turns': '1' }, script: looks });
  signed = await runLeg({ inputs: { leg: 'api', 'signing-key': KEY }, script: passes });
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
    async prepare(places) {
      await options.prepare?.(places);
      await mkdir(path.join(places.workspace, 'verdicts'));
      for (const [name, content] of Object.entries(verdicts)) {
        const file = path.join(places.workspace, 'verdicts', name);
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
      }
    },
  });
}

const endOf = (run: ActionRun) => [
  run.exitCode,
  run.outputs.get('run-conclusion'),
  run.outputs.get('run-reason'),
];
const undecided = [1, 'inconclusive', 'undecided'];
const success = [0, 'success', 'accepted'];
const refused = [52, 'inconclusive', 'config'];

describe('the merge action', () => {
  it('is green when every leg passes: outputs, envelope, summary', async () => {
    const run = await merge(
      { 'verdict-api/result.json': of(passing, 'api'), 'verdict-web/result.json': of(passing, 'web') },
      { expect: 'api, web' },
    );
    expect(endOf(run)).toEqual(success);
    expect(run.outputs.get('passed')).toBe('true');
    expect(JSON.parse(run.outputs.get('structured_output') ?? '')).toEqual(
      run.envelope?.['structured_output'],
    );
    expect(run.envelope).toMatchObject({
      leg: null,
      merged: { tally: { pass: 2, fail: 0, abstain: 0, expected: 2 } },
      structured_output: { passed: true, findings: [] },
    });
    expect([...run.outputs.keys()]).toEqual(Object.keys(MERGE_OUTPUTS));
    expect(run.summary).toContain('2 of 2 legs');
    expect(run.requests).toEqual([]);
    expect([run.leftovers, run.survivors]).toEqual([[], []]);
  });

  it('is red when one leg fails, and lists its findings once', async () => {
    const run = await merge(
      {
        'a/result.json': of(failing, 'api', '1'),
        'b/result.json': of(failing, 'api', '2'),
        'c/result.json': of(passing, 'api', '3'),
        'd/result.json': of(passing, 'web', '1'),
        'e/result.json': of(passing, 'web', '2'),
      },
      { expect: 'api, web', votes: 'majority of 3' },
    );
    expect(endOf(run)).toEqual([1, 'failure', 'gate_not_met']);
    expect(run.outputs.get('passed')).toBe('false');
    expect(run.envelope?.['structured_output']).toMatchObject({
      passed: false,
      tally: { pass: 1, fail: 1, abstain: 0, expected: 2 },
      findings: [{ path: 'src/a.ts', line: 3, legs: ['api'], votes: 2 }],
    });
  });

  it('is green with an outvoted finding, which is marked in payload and summary', async () => {
    const verdicts = {
      'a.json': of(failing, 'api', '1'),
      'b.json': of(passing, 'api', '2'),
      'c.json': of(passing, 'api', '3'),
    };
    const run = await merge(verdicts, { expect: 'api', votes: 'majority of 3' });
    expect(endOf(run)).toEqual(success);
    expect(run.envelope?.['structured_output']).toMatchObject({
      findings: [{ ...FINDING, legs: ['api'], votes: 1, outvoted: true }],
    });
    expect(run.summary).toContain('| api · outvoted |');
    // Nothing is checked out: a SARIF file without places would close every alert.
    expect(Object.keys(run.results)).toEqual(['result.json']);
    // Without a checkout no finding has a place, so none is annotated.
    expect(parseLog(run.log).filter(({ name }) => ['error', 'warning', 'notice'].includes(name))).toEqual([]);
  });

  it.each<readonly [string, Verdicts, Readonly<Record<string, string>>, string]>([
    ['no folder', {}, { verdicts: 'nowhere' }, 'nowhere'],
    ['a file that is not an envelope', { 'c.json': '{"type":' }, {}, '"c.json": it is not valid JSON'],
    ['an input that does not exist', {}, { rule: 'all' }, 'rule: There is no such input'],
  ])('%s is an input error with a message', async (_, verdicts, inputs, words) => {
    const run = await merge(verdicts, { expect: 'api', ...inputs });
    expect(endOf(run)).toEqual(refused);
    expect(run.envelope?.['error']).toContain(words);
    expect(run.outputs.has('passed')).toBe(false);
  });
});

describe('the signing key', () => {
  it('accepts envelopes signed with it, refuses others, and is never shown', async () => {
    const expected = { expect: 'api', 'signing-key': KEY };
    const good = await merge({ 'a.json': signed }, expected, { variables: { RUNNER_DEBUG: '1' } });
    expect(endOf(good)).toEqual(success);
    expect(String(good.envelope?.['signature'])).toMatch(/^hmac-sha256:[0-9a-f]{64}$/u);
    const masked = good.log.replaceAll(`::add-mask::${KEY}`, '');
    for (const text of [masked, good.summary, JSON.stringify(good.envelope)]) expect(text).not.toContain(KEY);
    for (const envelope of [of(passing, 'api'), { ...signed, num_turns: 9 }, { ...signed, vote: '2' }])
      expect(endOf(await merge({ 'a.json': envelope }, expected))).toEqual(refused);
    const both = await merge({ 'a.json': signed, 'b.json': of(failing, 'api') }, expected);
    expect(endOf(both)).toEqual(refused);
    expect(both.log).toContain('it is not signed');
  });
});

describe('hostile envelopes', () => {
  const LEG = '<img src=x onerror=alert(1)> | **b** `c` [x](https://evil.example) @octocat';

  it('cannot send commands to the runner or inject Markdown, whatever a leg is named', async () => {
    const hostile = `${LEG}\n::set-output name=passed::true\r::error::x\u001b[31m\u202e`;
    const error = `${hostile}\n::warning::injected`;
    const name = hostile.trim().replace(/\s+/gu, ' ');
    const run = await merge(
      {
        'a.json': of(passing, name),
        'b.json': { ...of(cutOff, 'web'), error, result: error },
      },
      { expect: JSON.stringify([name, 'web']) },
      { variables: { RUNNER_DEBUG: '1' } },
    );
    expect(endOf(run)).toEqual(undecided);
    const junk = await merge(
      { '::error::named.json': hostile, 'a.json': of(passing, hostile) },
      { expect: 'api' },
    );
    expect(endOf(junk)).toEqual(refused);
    const commands = `${run.log}\n${junk.log}`
      .split(/\r\n|\n|\r/u)
      .filter((line) => /^\s*::|^##\[/u.test(line));
    for (const line of commands)
      expect(line).toMatch(
        /^::(?:add-mask|warning|error|group|endgroup|notice|stop-commands|[0-9a-f-]{36})/u,
      );
    expect(commands.filter((line) => /set-output|::injected|::x/u.test(line.slice(0, 20)))).toEqual([]);
    for (const { log } of [run, junk]) expect(log).not.toMatch(/\u001b\[31m|\u202e/u);
    expect(run.summary).not.toContain('<img');
    expect(run.summary).not.toMatch(/(?<!\\)\[x\]\(https:\/\/evil/u);
    expect(run.outputs.has('passed')).toBe(false);
  });
});

describe('a signal', () => {
  it('while envelopes are read ends the merge with 130', async () => {
    const names = Array.from({ length: 400 }, (_, at) => `leg-${at}`);
    const many = Object.fromEntries(names.map((name) => [`${name}/result.json`, of(passing, name)]));
    let sent = false;
    const run = await merge(
      many,
      // The mask of the key is written first, long before the last file is read.
      { expect: names.join(), 'signing-key': KEY },
      {
        onLine(line, kill) {
          if (sent || !line.startsWith('::add-mask::')) return;
          sent = true;
          kill('SIGTERM');
        },
      },
    );
    expect(sent).toBe(true);
    expect(endOf(run)).toEqual([130, 'inconclusive', 'cancelled']);
    expect(run.outputs.get('run-exit-code')).toBe('130');
    expect(run.envelope).toMatchObject({ reason: 'cancelled', exit_code: 130 });
    expect(run.outputs.has('passed')).toBe(false);
  });
});

describe('on a pull request', () => {
  const HEAD = 'a'.repeat(40);
  const BASE = 'b'.repeat(40);
  let server: GitHubServer;
  beforeEach(async () => {
    const ends = { head: { ref: 'change', sha: HEAD }, base: { ref: 'main', sha: BASE } };
    const pulls = [{ number: 7, ...ends, files: [], diff: '' }];
    server = await startGitHubServer({ repository: REPOSITORY, pulls, branches: { main: BASE } });
  });
  afterEach(() => server.close());

  it('keeps one comment and one status across attempts', async () => {
    const repo = { full_name: REPOSITORY };
    const ends = { head: { ref: 'change', sha: HEAD, repo }, base: { ref: 'main', sha: BASE, repo } };
    const event = { pull_request: { number: 7, title: 'A change', body: '', user: { login: 'x' }, ...ends } };
    const run = (verdicts: Verdicts, attempt: string) =>
      merge(
        verdicts,
        { expect: 'api, web', comment: 'always', 'commit-status': 'verdict', 'github-token': 'test-token' },
        {
          github: { hub: server, event },
          variables: { GITHUB_REF: 'refs/pull/7/merge', GITHUB_RUN_ATTEMPT: attempt },
        },
      );
    const first = await run({ 'a.json': of(passing, 'api'), 'b.json': of(cutOff, 'web') }, '1');
    expect(endOf(first)).toEqual(undecided);
    const web = of(passing, 'web', null, 2);
    const second = await run(
      { 'a.json': of(passing, 'api'), 'b.json': of(cutOff, 'web'), 'c.json': web },
      '2',
    );
    expect(endOf(second)).toEqual(success);
    expect(server.comments().length).toBe(1);
    expect(server.statuses().map(({ state }) => state)).toEqual(['error', 'success']);
  });
});
