/** What of a run is in no log and in no file. */
import { describe, expect, it } from 'vitest';
import { calls, KEY, left, runAction, submits } from '../support/fakes/runner/action.ts';

const CANARY = 'CANARY-5d2e';
const schema = JSON.stringify({
  type: 'object',
  required: ['passed'],
  properties: { passed: { type: 'boolean' }, note: { type: 'string' } },
  additionalProperties: { type: 'number' },
});
const files = { 'a.txt': 'hello\n' };

describe('arguments and prose', () => {
  it.each(['', '1'])(
    'P3 arguments of structured_output are not recorded (RUNNER_DEBUG=%s)',
    async (debug) => {
      const run = await runAction({
        script: [
          calls('read_file', { path: 'a.txt' }),
          submits({ passed: `${CANARY}-1`, note: `${CANARY}-2`, [`${CANARY}-3`]: 1 }),
          calls('structured_output', `{"passed": ${CANARY}-4`),
          submits({ passed: true, [`${CANARY}-5`]: 'x' }),
          calls('StructuredOutput', { passed: true, note: `${CANARY}-6` }),
          submits({ passed: true, note: 'PUBLISHED' }),
        ],
        files,
        inputs: { schema },
        variables: { RUNNER_DEBUG: debug },
      });
      expect([run.exitCode, run.outputs.get('note')]).toEqual([0, 'PUBLISHED']);
      expect(run.transcript).not.toMatch(/CANARY|PUBLISHED/u);
      expect(run.transcript).toContain('these arguments are not recorded');
      expect(run.transcript).toContain('{"path":"a.txt"}');
      expect(run.log).not.toContain(CANARY);
      expect(run.summary).toContain('PUBLISHED');
    },
  );

  it('P7 the log has no prose of the model, except the preview of plain text', async () => {
    const prose = { text: `${CANARY}-prose` };
    const script = [
      { ...prose, ...calls('read_file', { path: 'a.txt' }) },
      { ...prose, ...submits({ passed: true }) },
    ];
    const talk = await runAction({ script, files, inputs: { schema } });
    expect([talk.exitCode, talk.log.includes(CANARY)]).toEqual([0, false]);
    expect(talk.transcript).toContain(`${CANARY}-prose`);
    const long = `${'x'.repeat(150)} ${'y'.repeat(100)}${CANARY}`;
    const plain = await runAction({ script: [prose, { text: long }], inputs: { schema } });
    expect([plain.exitCode, plain.log.includes(CANARY)]).toEqual([1, false]);
    expect(plain.log).toContain('x'.repeat(150));
  });

  it('P6 a large log is complete in a pipe that is read late', async () => {
    const flood = calls('shell', { command: 'seq -f "line %g of a long log" 1 900' });
    const run = await runAction({
      script: (_request, index) => (index < 12 ? flood : submits({ passed: true })),
      inputs: { schema },
      variables: { RUNNER_DEBUG: '1' },
      readAfterMs: 3_000,
    });
    expect(run.exitCode).toBe(0);
    expect(run.log.match(/line 900 of a long log/gu)).toHaveLength(12);
    expect(run.log).toMatch(/SUCCESS|ACCEPTED/iu);
  });
});

describe('secrets', () => {
  it('are masked before the first line, and are nowhere else', async () => {
    const tokens = {
      GITHUB_TOKEN: 'ghs_canary0123456789abcdefghij',
      ACTIONS_RUNTIME_TOKEN: 'runtime-canary-0123456789',
    };
    const command = `echo ${KEY}; env; cat /proc/*/environ | tr '\\0' '\\n'`;
    const run = await runAction({
      script: [calls('shell', { command }), submits({ passed: true })],
      inputs: { schema },
      variables: { ...tokens, RUNNER_DEBUG: '1' },
    });
    expect(run.exitCode).toBe(0);
    const lines = run.log.split('\n');
    const end = lines.findIndex((line) => !line.startsWith('::add-mask::'));
    const masked = lines.slice(0, end);
    const secrets = [KEY, ...Object.values(tokens)];
    expect(masked.toSorted()).toEqual(secrets.map((secret) => `::add-mask::${secret}`).toSorted());
    for (const secret of secrets) expect(left(run)).not.toContain(secret);
    // The model wrote the key itself. No tool result may give it any other secret.
    expect(run.requests[1]?.raw).not.toMatch(/canary0123|runtime-canary/u);
  });

  const headers = 'X-Team: team-canary-0123\nAuthorization: Basic tok-canary-4567';
  const words = 'team-canary-0123 and tok-canary-4567';
  const message = 'No team-canary-0123 here, nor Basic tok-canary-4567';
  const error = { message, type: 'invalid_request_error' };

  it.each([
    [
      'that the model and the shell print',
      { text: words, ...calls('shell', { command: `echo ${words}; exit 3` }) },
      'accepted',
    ],
    ['in the server’s error message', { status: 400, error }, 'provider_error'],
    ['in a payload', submits({ passed: true, summary: `see ${words}` }), 'secret_in_payload'],
  ])('values of headers %s are masked', async (_, reply, reason) => {
    const good = submits({ passed: true, summary: 'all well' });
    const run = await runAction({
      script: [reply, good],
      inputs: { headers, 'api-key': '' },
      variables: { RUNNER_DEBUG: '1' },
    });
    expect(run.requests[0]?.headers).toMatchObject({
      'x-team': 'team-canary-0123',
      authorization: 'Basic tok-canary-4567',
    });
    expect(run.envelope).toMatchObject({ reason });
    expect(run.log).toContain('::add-mask::tok-canary-4567');
    expect(left(run)).not.toMatch(/team-canary|tok-canary/u);
  });

  it('values of headers are masked even if a line is invalid', async () => {
    const run = await runAction({ inputs: { headers: 'X-A: 1\nvalue-canary' } });
    expect([run.exitCode, run.requests.length]).toEqual([52, 0]);
    expect(run.envelope?.['error']).toMatch(/^headers: Line 2 is not a name, a colon/u);
    expect(left(run)).not.toContain('canary');
  });
});
