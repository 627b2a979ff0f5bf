/** The isolation backends of this machine, and the settings in which the attack list runs behind them. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import type { Isolation } from '../../../src/types.ts';
import { testAll } from '../all.ts';
import { createRunnerUser, findUserProblem, type RunnerUser } from '../fakes/runner/user.ts';

/** An isolation backend of Linux. */
export type AttackWall = Exclude<Isolation, 'none'>;

export const BWRAP = '/usr/bin/bwrap';
const isRoot = process.getuid?.() === 0;
const hasUtilLinux = ['/usr/bin/unshare', '/usr/bin/setpriv'].every((file) => existsSync(file));
/** Whether this user, or one created by root, can use sudo without a password. */
const hasSudo =
  hasUtilLinux &&
  (isRoot
    ? findUserProblem() === null
    : spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0);

const available: Readonly<Record<AttackWall, boolean>> = {
  bwrap: existsSync(BWRAP),
  'sudo-bwrap': existsSync(BWRAP) && hasSudo,
  unshare: isRoot ? hasUtilLinux : hasSudo,
  'sudo-unshare': hasSudo,
};
const ORDER = ['bwrap', 'sudo-bwrap', 'unshare', 'sudo-unshare'] as const;

/** The available backends on this machine, the preferred one first. */
export const attackWalls: readonly AttackWall[] = ORDER.filter((wall) => available[wall]);

/** The owner of a world for this backend; undefined for the user who runs the tests. */
export function runnerFor(wall: AttackWall): RunnerUser | undefined {
  return isRoot && wall.startsWith('sudo-') ? createRunnerUser() : undefined;
}

/** A backend, and the users of the runner and of its workspace. */
export interface AttackSetting {
  readonly name: string;
  readonly wall: AttackWall;
  readonly runner: RunnerUser | undefined;
  /** The owner of the workspace if it is not the runner. */
  readonly owner?: number;
}

function findSettings(): readonly AttackSetting[] {
  const own = attackWalls.map((wall) => ({ name: wall, wall, runner: runnerFor(wall) }));
  if (!isRoot || !available.bwrap) return own;
  return [
    ...own,
    { name: 'user', wall: 'bwrap', runner: createRunnerUser(false) },
    { name: 'owner', wall: 'bwrap', runner: undefined, owner: 65534 },
  ];
}

/**
 * The settings of this run: the preferred backend, the one named by the variable ATTACKS, or all with TEST_ALL=1. As
 * root, `ATTACKS=user` attacks as an ordinary user without sudo, and `ATTACKS=sudo-bwrap` as one with sudo; both users
 * exist only in the mount namespace of the step. Any other user attacks as itself.
 */
export function attackSettings(): readonly AttackSetting[] {
  const settings = findSettings();
  if (testAll) return settings;
  const asked = process.env['ATTACKS'];
  if (asked === undefined) return settings.slice(0, 1);
  const name = asked === 'user' && !isRoot ? 'bwrap' : asked;
  return settings.filter((each) => each.name === name);
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
