/** The isolation backends under attack, and the user who starts the step with each. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import type { Isolation } from '../../../src/types.ts';
import { createRunnerUser, findUserProblem, type RunnerUser } from '../fakes/runner/user.ts';

/** An isolation backend of Linux. */
export type AttackWall = Exclude<Isolation, 'none'>;

/** The facts that decide which backends are available. */
export interface Machine {
  readonly isRoot: boolean;
  /** Whether a file exists. */
  readonly has: (file: string) => boolean;
  /** Why neither this user nor one created by root can use sudo without a password; null if one can. */
  readonly sudoProblem: () => string | null;
}

export const BWRAP = '/usr/bin/bwrap';
const UTIL_LINUX = ['/usr/bin/unshare', '/usr/bin/setpriv'];

/** Why each backend is unavailable on a machine, or null if it is available; the preferred one first. */
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

/** The available backends on this machine, the preferred one first. */
export const attackWalls = [...problems].flatMap(([wall, problem]) => (problem === null ? [wall] : []));

/** The unavailable backends with the reason. */
export const missingWalls = [...problems].flatMap(([wall, problem]) =>
  problem === null ? [] : [{ wall, problem }],
);

/** The owner of a world for this backend; undefined for the user who runs the tests. */
export function runnerFor(wall: AttackWall): RunnerUser | undefined {
  return isRoot && wall.startsWith('sudo-') ? createRunnerUser() : undefined;
}

function findOwnProblem(): string | null {
  const { status } = spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' });
  return status === 0 ? null : 'this user has no sudo that asks for no password';
}

/** Whether this user can create files in a directory. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
