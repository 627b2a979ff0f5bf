import { describe, expect, it } from 'vitest';
import { type ActionOptions, calls, runAction, submits } from '../support/fakes/runner/action.ts';

/** Milliseconds between the first signal and the runner's kill. Without an end, a run here takes minutes. */
const RUNNER_KILLS_MS = 7_500;
const good = submits({ passed: true, summary: 'all well' });
const cancelled = {
  conclusion: 'inconclusive',
  reason: 'cancelled',
  exit_code: 130,
  subtype: 'error_cancelled',
};

/**
 * Runs until the log has a matching line, then sends the signal. Returns the run and how long it lived after that, in
 * milliseconds.
 */
async function interrupt(line: RegExp, signal: NodeJS.Signals, options: ActionOptions) {
  let sentAt = 0;
  let sent = false;
  const run = await runAction({
    ...options,
    onLine: (text, kill) => {
      if (sent || !line.test(text)) return;
      sent = true;
      sentAt = performance.now();
      kill(signal);
    },
  });
  const livedOn = performance.now() - sentAt;
  expect(sent).toBe(true);
  return { run, livedOn };
}

describe('a signal', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'E10 %s during a request ends with 130 before the runner kills, with outputs and envelope',
    async (signal) => {
      const { run, livedOn } = await interrupt(/^turn 1/u, signal, {
        script: () => new Promise<never>(() => undefined),
      });
      expect(run.exitCode).toBe(130);
      expect(livedOn).toBeLessThan(RUNNER_KILLS_MS);
      expect(run.envelope).toMatchObject(cancelled);
      expect(run.envelope?.['error']).toContain(signal);
      expect(run.outputs.get('run-exit-code')).toBe('130');
      expect(run.outputs.has('structured_output')).toBe(false);
      expect(run.summary).toContain('cancelled');
    },
  );

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'E10 %s during a command ends with 130 before the runner kills, and leaves no child',
    async (signal) => {
      const command = 'trap "" TERM INT; (setsid sleep 300 &); bash -c "exec -a SAMARK-e10 sleep 300"';
      const { run, livedOn } = await interrupt(/▸ shell/u, signal, { script: [calls('shell', { command })] });
      expect(run.exitCode).toBe(130);
      expect(livedOn).toBeLessThan(RUNNER_KILLS_MS);
      expect(run.envelope).toMatchObject(cancelled);
      expect(run.survivors).toEqual([]);
      expect(run.leftovers).toEqual([]);
    },
  );

  it('E11 a signal after the payload was accepted publishes it and ends with 130', async () => {
    const { run, livedOn } = await interrupt(/structured_output · accepted/u, 'SIGTERM', { script: [good] });
    expect(run.exitCode).toBe(130);
    expect(livedOn).toBeLessThan(RUNNER_KILLS_MS);
    expect(run.envelope).toMatchObject({
      ...cancelled,
      structured_output: { passed: true, summary: 'all well' },
    });
    expect(run.outputs.get('run-conclusion')).toBe('inconclusive');
    expect(run.outputs.get('run-exit-code')).toBe('130');
    expect(run.outputs.get('structured_output')).toBe('{"passed":true,"summary":"all well"}');
  });

  it('E10 a signal while the reports are written leaves complete and consistent results', async () => {
    const { run } = await interrupt(/^─{5}/u, 'SIGTERM', { script: [good] });
    // The signal may come before or after the last output. Either way the results are complete and consistent.
    expect([0, 130]).toContain(run.exitCode);
    expect(run.outputs.get('run-exit-code')).toBe(String(run.exitCode));
    expect(run.envelope?.['exit_code']).toBe(run.exitCode);
  });

  it('E10 a signal before the inputs are read still ends the run in order', async () => {
    const { run } = await interrupt(/^::add-mask::/u, 'SIGTERM', { script: [good] });
    expect(run.exitCode).toBe(130);
    expect(run.outputs.get('run-exit-code')).toBe('130');
    expect(run.envelope).toMatchObject(cancelled);
  });

  it('E10 a second signal does not interrupt the shutdown', async () => {
    let sent = 0;
    const run = await runAction({
      script: () => new Promise<never>(() => undefined),
      onLine: (line, kill) => {
        if (sent > 0 || !/^turn 1/u.test(line)) return;
        sent += 1;
        kill('SIGTERM');
        kill('SIGINT');
      },
    });
    expect(run.exitCode).toBe(130);
    expect(run.envelope).toMatchObject(cancelled);
    expect(run.outputs.get('run-reason')).toBe('cancelled');
  });
});
