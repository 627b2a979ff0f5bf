/** No process is left when the process of the step or the keeper of the sandbox is killed during a command. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createMark, isolatedWays, processesWith, until, useWorld } from './world.ts';

const world = await useWorld();

for (const { name } of isolatedWays)
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
    await until(() => processesWith(`${mark}\x00300`).length === 2);
    expect(processesWith(`${mark}\x00300`)).toHaveLength(2);
    const holders = () => processesWith(runName, 'mountinfo');
    expect(holders().length).toBeGreaterThan(0);
    step.kill('SIGKILL');
    const left = () => [...processesWith(mark), ...processesWith(runName), ...holders(), ...mounts()];
    await until(() => left().length === 0);
    expect(left()).toEqual([]);
  });

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
