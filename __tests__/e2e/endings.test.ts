/** How a run of the bundle ends: exit code, outputs, envelope and summary agree, and nothing is left behind. */
import { describe, expect, it } from 'vitest';
import { type ActionOptions, calls, KEY, left, runAction, submits } from '../support/fakes/runner/action.ts';

const schema = JSON.stringify({
  type: 'object',
  required: ['passed', 'summary'],
  properties: { passed: { type: 'boolean' }, summary: { type: 'string' } },
  additionalProperties: false,
});
const payload = { passed: true, summary: 'all well' };
const good = submits(payload);
const look = calls('read_file', { path: 'a.txt' });
const KEY_IN_BASE64 = Buffer.from(KEY).toString('base64');
const refused = { message: `Incorrect API key provided: ${KEY}`, type: 'authentication_error' };

interface Row extends ActionOptions {
  readonly title: string;
  /** Conclusion, reason, exit code, subtype. */
  readonly ends: readonly [string, string, number, string];
  readonly requests: number;
  /** What the envelope's error says; null if the payload is published. */
  readonly error: RegExp | null;
}

const ACCEPTED = ['success', 'accepted', 0, 'success'] as const;
const work = [look, calls('shell', { command: 'cat a.txt; exit 3' }), good];

const rows: readonly Row[] = [
  {
    title: 'E7 a valid call',
    script: work,
    ends: ACCEPTED,
    requests: 3,
    error: null,
    inputs: { 'max-turns': '3' },
  },
  {
    title: 'a valid call in the other wire format',
    provider: 'anthropic',
    script: work,
    ends: ACCEPTED,
    requests: 3,
    error: null,
  },
  {
    title: 'E15 an unmet gate',
    script: [submits({ passed: false, summary: 'two tests fail' })],
    inputs: { gate: 'passed' },
    ends: ['failure', 'gate_not_met', 1, 'gate_not_met'],
    requests: 1,
    error: null,
  },
  {
    title: 'E1 two turns of plain text',
    script: [{ text: 'hm' }, { text: 'word '.repeat(200) }],
    ends: ['inconclusive', 'plain_text', 1, 'error_plain_text'],
    requests: 2,
    error: /2 turns.*word word/u,
  },
  {
    title: 'E6 no submission within max-turns',
    script: [look],
    inputs: { 'max-turns': '3' },
    ends: ['inconclusive', 'max_turns', 53, 'error_max_turns'],
    requests: 3,
    error: /the schema cannot be met/u,
  },
  {
    title: 'E12 a timeout during a command',
    script: [calls('shell', { command: 'exec sleep 600' })],
    inputs: { 'timeout-minutes': '0.05' },
    ends: ['inconclusive', 'timeout', 55, 'error_budget'],
    requests: 1,
    error: /timeout-minutes/u,
  },
  {
    title: 'E15 a gate on an undeclared property',
    script: [good],
    inputs: { gate: 'pased' },
    ends: ['inconclusive', 'config', 52, 'error_config'],
    requests: 0,
    error: /pased.*passed/u,
  },
  {
    title: 'E16 a rejected key',
    script: [{ status: 401, error: refused }],
    ends: ['inconclusive', 'provider_auth', 1, 'error_provider'],
    requests: 1,
    error: /refused the key from api-key/u,
  },
  {
    title: 'a payload that holds the key',
    script: [submits({ passed: true, summary: `see ${KEY_IN_BASE64}` })],
    ends: ['inconclusive', 'secret_in_payload', 1, 'error_security'],
    requests: 1,
    error: /secret/u,
  },
  {
    title: 'a missing key that may be missing',
    provider: 'anthropic',
    inputs: { 'api-key': '', 'on-missing-key': 'skip' },
    ends: ['skipped', 'missing_key', 0, 'skipped'],
    requests: 0,
    error: /^Nothing was judged, and this step is green all the same .*api-key/u,
  },
];

describe('a run', () => {
  it.each(rows)('with $title ends as the table says', async ({ ends, requests, error, ...options }) => {
    const run = await runAction({
      files: { 'a.txt': 'hello\n' },
      ...options,
      inputs: { schema, ...options.inputs },
    });
    const [conclusion, reason, exitCode, subtype] = ends;
    const { outputs, envelope } = run;
    const told = ['run-conclusion', 'run-reason', 'run-exit-code'].map((name) => outputs.get(name));
    expect([run.exitCode, ...told]).toEqual([exitCode, conclusion, reason, String(exitCode)]);
    const isError = exitCode !== 0;
    expect(envelope).toMatchObject({
      type: 'result',
      subtype,
      is_error: isError,
      exit_code: exitCode,
      conclusion,
      reason,
    });
    expect(run.requests).toHaveLength(requests);
    const published = error === null;
    expect([outputs.has('structured_output'), outputs.has('passed')]).toEqual([published, published]);
    expect(Object.hasOwn(envelope ?? {}, 'structured_output')).toBe(published);
    if (error !== null) expect(envelope?.['error']).toMatch(error);
    expect(run.summary).toContain(reason);
    expect([run.survivors, run.leftovers]).toEqual([[], []]);
    expect(left(run)).not.toContain(KEY);
    expect(left(run)).not.toContain(KEY_IN_BASE64);
  });

  it('sends tool results back, and publishes the payload as it was given', async () => {
    const run = await runAction({ files: { 'a.txt': 'hello\n' }, script: work, inputs: { schema } });
    expect(run.requests[1]?.raw).toContain('hello');
    expect(run.requests[2]?.raw).toMatch(/exit code 3/u);
    expect(run.outputs.get('structured_output')).toBe(JSON.stringify(payload));
    expect(run.outputs.get('passed')).toBe('true');
  });

  it('writes no summary with summary: false, for any ending', async () => {
    for (const script of [[good], [{ text: 'hm' }]]) {
      const run = await runAction({ script, inputs: { schema, summary: 'false' } });
      expect([run.summary, run.outputs.has('run-reason')]).toEqual(['', true]);
    }
  });

  it.each(['', '/dev/full'])('ends with 52 if outputs cannot be written (GITHUB_OUTPUT=%s)', async (file) => {
    const run = await runAction({ script: [good], inputs: { schema }, variables: { GITHUB_OUTPUT: file } });
    expect(run.exitCode).toBe(52);
    expect(run.envelope).toMatchObject({ reason: 'config', exit_code: 52 });
  });
});
