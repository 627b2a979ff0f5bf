/** The end of a run, through the bundle, if its disk fails or nothing is left to wait for. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ActionRun, calls, runAction, submits } from '../support/fakes/runner/action.ts';

const good = submits({ passed: true, summary: 'ok' });

const mount = (...args: readonly string[]) => execFileSync('mount', args);
const fill = (temp: string) =>
  execFileSync('sh', ['-c', `head -c 99000000 /dev/zero > '${temp}/fill' 2>/dev/null || :`]);
const lock = (temp: string) => mount('-o', 'remount,ro', temp);

interface Disk {
  readonly megabytes: number;
  readonly prepare?: (temp: string) => void;
  readonly command?: string;
}

/** Runs with a separate disk as RUNNER_TEMP. */
async function runOn({ megabytes, prepare, command }: Disk): Promise<ActionRun> {
  const temp = realpathSync(mkdtempSync(path.join(tmpdir(), 'disk-')));
  mount('-t', 'tmpfs', '-o', `size=${megabytes}M`, 'none', temp);
  try {
    prepare?.(temp);
    return await runAction({
      script: [...(command === undefined ? [] : [calls('shell', { command })]), good],
      variables: {
        RUNNER_TEMP: temp,
      },
    });
  } finally {
    execFileSync('umount', [temp]);
    rmdirSync(temp);
  }
}

/** How often log and summary report the exit code. */
const countReports = ({ log, summary }: ActionRun) => [
  [...log.matchAll(/^ {2}conclusion .* · exit code \d+/gmu)].length,
  [...summary.matchAll(/^conclusion .* exit code \d+/gmu)].length,
];

// A separate disk needs a mount.
describe.runIf(process.getuid?.() === 0)('RUNNER_TEMP', () => {
  it('that is full ends the run with 44, reported once', async () => {
    const run = await runOn({ megabytes: 1, prepare: fill });
    expect([run.exitCode, countReports(run)]).toEqual([44, [1, 1]]);
    expect(run.outputs.get('run-reason')).toBe('sandbox');
    expect(run.log).toMatch(/^::error [^\n]*::The disk of RUNNER_TEMP is full/mu);
  });

  it('that is read-only ends the step with 52 and no request', async () => {
    const run = await runOn({ megabytes: 1, prepare: lock });
    expect([run.exitCode, run.requests.length]).toEqual([52, 0]);
    expect(run.log).toMatch(/^::error::[^\n]*RUNNER_TEMP must name a folder that can be written to/mu);
  });

  it('is cleared of the agent’s files before the verdict is written, so that a full disk costs no payload', async () => {
    const run = await runOn({ megabytes: 8, command: 'cat /dev/zero > flood' });
    expect([run.exitCode, run.outputs.get('passed'), countReports(run)]).toEqual([0, 'true', [1, 1]]);
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
