/** The other ways to run commands, briefly: the whole suite runs behind them with TEST_ALL=1 only. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import type { OpenedSandbox } from '../../src/sandbox/sandbox.ts';
import {
  allWays,
  CANARY,
  createMark,
  exec,
  isAlive,
  overtime,
  processesWith,
  until,
  useWorld,
} from './world.ts';

const others = allWays.slice(1);

describe.each(others)('behind $name', async ({ name, options }) => {
  const world = await useWorld();
  let sandbox: OpenedSandbox;
  const run = async (command: string) => (await exec(sandbox, command)).output;
  const mark = createMark('SMOKE');
  beforeAll(async () => {
    sandbox = await world.openReady({ ...options, access: 'scratch' });
  });

  it('a command has its output and exit code, git, a private home and no variables of the step', async () => {
    const result = await exec(sandbox, 'echo a; echo b >&2; git log --format=%s; ls -A ~; env; exit 3');
    expect([sandbox.isolation(), result.exitCode]).toEqual([name, 3]);
    expect(result.output).toMatch(/^a\nb\nfirst\n\.gitconfig\n/u);
    expect(result.output).not.toContain(CANARY);
  });

  it('E12 a command that exceeds its timeout is killed with its children', async () => {
    const command = `trap '' TERM INT HUP; echo on; setsid bash -c 'exec -a ${mark} sleep 60' & wait`;
    expect(await overtime(sandbox, command)).toMatchObject({
      exitCode: null,
      timedOut: true,
      output: 'on\n',
    });
    expect(isAlive(mark)).toBe(false);
  });

  it('commands and file tools see one tree, and the checkout is left as it was', async () => {
    await sandbox.write('made', Buffer.from('made'));
    expect(await run('cat made; echo more > other; rm README.md')).toBe('made');
    expect(await sandbox.read('other', 10)).toMatchObject({ kind: 'file', size: 5 });
    await expect(sandbox.read('README.md', 10)).rejects.toMatchObject({ missing: true });
    expect(existsSync(join(world.workspace, 'made'))).toBe(false);
    expect(readFileSync(join(world.workspace, 'README.md'), 'utf8')).toBe('hello\n');
  });

  if (name === 'none') return;

  it('home, RUNNER_TEMP, the token of the checkout and other processes are hidden', async () => {
    const { home, temp } = world;
    const files = `${home}/.npmrc ${temp}/git-credentials-1.config .git/config`;
    const output = await run(`cat ${files} 2>/dev/null; ls ${temp} 2>&1; ls -d /proc/[0-9]* | wc -l`);
    expect(output).toContain('[core]');
    expect(output).not.toMatch(new RegExp(`${CANARY}|_runner_file_commands`, 'u'));
    expect(Number(output.trim().split('\n').at(-1))).toBeLessThan(10);
  });

  it('neither .git, .github nor the system can be written, and no network is reached', async () => {
    const targets = '.git/x .git/config .github/x /etc/x /usr/x /run/x';
    expect(await run(`for f in ${targets}; do (echo x >> $f) 2>/dev/null && echo "$f is open"; done`)).toBe(
      '',
    );
    await run(`echo x > /dev/tcp/127.0.0.1/${world.port}`);
    expect(world.reached()).toBe(0);
  });

  it('a command has no capability, no new privileges and only the group of its user', async () => {
    const { uid, gid } = statSync(world.workspace);
    const status = await run('id -u; id -G; grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status');
    expect(status).toBe(`${uid}\n${gid}\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n`);
  });

  it.runIf(name.endsWith('unshare'))(
    'when the keeper of the namespaces is killed, no further command runs',
    async () => {
      const runFolder = mkdtempSync(join(world.temp, 'run-'));
      const other = await world.openReady({ ...options, access: 'scratch', runFolder });
      // Not those of another run of these tests.
      const own = new Set(processesWith(runFolder, 'mountinfo'));
      const keepers = processesWith('--kill-child\0--ipc\0--uts').filter((pid) => own.has(pid));
      expect(keepers).not.toEqual([]);
      const running = exec(other, `bash -c 'exec -a ${mark}-K sleep 300'; echo survived`).catch(() => null);
      await until(() => isAlive(`${mark}-K\x00300`));
      const kill = ['/bin/kill', '-KILL', ...keepers];
      const [file = '', ...args] = process.getuid?.() === 0 ? kill : ['/usr/bin/sudo', '-n', ...kill];
      execFileSync(file, args);
      expect(await running).not.toMatchObject({ output: expect.stringContaining('survived') });
      await expect(exec(other, 'touch ran-outside')).rejects.toBeInstanceOf(SandboxError);
      expect(await run('echo stands')).toBe('stands\n');
    },
  );
});
