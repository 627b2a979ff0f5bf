/** No process is left when the process of the step or the keeper of the sandbox is killed during a command. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import {
  allWays,
  createMark,
  createWorld,
  exec,
  isAlive,
  isolatedWays,
  UNSHARE,
  until,
  type World,
} from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const isolated = isolatedWays;

for (const { name } of isolated) {
  it(`behind ${name}, the command and the sandbox end when the step is killed`, async () => {
    const mark = createMark(`KILLED-${name}`);
    const runName = createMark(`RUN-${name}`);
    const step = spawn(process.execPath, [stepScript(name, mark, runName)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    step.stdout.setEncoding('utf8');
    const [said] = await once(step.stdout, 'data');
    expect(said).toBe('running\n');
    // Checks both, because a sandbox that is still starting has the text of the command in its arguments, too.
    await until(() => processes(`${mark}\x00300`).length === 2);
    expect(processes(`${mark}\x00300`)).toHaveLength(2);
    const holders = () => processes(runName, 'mountinfo');
    expect(holders().length).toBeGreaterThan(0);
    step.kill('SIGKILL');
    const left = () => [...processes(mark), ...processes(runName), ...holders(), ...mounts()];
    await until(() => left().length === 0);
    expect(left()).toEqual([]);
  });
}

it.runIf(allWays.some(({ name }) => name === UNSHARE))(
  'when the keeper of the namespaces is killed, the running command ends and no further command runs',
  async () => {
    const sandbox = await world.openReady({ mode: 'required', kinds: [UNSHARE] });
    const known = new Set(keepers());
    expect(known.size).toBeGreaterThan(0);
    const other = await world.openReady({ mode: 'required', kinds: [UNSHARE] });
    const mine = keepers().filter((pid) => !known.has(pid));
    const mark = createMark('KEEPER');
    const command = `bash -c 'exec -a ${mark} sleep 300'; echo survived`;
    const running = exec(other, command).catch((error: unknown) => error);
    await until(() => isAlive(`${mark}\x00300`));
    expect(isAlive(`${mark}\x00300`)).toBe(true);
    kill(mine);
    expect(await running).not.toMatchObject({ output: expect.stringContaining('survived') });
    await expect(exec(other, 'touch ran-outside; id -u')).rejects.toBeInstanceOf(SandboxError);
    await expect(other.read('ran-outside', 10)).rejects.toMatchObject({ missing: true });
    expect((await exec(sandbox, 'echo stands')).output).toBe('stands\n');
  },
);

/** A minimal step: opens the sandbox, runs a long command and reports it. */
function stepScript(wall: string, mark: string, runName: string): string {
  const open = JSON.stringify(join(import.meta.dirname, '../../src/sandbox/open.ts'));
  const file = join(world.base, `step-${wall}.mjs`);
  writeFileSync(
    file,
    `import { mkdirSync } from 'node:fs';
     import { openSandbox } from ${open};
     const runFolder = ${JSON.stringify(join(world.temp, runName))};
     mkdirSync(runFolder, { mode: 0o700 });
     const workspace = ${JSON.stringify(world.workspace)};
     const sandbox = await openSandbox({ workspace, workingDirectory: workspace, mode: 'required', kinds: ['${wall}'],
       access: 'scratch', shellNetwork: false, readable: [], passEnv: [], environment: process.env,
       home: ${JSON.stringify(world.home)}, runnerTemp: ${JSON.stringify(world.temp)}, isSecret: () => false, runFolder });
     await sandbox.ready();
     console.log('running');
     await sandbox.exec("bash -c 'exec -a ${mark} sleep 300' & setsid bash -c 'exec -a ${mark} sleep 300' & wait",
       { timeoutMs: 200_000, maxOutputBytes: 1000, signal: new AbortController().signal });`,
  );
  return file;
}

/** Mounts of this machine in the directories of these tests. */
function mounts(): readonly string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return lines.filter((line) => line.includes(world.base));
}

/** The namespace keepers that this process started, with or without sudo: other tests have their own. */
function keepers(): readonly string[] {
  return processes('--kill-child\0--ipc\0--uts').filter(isOurs);
}

function isOurs(pid: string): boolean {
  let at = pid;
  while (Number(at) > 1 && Number(at) !== process.pid) {
    at = parentOf(at);
  }
  return Number(at) === process.pid;
}

/** '0' for a process that ended meanwhile: those of other tests start and end at any time. */
function parentOf(pid: string): string {
  try {
    // The fields after the name, which can contain anything: state, parent (proc(5)).
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '0';
  } catch {
    return '0';
  }
}

/** The pids of the processes with a text in a file of theirs (proc(5)). */
function processes(mark: string, file = 'cmdline'): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/u.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/${file}`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  });
}

function kill(pids: readonly string[]): void {
  if (process.getuid?.() === 0) for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  else spawnSync('/usr/bin/sudo', ['-n', '/bin/kill', '-KILL', ...pids]);
}
