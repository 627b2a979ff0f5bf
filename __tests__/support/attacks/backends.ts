/** The settings in which the attack list runs: a backend, the user of the runner and the owner of the workspace. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import type { Isolation } from '../../../src/types.ts';
import { testAll } from '../all.ts';
import { createRunnerUser, findUserProblem, type RunnerUser } from '../fakes/runner/user.ts';

/** An isolation backend of Linux. */
export type AttackWall = Exclude<Isolation, 'none'>;

export interface AttackSetting {
  readonly name: string;
  readonly wall: AttackWall;
  /** The user of the runner; undefined for the one who runs the tests. */
  readonly runner?: RunnerUser;
  /** The owner of the workspace if it is not the runner. */
  readonly owner?: number;
}

export const BWRAP = '/usr/bin/bwrap';
const hasBwrap = existsSync(BWRAP);
export const isRoot = process.getuid?.() === 0;
/** Whether this user, or one created by root, can use sudo without a password. */
const hasSudo = isRoot
  ? findUserProblem() === null
  : spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;

function findSettings(): readonly AttackSetting[] {
  if (!isRoot)
    return [
      ...(hasBwrap ? [{ name: 'user', wall: 'bwrap' } as const] : []),
      ...(hasSudo ? [{ name: 'sudo', wall: 'unshare' } as const] : []),
    ];
  return [
    // As if the runner were root and had checked out for a user, and as in a container job.
    { name: 'root-over-user', wall: 'unshare', owner: 65534 },
    { name: 'root', wall: 'unshare' },
    ...(hasBwrap ? [{ name: 'user', wall: 'bwrap', runner: createRunnerUser(false) } as const] : []),
    ...(hasSudo ? [{ name: 'sudo', wall: 'unshare', runner: createRunnerUser() } as const] : []),
  ];
}

/** All settings of this machine. The users whom root creates exist only in the mount namespace of a step. */
export const allSettings = findSettings();

/** The settings of this run: the one that the variable ATTACKS names, all with TEST_ALL=1, or the first. */
export function attackSettings(): readonly AttackSetting[] {
  const asked = process.env['ATTACKS'];
  if (asked !== undefined) return allSettings.filter(({ name }) => name === asked);
  return testAll ? allSettings : allSettings.slice(0, 1);
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
