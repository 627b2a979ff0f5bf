/** The end of a run, through the committed bundle, when its sandbox or its disk fails. */
import { execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { attackWalls, runnerFor } from '../support/attacks/backends.ts';
import { runAttackStep } from '../support/attacks/step.ts';
import { createAttackWorld } from '../support/attacks/world.ts';
import {
  type ActionOptions,
  type ActionRun,
  calls,
  runAction,
  submits,
} from '../support/fakes/runner/action.ts';

/** The process that keeps the namespace of this test's step, not of another step. */
function holder(): string {
  const parent = (pid: string) => /^PPid:\t(\d+)$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  const isOurs = (pid: string): boolean => {
    for (let at: string | undefined = pid; at !== undefined && at !== '0'; at = parent(at))
      if (at === String(process.pid)) return true;
    return false;
  };
  const found = readdirSync('/proc').filter((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return (
        /^\d+$/u.test(pid) &&
        command[0] === '/usr/bin/unshare' &&
        command.includes('--kill-child') &&
        isOurs(pid)
      );
    } catch {
      return false;
    }
  });
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

/** Breaks the sandbox from outside: kills the process that keeps its namespace, or removes its mounts. */
function breakSandbox(wall: string, temp: string): void {
  if (wall.endsWith('unshare')) {
    const root = process.getuid?.() === 0 ? [] : ['/usr/bin/sudo', '-n'];
    const [file = '', ...args] = [...root, '/bin/kill', '-9', holder()];
    execFileSync(file, args);
    return;
  }
  const run = readdirSync(temp).find((name) => name.startsWith('structured-agent-run-')) ?? 'absent';
  rmSync(path.join(temp, run, 'mounts'), { recursive: true });
}

describe.each(attackWalls)('behind %s', (wall) => {
  it('a sandbox that breaks during the run ends it with 44 and names the backend', async () => {
    const world = await createAttackWorld({ runner: runnerFor(wall) });
    const run = await runAttackStep({
      world,
      wall,
      script: (_, index) => {
        if (index === 1) breakSandbox(wall, world.temp);
        return index < 2
          ? calls('shell', { command: 'echo turn' })
          : submits({ passed: true, summary: 'ok' });
      },
    });
    await world.close();
    const { outputs, bodies, stderr } = run;
    const outputValues = ['run-reason', 'run-conclusion', 'run-sandbox', 'structured_output'].map((name) =>
      outputs.get(name),
    );
    expect([run.exitCode, ...outputValues]).toEqual([44, 'sandbox', 'inconclusive', wall, undefined]);
    expect([bodies.length, stderr.toString()]).toEqual([2, '']);
    expect(bodies[1]).toContain('turn\\n');
    expect(JSON.parse(run.envelope)).toMatchObject({
      exit_code: 44,
      error: expect.stringContaining(`The sandbox (${wall}) stood at first and broke during the run: `),
    });
  });
});

/** Runs with a separate disk as RUNNER_TEMP, prepared by `set`. The size is in bytes. */
async function runOn(
  disk: { readonly size: number; readonly set: (temp: string) => void },
  script: NonNullable<ActionOptions['script']>,
  variables: (temp: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<ActionRun> {
  const folder = (name: string) => realpathSync(mkdtempSync(path.join(tmpdir(), name)));
  const temp = folder('disk-');
  // The results go here when RUNNER_TEMP is not writable.
  const spare = folder('spare-');
  mount('-t', 'tmpfs', '-o', `size=${disk.size}`, 'none', temp);
  try {
    disk.set(temp);
    return await runAction({
      script,
      inputs: { schema: 'verdict' },
      variables: { RUNNER_TEMP: temp, TMPDIR: spare, ...variables(temp) },
    });
  } finally {
    execFileSync('umount', [temp]);
    rmdirSync(temp);
    rmSync(spare, { recursive: true });
  }
}

function mount(...args: readonly string[]): void {
  execFileSync('mount', args);
}

function fill(temp: string): void {
  execFileSync('sh', ['-c', `head -c 99000000 /dev/zero > '${temp}/fill' 2>/dev/null || :`]);
}

/** How often the log and the summary report the exit code. */
function countReports({ log, summary }: ActionRun): readonly number[] {
  return [/ · exit code \d+$/gmu, /exit code `\d+`/gu].map(
    (ending, at) => [...(at === 0 ? log : summary).matchAll(ending)].length,
  );
}

const good = submits({ passed: true, summary: 'ok' });

// A separate disk needs a mount.
if (process.getuid?.() === 0)
  describe('RUNNER_TEMP', () => {
    it('ends the run with 52 before the first request when it is full, reported once', async () => {
      const run = await runOn({ size: 1024 ** 2, set: fill }, [good]);
      expect([run.exitCode, run.outputs.get('run-reason'), run.requests.length]).toEqual([52, 'config', 0]);
      expect(run.log).toContain('RUNNER_TEMP has no space left');
      expect(countReports(run)).toEqual([1, 1]);
    });

    it('ends the run with 52 before the first request when it is read-only, reported once', async () => {
      const set = (temp: string) => mount('-o', 'remount,ro', temp);
      const run = await runOn({ size: 1024 ** 2, set }, [good]);
      expect([run.exitCode, run.outputs.get('run-reason'), run.requests.length]).toEqual([52, 'config', 0]);
      expect(run.log).toContain('RUNNER_TEMP names a folder that cannot be written to');
      expect(countReports(run)).toEqual([1, 1]);
    });

    it('never gives a green run when it is read-only and contains the runner’s files, reported once', async () => {
      const set = (temp: string) => {
        writeFileSync(path.join(temp, 'output'), '');
        mount('-o', 'remount,ro', temp);
      };
      const run = await runOn({ size: 1024 ** 2, set }, [good], (temp) => ({
        GITHUB_OUTPUT: path.join(temp, 'output'),
      }));
      expect([run.exitCode, run.requests.length, countReports(run)]).toEqual([52, 0, [1, 1]]);
    });

    it('is cleared of the agent’s files before the verdict is written, so that a full disk costs no payload', async () => {
      const script = [calls('shell', { command: 'cat /dev/zero > "$TMPDIR/flood"' }), good];
      const run = await runOn({ size: 8 * 1024 ** 2, set: () => undefined }, script);
      expect([run.exitCode, run.outputs.get('passed'), countReports(run)]).toEqual([0, 'true', [1, 1]]);
      expect(run.requests[1]?.raw).toMatch(/No space left|ENOSPC/u);
    });
  });
