import { describe, expect, it } from 'vitest';
import { calls, KEY, runAction, submits } from '../support/fakes/runner/action.ts';

const CANARY = 'CANARY-5d2e';
const schema = JSON.stringify({
  type: 'object',
  required: ['passed'],
  properties: { passed: { type: 'boolean' }, note: { type: 'string' } },
  additionalProperties: { type: 'number' },
});

describe('privacy', () => {
  it.each(['summary', 'full'])(
    'P3 transcript and log have no arguments of structured_output or unoffered tools at log-level %s',
    async (level) => {
      const run = await runAction({
        script: [
          calls('read_file', { path: 'a.txt' }),
          submits({ passed: `${CANARY}-1`, note: `${CANARY}-2`, [`${CANARY}-3`]: 1 }),
          calls('structured_output', `{"passed": ${CANARY}-4`),
          submits({ passed: true, [`${CANARY}-7`]: 'x' }),
          calls('StructuredOutput', { passed: true, note: `${CANARY}-6` }),
          submits({ passed: true, note: `${CANARY}-5` }),
        ],
        files: { 'a.txt': 'hello\n' },
        inputs: { schema, 'log-level': level },
        variables: { RUNNER_DEBUG: level === 'full' ? '1' : '' },
      });
      expect(run.exitCode).toBe(0);
      const transcript = run.transcript;
      expect(transcript).not.toContain(CANARY);
      expect(transcript).toContain('these arguments are not recorded');
      expect(transcript).toContain('{\\"path\\":\\"a.txt\\"}');
      expect(transcript).toContain('hello');
      for (const part of ['-1', '-2', '-3', '-4', '-6', '-7']) expect(run.log).not.toContain(CANARY + part);
      expect(run.outputs.get('note')).toBe(`${CANARY}-5`);
      expect(run.summary).toContain(`${CANARY}-5`);
    },
  );

  it('P7 the log has no prose of the model at log-level summary, except the plain-text preview', async () => {
    const talk = await runAction({
      script: [
        { text: `${CANARY}-prose`, calls: [{ name: 'read_file', arguments: '{"path":"a.txt"}' }] },
        { text: `${CANARY}-prose`, calls: [{ name: 'structured_output', arguments: '{"passed":true}' }] },
      ],
      files: { 'a.txt': 'hello\n' },
      inputs: { schema },
    });
    expect(talk.exitCode).toBe(0);
    expect(talk.log).not.toContain(CANARY);
    expect(talk.transcript).toContain(`${CANARY}-prose`);
    const long = `${'x'.repeat(150)} ${'y'.repeat(100)}${CANARY}`;
    const plain = await runAction({
      script: [{ text: `${CANARY}-first` }, { text: long }],
      inputs: { schema },
    });
    expect(plain.exitCode).toBe(1);
    expect(plain.log).not.toContain(CANARY);
    expect(plain.log).toContain('x'.repeat(150));
  });

  it('masks the key before the first line, and shows it nowhere else', async () => {
    const run = await runAction({
      script: [
        calls('shell', { command: `echo ${KEY}; env; cat /proc/*/environ | tr '\\0' '\\n'` }),
        submits({ passed: true }),
      ],
      inputs: { schema, 'log-level': 'full' },
      variables: {
        GITHUB_TOKEN: 'ghs_canary0123456789abcdefghij',
        ACTIONS_RUNTIME_TOKEN: 'runtime-canary-0123456789',
      },
    });
    expect(run.exitCode).toBe(0);
    const lines = run.log.split('\n');
    const firstOther = lines.findIndex((line) => !line.startsWith('::add-mask::'));
    const masked = lines.slice(0, firstOther).map((line) => line.replace('::add-mask::', ''));
    expect(masked.toSorted()).toEqual(
      [KEY, 'ghs_canary0123456789abcdefghij', 'runtime-canary-0123456789'].toSorted(),
    );
    const rest = [
      lines.slice(firstOther).join('\n'),
      run.transcript,
      run.summary,
      JSON.stringify(run.envelope),
    ].join('\n');
    for (const secret of masked) expect(rest).not.toContain(secret);
    // The model wrote the key itself. No tool result may give it any other secret.
    expect(run.requests[1]?.raw).not.toContain('canary0123');
    expect(run.requests[1]?.raw).not.toContain('runtime-canary');
  });

  it('P6 writes a large log completely into a pipe that is read late, and then exits', async () => {
    const flood = calls('shell', { command: 'seq -f "line %g of a long log" 1 900' });
    const run = await runAction({
      script: (_request, index) => (index < 12 ? flood : submits({ passed: true })),
      inputs: { schema, 'log-level': 'full' },
      readAfterMs: 3_000,
    });
    expect(run.exitCode).toBe(0);
    expect(run.log.length).toBeGreaterThan(200_000);
    expect(run.log.match(/line 900 of a long log/gu)).toHaveLength(12);
    expect(run.log).toMatch(/SUCCESS|ACCEPTED/iu);
    expect(run.log).toContain('result.json');
  });
});
