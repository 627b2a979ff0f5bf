/** The end of a run, through the bundle, if its sandbox or its disk fails. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ActionRun, calls, HAS_BWRAP, runAction, submits } from '../support/fakes/runner/action.ts';

const good = submits({ passed: true, summary: 'ok' });

/** The process that holds the namespaces of a run of this test, not of another one; null with bubblewrap. */
function findHolder(): string | null {
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
    return program === '/usr/bin/unshare' && args.includes('--propagation') && isOurs(pid);
  });
  return found[0] ?? null;
}

function killHolder(): void {
  const pid = findHolder();
  if (pid === null) return;
  const root = process.getuid?.() === 0 ? [] : ['/usr/bin/sudo', '-n'];
  const [program = '', ...args] = [...root, '/bin/kill', '-9', pid];
  execFileSync(program, args);
}

function removeContext(temp: string): void {
  const run = readdirSync(temp).find((name) => name.startsWith('structured-agent-run-')) ?? 'absent';
  rmSync(path.join(temp, run, 'context'), { recursive: true });
}

describe.runIf(HAS_BWRAP)('a sandbox that breaks during the run ends it with 44 and is named', () => {
  it.each([
    ['its processes are killed', killHolder],
    ['a folder of the run is gone', removeContext],
  ])('because %s', async (_, breakIt) => {
    let temp = '';
    let isBreakable = true;
    const run = await runAction({
      prepare: async (places) => {
        temp = places.temp;
      },
      script: (__, index) => {
        if (index === 1) {
          isBreakable = breakIt !== killHolder || findHolder() !== null;
          breakIt(temp);
        }
        return index < 2 ? calls('shell', { command: 'echo turn' }) : good;
      },
    });
    // bubblewrap has no process between two commands.
    if (!isBreakable) return;
    const told = ['run-reason', 'run-conclusion', 'structured_output'].map((name) => run.outputs.get(name));
    expect([run.exitCode, ...told]).toEqual([44, 'sandbox', 'inconclusive', undefined]);
    expect([run.requests.length, run.leftovers, run.survivors]).toEqual([2, [], []]);
    expect(run.envelope).toMatchObject({
      exit_code: 44,
      error: expect.stringMatching(/^No command can be started any more: /u),
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
    expect(run.log).toMatch(/^::error ::[^\n]*RUNNER_TEMP must name a folder that can be written to/mu);
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
