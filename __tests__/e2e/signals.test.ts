/** Signals and the time limit end a run of the bundle, whatever it does. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMark, gitIn, isAlive, until } from '../sandbox/world.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { sendJson, startRawServer } from '../support/fakes/raw-server.ts';
import { type ActionOptions, calls, runAction, submits } from '../support/fakes/runner/action.ts';
import { commitChange } from '../support/worlds/pull-request.ts';

/** Milliseconds between the first signal and the runner's kill. Without an end, a run here takes minutes. */
const RUNNER_KILLS_MS = 7_500;
const cancelled = { reason: 'cancelled', exit_code: 130, subtype: 'error_cancelled' };
const good = submits({ passed: true, summary: 'all well' });
const shell = (command: string) => calls('shell', { command });
const never = () => new Promise<never>(() => undefined);

type Signals = readonly NodeJS.Signals[];

/** Runs until `when`, then sends the signals; ends before the runner would kill. */
async function interrupt(when: RegExp | Promise<unknown>, signals: Signals, options: ActionOptions) {
  const run = await runAction({ ...options, kill: { when, signals } });
  // On a busy machine the time limit may end a run earlier.
  if (run.endedAfterMs < Infinity || signals.length > 0)
    expect(run.endedAfterMs).toBeLessThan(RUNNER_KILLS_MS);
  // Complete and consistent, whatever was going on.
  expect(run.outputs.get('run-exit-code')).toBe(String(run.exitCode));
  expect(run.envelope?.['exit_code']).toBe(run.exitCode);
  return run;
}

// SIGTERM during a request, and after the payload was accepted: see the table of endings.
describe('a signal', () => {
  const STUBBORN = 'trap "" TERM INT; (setsid sleep 300 &); bash -c "exec sleep 300"';
  it.each<[string, RegExp, Signals, NonNullable<ActionOptions['script']>]>([
    ['E10 SIGTERM and then SIGINT during a request', /^turn 1/u, ['SIGTERM', 'SIGINT'], never],
    ['E10 SIGTERM during a command', /▸ shell/u, ['SIGTERM'], [shell(STUBBORN)]],
    ['E10 SIGINT before the inputs are read', /^::add-mask::/u, ['SIGINT'], [good]],
  ])('%s ends with 130 before the runner kills, without a payload', async (_, line, signals, script) => {
    const run = await interrupt(line, signals, { script });
    expect(run.envelope).toMatchObject(cancelled);
    expect(run.envelope?.['error']).toMatch(/Cancelled by SIG(?:INT|TERM)/u);
    expect(run.outputs.has('structured_output')).toBe(false);
    expect([run.survivors, run.leftovers]).toEqual([[], []]);
  });

  it('E10 during the wait that a server asked for ends with 130', async () => {
    const asked = Promise.withResolvers<void>();
    const server = await startRawServer((response) => {
      sendJson(response, '{}', 429, { 'retry-after': '50' });
      asked.resolve();
    });
    onTestFinished(server.close);
    const inputs = { 'base-url': `${server.url}/v1` };
    const waiting = asked.promise.then(() => sleep(500));
    const run = await interrupt(waiting, ['SIGTERM'], { inputs });
    expect(server.requests).toHaveLength(1);
    expect(run.envelope).toMatchObject(cancelled);
  });

  it('while the reports are written leaves complete results', async () => {
    const run = await interrupt(/^─{5}/u, ['SIGTERM'], { script: [good] });
    // The signal may come before or after the last output.
    expect([0, 130]).toContain(run.exitCode);
    expect([run.survivors, run.leftovers]).toEqual([[], []]);
  });
});

describe('what takes long to judge', () => {
  /** Milliseconds after the reply at which the signal is sent: it is being judged, or was already. */
  const JUDGED_MS = 300;
  const REVIEW = { passed: true, complete: true, summary: 'Fine.' };
  const findings = Array.from({ length: 2_000 }, (_, at) => ({
    ...{ severity: 'warning', category: 'tests', title: 'Look.', message: 'so '.repeat(200) },
    ...{ path: 'a.txt', line: at + 1 },
    quote: `${'not there '.repeat(20)}${at}`,
  }));
  const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at} of a file that is searched\n`).join('');

  /** Adds 20,000 files 700 folders deep to the branch `topic`, without a checkout of them. */
  function commitDeep(workspace: string): void {
    const folder = 'd/'.repeat(700);
    const files = Array.from({ length: 20_000 }, (_, at) => `M 100644 inline ${folder}${at}\ndata 2\nx\n\n`);
    const author = 'committer t <t@example.com> 0 +0000';
    const head = `commit refs/heads/topic\n${author}\ndata 4\ndeep\nfrom refs/heads/topic^0\n`;
    execFileSync('git', ['fast-import', '--quiet'], { cwd: workspace, input: head + files.join('') });
  }

  const one = submits({ ...REVIEW, findings: findings.slice(0, 1) });
  const heavy: readonly [title: string, reply: Reply, commit?: (workspace: string) => void][] = [
    ['a payload of 2 MB with 2,000 findings', submits({ ...REVIEW, findings })],
    ['a command line of 119 KB', shell(`: ${'d/../a.txt '.repeat(119_000 / 11)}`)],
    ['20,000 changed names 700 folders deep', one, commitDeep],
  ];

  // Passes must look at the time limit themselves; a signal does not wait for them.
  describe.each<[string, Signals, Readonly<Record<string, string>>, RegExp]>([
    ['SIGTERM', ['SIGTERM'], {}, /^cancelled$/u],
    // A payload that was only doubted is taken when the time is up.
    ['the time limit', [], { 'timeout-minutes': '0.05' }, /^(?:timeout|accepted)$/u],
  ])('%s ends a run with', (_, signals, limit, reason) => {
    it.each(heavy)('%s', async (_, reply, commit) => {
      const variables: Record<string, string> = {};
      const isJudging = Promise.withResolvers<void>();
      const judged = isJudging.promise.then(() => sleep(JUDGED_MS));
      const run = await interrupt(judged, signals, {
        inputs: { schema: 'code-review', ...limit },
        variables,
        async prepare({ workspace }) {
          const { before } = commitChange(workspace, { 'a.txt': lines }, { 'a.txt': `${lines}one more\n` });
          commit?.(workspace);
          const file = path.join(workspace, '../event.json');
          const after = gitIn(workspace, 'rev-parse', 'HEAD');
          writeFileSync(file, JSON.stringify({ ref: 'refs/heads/topic', before, after }));
          Object.assign(variables, { GITHUB_SHA: after, GITHUB_EVENT_PATH: file });
        },
        script(_, index) {
          // The sandbox is open once this has been read.
          if (index === 0) return calls('read_file', { path: 'a.txt' });
          if (index > 1) return never();
          isJudging.resolve();
          return reply;
        },
      });
      expect(run.envelope?.['reason']).toMatch(reason);
    });
  });
});

it('SIGKILL with sandbox: off leaves no command behind', async () => {
  const mark = createMark('left');
  const script = [shell(`sh -c 'sleep 300; : ${mark}'`)];
  const run = await runAction({
    ...{ inputs: { sandbox: 'off' }, script },
    kill: { when: until(() => isAlive(mark)), signals: ['SIGKILL'] },
  });
  expect(run.exitCode).toBeNull();
  await until(() => !isAlive(mark));
  expect(isAlive(mark)).toBe(false);
});
