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

const work = [look, calls('shell', { command: 'cat a.txt; exit 3' }), good];
const red = [submits({ passed: false, summary: 'two tests fail' })];
const slow = [calls('shell', { command: 'exec sleep 600' })];
const leak = [submits({ passed: true, summary: `see ${KEY_IN_BASE64}` })];
const aMoment = { 'timeout-minutes': '0.05' };
const ACCEPTED = 'success accepted 0 success';

/** Other endings through the bundle are in the tests of the command line, GitHub, privacy and invalid inputs. */
const rows: readonly (readonly [
  title: string,
  options: ActionOptions,
  /** Conclusion, reason, exit code, subtype. */
  ends: string,
  requests: number,
  /** What the envelope's error says; null if the payload is published. */
  error: RegExp | null,
])[] = [
  ['E7 a valid call', { script: work, inputs: { 'max-turns': '3' } }, ACCEPTED, 3, null],
  ['a valid call in the other wire format', { script: work, provider: 'anthropic' }, ACCEPTED, 3, null],
  [
    'E15 an unmet gate',
    { script: red, inputs: { gate: 'passed' } },
    ...(['failure gate_not_met 1 gate_not_met', 1, null] as const),
  ],
  [
    'E12 a timeout during a command',
    { script: slow, inputs: aMoment },
    ...(['inconclusive timeout 55 error_budget', 1, /timeout-minutes/u] as const),
  ],
  [
    'E16 a rejected key',
    { script: [{ status: 401, error: refused }] },
    ...([
      'inconclusive provider_auth 1 error_provider',
      1,
      /answered 401 .* Check that the key from api-key is valid/u,
    ] as const),
  ],
  [
    'a payload that holds the key',
    { script: leak },
    ...(['inconclusive secret_in_payload 1 error_security', 1, /secret/u] as const),
  ],
];

describe('a run', () => {
  it.each(rows)('with %s ends as the table says', async (_, options, ends, requests, error) => {
    const run = await runAction({
      files: { 'a.txt': 'hello\n' },
      ...options,
      inputs: { schema, ...options.inputs },
    });
    const [conclusion, reason = '', code, subtype] = ends.split(' ');
    const exitCode = Number(code);
    const { outputs, envelope } = run;
    const told = ['run-conclusion', 'run-reason', 'run-exit-code'].map((name) => outputs.get(name));
    expect([run.exitCode, ...told]).toEqual([exitCode, conclusion, reason, String(exitCode)]);
    const ended = { type: 'result', is_error: exitCode !== 0, exit_code: exitCode };
    expect(envelope).toMatchObject({ ...ended, subtype, conclusion, reason });
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
