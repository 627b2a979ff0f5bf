/** The end of a run, through the bundle, if its sandbox or its disk fails. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { attackWalls, runnerFor } from '../support/attacks/backends.ts';
import { runAttackStep } from '../support/attacks/step.ts';
import { createAttackWorld } from '../support/attacks/world.ts';
import { type ActionRun, calls, runAction, submits } from '../support/fakes/runner/action.ts';

const good = submits({ passed: true, summary: 'ok' });

/** The process that keeps the namespace of a step of this test, not of another one. */
function findHolder(): string {
  const read = (pid: string, name: string) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'utf8');
    } catch {
      return '';
    }
  };
  const isOurs = (pid: string): boolean => {
    const [, parent = '0'] = /^PPid:\t(\d+)$/mu.exec(read(pid, 'status')) ?? [];
    return parent !== '0' && (parent === String(process.pid) || isOurs(parent));
  };
  const found = readdirSync('/proc').filter((pid) => {
    const [program, ...args] = read(pid, 'cmdline').split('\0');
    return program === '/usr/bin/unshare' && args.includes('--kill-child') && isOurs(pid);
  });
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

/** Breaks the sandbox from outside: kills the process that keeps its namespace, or removes its mounts. */
function breakSandbox(wall: string, temp: string): void {
  if (wall.endsWith('unshare')) {
    const root = process.getuid?.() === 0 ? [] : ['/usr/bin/sudo', '-n'];
    const [program = '', ...args] = [...root, '/bin/kill', '-9', findHolder()];
    execFileSync(program, args);
    return;
  }
  const run = readdirSync(temp).find((name) => name.startsWith('structured-agent-run-')) ?? 'absent';
  rmSync(path.join(temp, run, 'mounts'), { recursive: true });
}

describe.each(attackWalls)('behind %s', (wall) => {
  it('a sandbox that breaks during the run ends it with 44 and is named', async () => {
    const world = await createAttackWorld({ runner: runnerFor(wall) });
    const run = await runAttackStep({
      world,
      wall,
      script: (_, index) => {
        if (index === 1) breakSandbox(wall, world.temp);
        return index < 2 ? calls('shell', { command: 'echo turn' }) : good;
      },
    });
    await world.close();
    const told = ['run-reason', 'run-conclusion', 'structured_output'].map((name) => run.outputs.get(name));
    expect([run.exitCode, ...told]).toEqual([44, 'sandbox', 'inconclusive', undefined]);
    expect([run.bodies.length, run.stderr.toString()]).toEqual([2, '']);
    expect(JSON.parse(run.envelope)).toMatchObject({
      exit_code: 44,
      error: expect.stringContaining(`The sandbox (${wall}) stood at first and broke during the run: `),
    });
  });
});

const mount = (...args: readonly string[]) => execFileSync('mount', args);
const fill = (temp: string) =>
  execFileSync('sh', ['-c', `head -c 99000000 /dev/zero > '${temp}/fill' 2>/dev/null || :`]);
const lock = (temp: string) => mount('-o', 'remount,ro', temp);

interface Disk {
  readonly megabytes: number;
  readonly prepare?: (temp: string) => void;
  readonly command?: string;
  /** Whether the runner's own files are on it, too. */
  readonly holdsOutputs?: boolean;
}

/** Runs with a separate disk as RUNNER_TEMP. */
async function runOn({ megabytes, prepare, command, holdsOutputs }: Disk): Promise<ActionRun> {
  const [temp = '', spare = ''] = ['disk-', 'spare-'].map((name) =>
    realpathSync(mkdtempSync(path.join(tmpdir(), name))),
  );
  mount('-t', 'tmpfs', '-o', `size=${megabytes}M`, 'none', temp);
  try {
    const output = path.join(temp, 'output');
    if (holdsOutputs === true) execFileSync('touch', [output]);
    prepare?.(temp);
    return await runAction({
      script: [...(command === undefined ? [] : [calls('shell', { command })]), good],
      // TMPDIR takes the results if RUNNER_TEMP cannot.
      variables: {
        RUNNER_TEMP: temp,
        TMPDIR: spare,
        ...(holdsOutputs === true ? { GITHUB_OUTPUT: output } : {}),
      },
    });
  } finally {
    execFileSync('umount', [temp]);
    rmdirSync(temp);
    rmSync(spare, { recursive: true });
  }
}

/** How often log and summary report the exit code. */
const countReports = ({ log, summary }: ActionRun) => [
  [...log.matchAll(/ · exit code \d+$/gmu)].length,
  [...summary.matchAll(/exit code `\d+`/gu)].length,
];

// A separate disk needs a mount.
describe.runIf(process.getuid?.() === 0)('RUNNER_TEMP', () => {
  it.each<[string, Disk, RegExp]>([
    ['is full', { megabytes: 1, prepare: fill }, /RUNNER_TEMP has no space left/u],
    [
      'is read-only',
      { megabytes: 1, prepare: lock },
      /RUNNER_TEMP names a folder that cannot be written to/u,
    ],
    [
      'is read-only and holds the runner’s files',
      { megabytes: 1, prepare: lock, holdsOutputs: true },
      /exit code 52/u,
    ],
  ])('that %s ends the run with 52 before the first request, reported once', async (_, disk, says) => {
    const run = await runOn(disk);
    expect([run.exitCode, run.requests.length, countReports(run)]).toEqual([52, 0, [1, 1]]);
    expect(run.log).toMatch(says);
  });

  it('is cleared of the agent’s files before the verdict is written, so that a full disk costs no payload', async () => {
    const run = await runOn({ megabytes: 8, command: 'cat /dev/zero > "$TMPDIR/flood"' });
    expect([run.exitCode, run.outputs.get('passed'), countReports(run)]).toEqual([0, 'true', [1, 1]]);
    expect(run.requests[1]?.raw).toMatch(/No space left|ENOSPC/u);
  });
});
