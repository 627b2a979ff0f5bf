import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createMark, isAlive, until } from '../sandbox/world.ts';
import { type ActionOptions, calls, runAction, submits } from '../support/fakes/runner/action.ts';

/** Milliseconds between the first signal and the runner's kill. Without an end, a run here takes minutes. */
const RUNNER_KILLS_MS = 7_500;
const cancelled = { reason: 'cancelled', exit_code: 130, subtype: 'error_cancelled' };
const good = submits({ passed: true, summary: 'all well' });
const never = () => new Promise<never>(() => undefined);
const STUBBORN = 'trap "" TERM INT; (setsid sleep 300 &); bash -c "exec sleep 300"';

/** Runs until the log has a matching line, then sends the signals. Ends before the runner would kill. */
async function interrupt(line: RegExp, signals: readonly NodeJS.Signals[], options: ActionOptions) {
  let sentAt = Number.NEGATIVE_INFINITY;
  const waiting = [...signals];
  const run = await runAction({
    ...options,
    onLine: (text, kill) => {
      if (waiting.length === 0 || !line.test(text)) return;
      sentAt = performance.now();
      for (const signal of waiting.splice(0)) kill(signal);
    },
  });
  expect(performance.now() - sentAt).toBeLessThan(RUNNER_KILLS_MS);
  // Complete and consistent, whatever was going on.
  expect(run.outputs.get('run-exit-code')).toBe(String(run.exitCode));
  expect(run.envelope?.['exit_code']).toBe(run.exitCode);
  expect([run.survivors, run.leftovers]).toEqual([[], []]);
  return run;
}

describe('a signal', () => {
  it.each<[string, RegExp, readonly NodeJS.Signals[], NonNullable<ActionOptions['script']>]>([
    ['E10 SIGINT during a request', /^turn 1/u, ['SIGINT'], never],
    ['E10 SIGTERM and then SIGINT during a request', /^turn 1/u, ['SIGTERM', 'SIGINT'], never],
    ['E10 SIGTERM during a command', /▸ shell/u, ['SIGTERM'], [calls('shell', { command: STUBBORN })]],
    ['E10 SIGTERM before the inputs are read', /^::add-mask::/u, ['SIGTERM'], [good]],
  ])('%s ends with 130 before the runner kills, without a payload', async (_, line, signals, script) => {
    const run = await interrupt(line, signals, { script });
    expect(run.exitCode).toBe(130);
    expect(run.envelope).toMatchObject(cancelled);
    expect(run.envelope?.['error']).toMatch(/Cancelled by SIG(?:INT|TERM)/u);
    expect(run.outputs.has('structured_output')).toBe(false);
    expect(run.summary).toContain('cancelled');
  });

  it('E11 after the payload was accepted ends with 130 and publishes the payload', async () => {
    const run = await interrupt(/structured_output · accepted/u, ['SIGTERM'], { script: [good] });
    expect(run.exitCode).toBe(130);
    expect(run.envelope).toMatchObject({
      ...cancelled,
      structured_output: { passed: true, summary: 'all well' },
    });
    expect(run.outputs.get('run-conclusion')).toBe('inconclusive');
    expect(run.outputs.get('structured_output')).toBe('{"passed":true,"summary":"all well"}');
  });

  it('E10 during the wait that a server asked for ends with 130', async () => {
    const error = { message: 'slow down', type: 'rate_limit_error' };
    const asked = Promise.withResolvers<void>();
    const script = () => {
      asked.resolve();
      return { status: 429, retryAfter: 50, error };
    };
    let sentAt = 0;
    const meanwhile: ActionOptions['meanwhile'] = (kill) =>
      void asked.promise
        .then(() => sleep(500))
        .then(() => {
          sentAt = performance.now();
          kill('SIGTERM');
        });
    const run = await runAction({ script, meanwhile });
    expect(performance.now() - sentAt).toBeLessThan(RUNNER_KILLS_MS);
    expect([run.exitCode, run.requests.length]).toEqual([130, 1]);
    expect(run.envelope).toMatchObject(cancelled);
  });

  it('while the reports are written leaves complete results', async () => {
    // The signal may come before or after the last output.
    const run = await interrupt(/^─{5}/u, ['SIGTERM'], { script: [good] });
    expect([0, 130]).toContain(run.exitCode);
  });
});

it('SIGKILL with sandbox: off leaves no command behind', async () => {
  const mark = createMark('left');
  const script = [calls('shell', { command: `sh -c 'sleep 300; : ${mark}'` })];
  const meanwhile: ActionOptions['meanwhile'] = (kill) =>
    void until(() => isAlive(mark)).then(() => kill('SIGKILL'));
  const run = await runAction({ inputs: { sandbox: 'off' }, script, meanwhile });
  expect(run.exitCode).toBeNull();
  await until(() => !isAlive(mark));
  expect(isAlive(mark)).toBe(false);
});
