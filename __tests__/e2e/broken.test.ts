/** The end of a run, through the bundle, if its disk fails or nothing is left to wait for. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { calls, runAction, submits } from '../support/fakes/runner/action.ts';

const mount = (...args: readonly string[]) => execFileSync('mount', args);
const fill = (temp: string) =>
  execFileSync('sh', ['-c', `head -c 99000000 /dev/zero > '${temp}/fill' 2>/dev/null || :`]);
const lock = (temp: string) => mount('-o', 'remount,ro', temp);

/** Runs with a separate disk as RUNNER_TEMP; returns also how often log and summary report the exit code. */
async function runOn(megabytes: number, prepare: (temp: string) => unknown, command = 'true') {
  const temp = realpathSync(mkdtempSync(path.join(tmpdir(), 'disk-')));
  mount('-t', 'tmpfs', '-o', `size=${megabytes}M`, 'none', temp);
  try {
    prepare(temp);
    const script = [calls('shell', { command }), submits({ passed: true, summary: 'ok' })];
    const run = await runAction({ script, variables: { RUNNER_TEMP: temp } });
    const countIn = (text: string) => text.match(/^ *conclusion .* · exit code \d+/gmu)?.length ?? 0;
    return { ...run, reports: [countIn(run.log), countIn(run.summary)] };
  } finally {
    execFileSync('umount', [temp]);
    rmdirSync(temp);
  }
}

// A separate disk needs a mount.
describe.runIf(process.getuid?.() === 0)('RUNNER_TEMP', () => {
  it.each([
    ['full', 44, 1, fill, /^::error [^\n]*::The disk of RUNNER_TEMP is full/mu],
    ['read-only', 52, 0, lock, /^::error::[^\n]*RUNNER_TEMP must name a folder that can be written to/mu],
  ] as const)(
    'that is %s ends the step with %i, reported %i times in log and summary',
    async (_, code, times, prepare, says) => {
      const run = await runOn(1, prepare);
      expect([run.exitCode, run.reports]).toEqual([code, [times, times]]);
      expect(run.log).toMatch(says);
    },
  );

  it('is cleared of the agent’s files before the verdict is written, so that a full disk costs no payload', async () => {
    const run = await runOn(8, () => undefined, 'cat /dev/zero > flood');
    expect([run.exitCode, run.outputs.get('passed'), run.reports]).toEqual([0, 'true', [1, 1]]);
    expect(run.requests[1]?.raw).toMatch(/No space left|ENOSPC/u);
  });
});

it('a process with nothing left to wait for is not green', async () => {
  const forget = `
    const start = globalThis.setTimeout;
    globalThis.setTimeout = (...given) => start(...given).unref();
    globalThis.fetch = () => new Promise(() => console.log('asked'));`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(forget)}`;
  const run = await runAction({ inputs: { sandbox: 'off' }, variables: { NODE_OPTIONS } });
  expect([run.exitCode, run.outputs.size, run.log]).toEqual([1, 0, expect.stringContaining('asked')]);
});
