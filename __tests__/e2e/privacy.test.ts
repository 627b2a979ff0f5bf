/** What of a run is in no log and in no file. */
import { expect, it } from 'vitest';
import { hasSandbox } from '../sandbox/world.ts';
import { calls, KEY, left, runAction, submits } from '../support/fakes/runner/action.ts';

const CANARY = 'CANARY-5d2e';
const schema = JSON.stringify({
  ...{ required: ['passed'], additionalProperties: { type: 'number' } },
  properties: { passed: { type: 'boolean' }, note: { type: 'string' } },
});
const files = { 'a.txt': '</pre><script>1</script><img src=x onerror=alert(1)>\n' };

it('P3 arguments of structured_output are not recorded', async () => {
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
    variables: { RUNNER_DEBUG: '1' },
  });
  expect([run.exitCode, run.outputs.get('note')]).toEqual([0, 'PUBLISHED']);
  expect(run.transcript).not.toMatch(/CANARY|PUBLISHED/u);
  expect(run.transcript).toContain('these arguments are not recorded');
  expect(run.transcript).toContain('{"path":"a.txt"}');
  expect(run.log).not.toContain(CANARY);
  expect(run.summary).toContain('PUBLISHED');
  const page = run.results['report.html'] ?? '';
  for (const text of ['<h1>passed</h1>', 'PUBLISHED', 'read_file', 'Rejected: ', 'onerror'])
    expect(page).toContain(text);
  expect(page).not.toMatch(/CANARY|<script|<img/u);
});

it('P7 the log has no prose of the model, except the preview of plain text', async () => {
  const long = `${'x'.repeat(150)} ${'y'.repeat(100)}${CANARY}`;
  const prose = { text: `${CANARY}-prose` };
  const talks = { ...prose, ...calls('read_file', { path: 'a.txt' }) };
  const run = await runAction({ script: [talks, prose, { text: long }], files, inputs: { schema } });
  expect([run.exitCode, run.log.includes(CANARY)]).toEqual([1, false]);
  expect(run.log).toContain('x'.repeat(150));
  expect(run.transcript).toContain(`${CANARY}-prose`);
});

it('P6 a large log is complete in a pipe that is read late', async () => {
  const flood = calls('shell', { command: 'seq -f "line %g of a long log" 1 900' });
  const run = await runAction({
    script: (_request, index) => (index < 12 ? flood : submits({ passed: true })),
    inputs: { schema },
    variables: { RUNNER_DEBUG: '1' },
    readAfterMs: 1_000,
  });
  expect(run.exitCode).toBe(0);
  expect(run.log.match(/line 900 of a long log/gu)).toHaveLength(12);
  expect(run.log).toMatch(/SUCCESS|ACCEPTED/iu);
});

it.runIf(hasSandbox)('secrets are masked before the first line, and are nowhere else', async () => {
  const tokens = {
    GITHUB_TOKEN: 'ghs_canary0123456789abcdefghij',
    ACTIONS_RUNTIME_TOKEN: 'runtime-canary-0123456789',
  };
  const team = 'team-canary-0123';
  const command = `echo ${KEY} ${team}; env; cat /proc/*/environ | tr '\\0' '\\n'`;

  const tells = { text: team, ...calls('shell', { command }) };
  const run = await runAction({
    script: [tells, { status: 400, error: { message: `No ${team} here` } }],
    inputs: { schema, headers: `X-Team: ${team}` },
    variables: { ...tokens, RUNNER_DEBUG: '1' },
  });
  expect(run.envelope).toMatchObject({ reason: 'provider_error' });
  expect(run.requests[0]?.headers['x-team']).toBe(team);
  const [masked = ''] = /^(?:::add-mask::.*\n)+/u.exec(run.log) ?? [];
  const secrets = [KEY, team, ...Object.values(tokens)];
  expect(masked.split('\n').toSorted()).toEqual([
    '',
    ...secrets.map((each) => `::add-mask::${each}`).toSorted(),
  ]);
  for (const secret of secrets) expect(left(run)).not.toContain(secret);
  // The model wrote the key itself. No tool result may give it any other secret.
  expect(run.requests[1]?.raw).not.toMatch(/canary0123|runtime-canary/u);
});
