/**
 * Every ending of a run through the bundle, on a pull request with a green comment and a green status of an earlier attempt:
 * exit code, outputs, envelope, summary, comment and status agree, and nothing is left behind.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { OUTPUTS } from '../../scripts/generate.ts';
import { hasSandbox } from '../sandbox/world.ts';
import type { GitHubWorld } from '../support/fakes/github/server.ts';
import type { Reply, Script } from '../support/fakes/model/server.ts';
import {
  type ActionOptions,
  type ActionRun,
  calls,
  KEY,
  left,
  type Places,
  runAction,
  submits,
} from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';
import { makeFolder } from '../support/surroundings.ts';
import { commitChange, pullRequestEvent, servePullRequest } from '../support/worlds/pull-request.ts';

type Texts = Readonly<Record<string, string>>;

const ROOT = path.join(import.meta.dirname, '../..');
const checkout = makeFolder();
const commits = commitChange(checkout, {}, {});
const COMMENT = { comment: 'always', 'comment-key': 'review' };
const REPORTS = { 'github-token': 'test-token', 'commit-status': 'agent', ...COMMENT };
const payload = { passed: true, summary: 'all well', findings: [] };
const good = submits(payload);
const look = calls('read_file', { path: 'a.txt' });
const shell = (command: string) => calls('shell', { command });
const work = [look, shell('cat a.txt; exit 3'), good];
const KEY_IN_BASE64 = Buffer.from(KEY).toString('base64');
const leak = submits({ ...payload, summary: `see ${KEY_IN_BASE64}` });
const red = submits({ ...payload, passed: false });
const counts = { command: 'npm test', test_count: 3, failure_count: 0, skipped_count: 0, failures: [] };
const untested = submits({ passed: true, summary: 'Fine.', ...counts });
const failure = (status: number, message: string): readonly Reply[] => [{ status, error: { message } }];
const OVERFLOW = { message: 'too long', code: 'context_length_exceeded' };
const never = () => new Promise<never>(() => undefined);
const WITHOUT_KEY = { provider: 'openai', 'base-url': '', 'api-key': '' };
const REPLAY = { ...WITHOUT_KEY, provider: '', model: '', replay: 'recordings/released.jsonl' };
const PROMPT = 'Run the test suite of this repository and say whether it may be released.';
const TASK = { prompt: PROMPT, schema: '@.github/verdict.schema.json' };
const RIGHTS = { GITHUB_EVENT_NAME: 'pull_request_target' };
const TESTED = { schema: 'test-report', 'min-coverage': '' };
const INVALID = { 'max-turns': 'x', sandbox: 'none' };
const SHORT = { 'timeout-minutes': '0.03' };
const COSTLY = { 'max-cost-usd': '0.0001', model: 'claude-sonnet-5-5', provider: 'anthropic' };
const FORK = { ...WITHOUT_KEY, 'on-missing-key': 'skip' };
const MERGE = { verdicts: 'verdicts', expect: 'api, web' };
/** Makes the clock of a run fail, as a bug would. */
const BUG = `const start = globalThis.setTimeout;
  const fail = () => { throw new RangeError('a bug'); };
  globalThis.setTimeout = (call, ms, ...rest) => (ms === 420_000 ? fail() : start(call, ms, ...rest));`;
const withBug = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BUG)}` };

/** Conclusion, exit code and subtype of each reason. */
const ENDS = {
  accepted: 'success 0 success',
  gate_not_met: 'failure 1 gate_not_met',
  plain_text: 'inconclusive 1 error_plain_text',
  refusal: 'inconclusive 1 error_refusal',
  provider_auth: 'inconclusive 1 error_provider',
  provider_rate_limit: 'inconclusive 1 error_provider',
  provider_overloaded: 'inconclusive 1 error_provider',
  provider_error: 'inconclusive 1 error_provider',
  context_overflow: 'inconclusive 1 error_provider',
  replay_mismatch: 'inconclusive 1 error_replay',
  secret_in_payload: 'inconclusive 1 error_security',
  tampered: 'inconclusive 1 error_security',
  unsupported: 'inconclusive 1 error_evidence',
  internal: 'inconclusive 1 error_internal',
  sandbox: 'inconclusive 44 error_sandbox',
  config: 'inconclusive 52 error_config',
  max_turns: 'inconclusive 53 error_max_turns',
  timeout: 'inconclusive 55 error_budget',
  max_tokens: 'inconclusive 55 error_budget',
  max_cost: 'inconclusive 55 error_budget',
  cancelled: 'inconclusive 130 error_cancelled',
  missing_key: 'skipped 0 skipped',
  undecided: 'inconclusive 1 error_undecided',
};

/** The folders of the run that goes on. */
let places: Places = { workspace: '', temp: '', outputFile: '' };

const breakSandbox: Script = (_, index) => {
  const run = readdirSync(places.temp).find((name) => name.startsWith('structured-agent-run-')) ?? 'absent';
  if (index === 1) rmSync(path.join(places.temp, run, 'context'), { recursive: true });
  return shell('echo turn');
};
const tamper: Script = (_, index) =>
  index === 0 ? shell(`cd '${path.dirname(places.outputFile)}'; echo forged=true | tee -a *`) : good;
const putDemo = () =>
  cpSync(path.join(ROOT, 'examples/demo/repository'), places.workspace, { recursive: true });
const putEnvelope = () => {
  mkdirSync(path.join(places.workspace, 'verdicts'));
  writeFileSync(path.join(places.workspace, 'verdicts/api.json'), JSON.stringify(first.envelope));
};

/** Sends SIGTERM when the log has a matching line. */
const killAt = (when: RegExp): More => ({ kill: { when, signals: ['SIGTERM'] } });

type More = Omit<ActionOptions, 'prepare'> & { readonly put?: () => void };
type Reason = keyof typeof ENDS;
/** `error` is what the envelope says, null if the payload is published. */
type Row = [title: string, Reason, error: RegExp | null, Script, inputs?: Texts, more?: More];

const broken: Row[] = hasSandbox
  ? [['a sandbox that breaks', 'sandbox', /No command can be/, breakSandbox]]
  : [];

const rows: Row[] = [
  ['E7 a valid call', 'accepted', null, work, { 'max-turns': '3' }],
  ['E15 an unmet gate', 'gate_not_met', null, [red]],
  ['a replay', 'accepted', null, [], { ...REPLAY, ...TASK }, { put: putDemo }],
  ['plain text', 'plain_text', /plain text/, [{ text: 'All good.' }]],
  ['a refusal', 'refusal', /refused/, [{ text: 'I will not.', finishReason: 'content_filter' }]],
  ['E16 a rejected key', 'provider_auth', /answered 401 .* key from api-key/, failure(401, `Not ${KEY}`)],
  ['a rate limit', 'provider_rate_limit', /429/, failure(429, 'slow down')],
  ['an overloaded API', 'provider_overloaded', /503/, failure(503, 'overloaded')],
  ['a failure of the API', 'provider_error', /400/, failure(400, 'no such field')],
  ['a full context', 'context_overflow', /too long/, [{ status: 400, error: OVERFLOW }]],
  ['a recording of another task', 'replay_mismatch', /recorded for another/, [], REPLAY, { put: putDemo }],
  ['a replay with rights', 'config', /refused on pull_request_target/, [], REPLAY, { variables: RIGHTS }],
  ['a payload with the key', 'secret_in_payload', /secret/, [leak]],
  ['a changed file of the runner', 'tampered', /_commands.* was changed/, tamper, { sandbox: 'off' }],
  ['a command that was not run', 'unsupported', /no command was run/, [look, untested], TESTED],
  ['a bug', 'internal', /RangeError: a bug/, work, { 'timeout-minutes': '7' }, { variables: withBug }],
  ...broken,
  ['invalid inputs', 'config', /^2 problems to fix: .*max-turns.*sandbox/, [], INVALID],
  ['no key', 'config', /api-key.*OPENAI_API_KEY/, [], WITHOUT_KEY],
  ['too many turns', 'max_turns', /max-turns/, [look], { 'max-turns': '1' }],
  ['E12 a timeout during a command', 'timeout', /timeout-minutes/, [shell('sleep 600')], SHORT],
  ['too many tokens', 'max_tokens', /max-total-tokens/, [look], { 'max-total-tokens': '1' }],
  ['too high costs', 'max_cost', /max-cost-usd/, [look], COSTLY],
  ['E10 SIGTERM during a request', 'cancelled', /Cancelled by SIGTERM/, never, {}, killAt(/^turn 1/)],
  ['E11 SIGTERM after a valid call', 'cancelled', null, [good], {}, killAt(/structured_output · accepted/)],
  ['a fork without a key', 'missing_key', /Nothing was judged/, [], FORK],
  ['a merge without one of its legs', 'undecided', /web/, [], MERGE, { entry: 'merge', put: putEnvelope }],
];

/** Runs an attempt on a pull request that has these comments and statuses. */
async function judge(
  world: Partial<GitHubWorld>,
  attempt: string,
  script: Script,
  inputs: Texts = {},
  { put, variables, ...options }: More = {},
) {
  const hub = await servePullRequest('A change', [], commits, world);
  const run = await runAction({
    ...options,
    script,
    files: { 'a.txt': 'hello\n' },
    inputs: { ...REPORTS, ...inputs },
    github: { hub, event: pullRequestEvent('A change', commits) },
    variables: { GITHUB_RUN_ATTEMPT: attempt, ...variables },
    prepare: async (made) => {
      places = made;
      cpSync(checkout, made.workspace, { recursive: true });
      put?.();
    },
  });
  await hub.close();
  return { run, comments: hub.comments(), statuses: hub.statuses() };
}

let first: ActionRun;
let green: Required<Pick<GitHubWorld, 'comments' | 'statuses'>>;
beforeAll(async () => {
  ({ run: first, ...green } = await judge({}, '1', work, { leg: 'api' }));
  expect(green.statuses.map(({ state }) => state)).toEqual(['pending', 'success']);
});

it.each(rows)('%s: %s', async (_, reason, error, script, inputs, more) => {
  const { run, comments, statuses } = await judge(green, '2', script, inputs, more);
  const [conclusion = '', code, subtype] = ENDS[reason].split(' ');
  const outputs = ['run-conclusion', 'run-reason', 'run-exit-code'].map((name) => run.outputs.get(name));
  expect([run.exitCode, ...outputs], run.log).toEqual([Number(code), conclusion, reason, code]);

  const ended = { type: 'result', exit_code: Number(code), is_error: code !== '0' };
  expect(run.envelope).toMatchObject({ ...ended, subtype, conclusion, reason });
  const isPublished = error === null;
  const isThere = ['structured_output', 'passed', 'forged'].map((name) => run.outputs.has(name));
  expect(isThere).toEqual([isPublished, isPublished, false]);
  expect(Object.hasOwn(run.envelope ?? {}, 'structured_output')).toBe(isPublished);
  if (!isPublished) expect(run.envelope?.['error']).toMatch(error);

  const sentence = `conclusion ${conclusion} · reason ${reason} `;
  expect(run.summary).toContain(sentence);
  expect(comments).toHaveLength(1);
  // On a signal nothing is sent: the status is pending since the run began.
  if (reason === 'cancelled') expect(comments).toEqual(green.comments);
  else expect(comments[0]?.body).toContain(sentence);
  const isReplay = run.envelope?.['replayed'] === true && reason !== 'config';
  const texts = [run.summary, run.log, comments[0]?.body ?? ''];
  for (const text of texts) expect(text.includes('Replayed: no model')).toBe(isReplay);
  const states = isReplay ? {} : { success: 'success', failure: 'failure' };
  const state = reason === 'cancelled' ? 'pending' : (Reflect.get(states, conclusion) ?? 'error');
  expect(statuses.at(-1)).toMatchObject({ state, sha: commits.after });
  // The ending itself, once.
  const errors = parseLog(run.log).filter(({ name }) => name === 'error');
  expect(errors).toHaveLength(Number(conclusion === 'inconclusive' || conclusion === 'failure'));

  expect([run.survivors, run.leftovers]).toEqual([[], []]);
  expect(left(run)).not.toContain(KEY);
  expect(left(run)).not.toContain(KEY_IN_BASE64);
});

it('every reason of the envelope’s schema is in this table', () => {
  const { properties } = JSON.parse(readFileSync(path.join(ROOT, 'schemas/envelope.schema.json'), 'utf8'));
  const all = properties.reason.enum.toSorted();
  expect(Object.keys(ENDS).toSorted()).toEqual(all);
  const missing = hasSandbox ? [] : ['sandbox'];
  expect([...new Set(rows.map(([, reason]) => reason)), ...missing].toSorted()).toEqual(all);
});

it('a green run sends tool results back, publishes the payload as it was given, and sets all outputs of action.yml', () => {
  expect(first.requests[1]?.raw).toContain('hello');
  expect(first.requests[2]?.raw).toMatch(/exit code 3/u);
  expect(first.outputs.get('structured_output')).toBe(JSON.stringify(payload));
  expect([...first.outputs.keys()].toSorted()).toEqual(Object.keys(OUTPUTS).toSorted());
});

it('no summary is written with summary: false, and no patch with sandbox: off', async () => {
  const script = [shell('echo new > a.txt'), good];
  const run = await runAction({ script, inputs: { summary: 'false', sandbox: 'off' } });
  expect([run.exitCode, run.summary, run.outputs.get('run-patch-file')]).toEqual([0, '', '']);
  expect(run.files).toEqual({ 'a.txt': 'new\n' });
});

it('outputs that cannot be written end a run with 52', async () => {
  const run = await runAction({ script: [good], variables: { GITHUB_OUTPUT: '/dev/full' } });
  expect(run.exitCode).toBe(52);
  expect(run.envelope).toMatchObject({ reason: 'config', exit_code: 52 });
});
