import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRunnerUser } from '../fakes/runner/user.ts';
import { attackWalls, findWallProblems, type Machine, missingWalls, runnerFor } from './backends.ts';
import { startStep } from './step.ts';
import { type AttackWorld, createAttackWorld } from './world.ts';

/** The backends that are attacked on a machine, and the skipped ones with the reason. */
function planFor(machine: Partial<Machine>) {
  const problems = findWallProblems({ isRoot: false, has: () => true, sudoProblem: () => null, ...machine });
  return Object.fromEntries(problems);
}

const ALL = { bwrap: null, 'sudo-bwrap': null, unshare: null, 'sudo-unshare': null };

describe('the backends under attack', () => {
  it.each([true, false])('are all four when nothing is missing (root: %s)', (isRoot) => {
    expect(planFor({ isRoot })).toEqual(ALL);
  });

  it('exclude those that need sudo on a machine without it, unless root starts them directly', () => {
    const sudoProblem = () => 'no sudo';
    const without = { ...ALL, 'sudo-bwrap': 'no sudo', 'sudo-unshare': 'no sudo' };
    expect(planFor({ isRoot: true, sudoProblem })).toEqual(without);
    expect(planFor({ sudoProblem })).toEqual({ ...without, unshare: 'no sudo' });
  });

  it('exclude those whose program is missing', () => {
    const lacks = (file: string) => ({ isRoot: true, has: (each: string) => each !== file });
    const bwrap = '/usr/bin/bwrap is missing';
    expect(planFor(lacks('/usr/bin/bwrap'))).toEqual({ ...ALL, bwrap, 'sudo-bwrap': bwrap });
    const setpriv = '/usr/bin/setpriv is missing';
    expect(planFor(lacks('/usr/bin/setpriv'))).toEqual({
      bwrap: null,
      'sudo-bwrap': setpriv,
      unshare: setpriv,
      'sudo-unshare': setpriv,
    });
  });

  it('are attacked or listed as missing with a reason', () => {
    expect([...attackWalls, ...missingWalls.map(({ wall }) => wall)].toSorted()).toEqual(
      Object.keys(ALL).toSorted(),
    );
  });
});

describe.runIf(process.getuid?.() === 0 && attackWalls.includes('sudo-bwrap'))('a runner with sudo', () => {
  let world: AttackWorld;
  beforeAll(async () => {
    world = await createAttackWorld({ runner: runnerFor('sudo-bwrap') });
  });
  afterAll(() => world.close());

  /** The output of a shell that runs instead of the bundle. */
  async function say(wall: (typeof attackWalls)[number], command: string): Promise<string> {
    const shell = { ...world, node: '/bin/sh', bundle: '-c' };
    expect(shell.runner).toBeDefined();
    const step = await startStep(shell, wall, { PATH: '/usr/bin:/bin' }, [command]);
    return `${step.stdout}${step.stderr}`;
  }

  it('is an ordinary user with its own groups who can become root', async () => {
    const id = world.runner?.id ?? 0;
    expect(await say('sudo-unshare', 'id -u; id -G; sudo -n id -u')).toBe(`${id}\n${id} ${id + 1}\n0\n`);
  });

  it('exists only in its own namespace and leaves nothing behind', async () => {
    const name = world.runner?.name ?? '';
    expect(await say('sudo-unshare', 'sudo -n true; tail -n 1 /etc/passwd')).toContain(`${name}:x:`);
    for (const file of ['passwd', 'group', 'shadow', 'sudoers'])
      expect(readFileSync(path.join('/etc', file), 'utf8')).not.toContain(name);
    for (const file of ['/etc/sudoers.d', '/run/sudo/ts', '/var/lib/sudo/lectured', '/home'])
      expect(existsSync(path.join(file, name))).toBe(false);
  });

  it('differs between worlds', () => {
    const names = new Set(Array.from({ length: 20 }, () => createRunnerUser().name));
    expect(names.size).toBeGreaterThan(10);
  });
});
