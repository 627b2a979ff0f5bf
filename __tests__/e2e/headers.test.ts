import { describe, expect, it } from 'vitest';
import { calls, left, runAction, submits } from '../support/fakes/runner/action.ts';

describe('values of headers', () => {
  const given = { headers: 'X-Team: team-canary-0123\nAuthorization: Basic tok-canary-4567', 'api-key': '' };
  const canaries = /team-canary|tok-canary/u;

  it('are in no log, transcript, summary, envelope or output, even if the model and the shell print them', async () => {
    const words = 'team-canary-0123 and tok-canary-4567';
    const run = await runAction({
      script: [
        { text: words, ...calls('shell', { command: `echo ${words}; echo ${words} >&2; exit 3` }) },
        calls('no_such_tool', { words }),
        calls(words.replaceAll(' ', '_'), {}),
        submits({ passed: words }),
        { text: words, ...submits({ passed: true, summary: 'all well' }) },
      ],
      inputs: {
        ...given,
        'log-level': 'full',
        schema: '{"type":"object","properties":{"passed":{"type":"boolean"}}}',
      },
    });
    expect(run.exitCode).toBe(0);
    expect(run.requests[0]?.headers).toMatchObject({
      'x-team': 'team-canary-0123',
      authorization: 'Basic tok-canary-4567',
    });
    expect(run.transcript).toContain('*** and ***');
    expect(run.log).toContain('*** and ***');
    expect(run.log).toContain('::add-mask::tok-canary-4567');
    expect(left(run)).not.toMatch(canaries);
  });

  it('are removed from the server’s error message', async () => {
    const message = 'No team-canary-0123 here, nor Basic tok-canary-4567';
    const run = await runAction({
      script: [{ status: 400, error: { message, type: 'invalid_request_error' } }],
      inputs: given,
    });
    expect(run.envelope).toMatchObject({ reason: 'provider_error', exit_code: 1 });
    expect(run.envelope?.['error']).toContain('It said: "No *** here');
    expect(left(run)).not.toMatch(canaries);
  });

  it('make a payload that contains them unpublishable', async () => {
    const run = await runAction({
      script: [submits({ passed: true, summary: 'see tok-canary-4567' })],
      inputs: given,
    });
    expect(run.envelope).toMatchObject({ reason: 'secret_in_payload', exit_code: 1 });
    expect(left(run)).not.toMatch(canaries);
  });

  it('are masked when a line is invalid, which is named by its number', async () => {
    const run = await runAction({
      script: [submits({ passed: true, summary: 'all well' })],
      inputs: { headers: 'X-A: 1\nvalue-canary' },
    });
    expect([run.exitCode, run.requests.length]).toEqual([52, 0]);
    expect(run.envelope?.['error']).toMatch(/^Line 2 of headers has no colon/u);
    expect(left(run)).not.toContain('canary');
  });
});
