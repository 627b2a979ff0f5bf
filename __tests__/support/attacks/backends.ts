/** The walls that the attacks are made behind, and who starts the step there. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import type { Isolation } from '../../../src/types.ts';
import { createRunnerUser, findUserProblem, type RunnerUser } from '../fakes/runner/user.ts';

/** A wall of Linux. */
export type AttackWall = Exclude<Isolation, 'none'>;

/** What decides which walls can be put up. */
export interface Machine {
  readonly isRoot: boolean;
  /** Whether a file is there. */
  readonly has: (file: string) => boolean;
  /** Why nobody can use sudo without a password, this user or one that root makes; null where somebody can. */
  readonly sudoProblem: () => string | null;
}

export const BWRAP = '/usr/bin/bwrap';
const UTIL_LINUX = ['/usr/bin/unshare', '/usr/bin/setpriv'];

/** Why a wall cannot be put up on a machine, null where it can; the best wall first. */
export function findWallProblems(machine: Machine): ReadonlyMap<AttackWall, string | null> {
  const missing = (files: readonly string[]) => {
    const file = files.find((each) => !machine.has(each));
    return file === undefined ? null : `${file} is missing`;
  };
  const sudo = missing(UTIL_LINUX) ?? machine.sudoProblem();
  return new Map([
    ['bwrap', missing([BWRAP])],
    ['sudo-bwrap', missing([BWRAP]) ?? sudo],
    ['unshare', machine.isRoot ? missing(UTIL_LINUX) : sudo],
    ['sudo-unshare', sudo],
  ]);
}

const isRoot = process.getuid?.() === 0;

const problems = findWallProblems({
  isRoot,
  has: existsSync,
  sudoProblem: isRoot ? findUserProblem : findOwnProblem,
});

/** The walls that can be attacked on this machine, the best first. */
export const attackWalls = [...problems].flatMap(([wall, problem]) => (problem === null ? [wall] : []));

/** The others, and why each cannot. */
export const missingWalls = [...problems].flatMap(([wall, problem]) =>
  problem === null ? [] : [{ wall, problem }],
);

/** The user that a world for this wall belongs to; undefined where it is the one who runs the tests. */
export function runnerFor(wall: AttackWall): RunnerUser | undefined {
  return isRoot && wall.startsWith('sudo-') ? createRunnerUser() : undefined;
}

function findOwnProblem(): string | null {
  const { status } = spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' });
  return status === 0 ? null : 'this user has no sudo that asks for no password';
}

/** Whether this user may make files in a folder. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
