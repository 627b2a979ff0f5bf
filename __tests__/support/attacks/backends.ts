/** The settings in which the attack list runs: a backend, the user of the runner and the owner of the workspace. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { testAll } from '../all.ts';
import { createRunnerUser, findUserProblem, type RunnerUser } from '../fakes/runner/user.ts';

export interface AttackSetting {
  readonly name: string;
  readonly wall: 'bwrap' | 'unshare';
  /** The user of the runner; undefined for the one who runs the tests. */
  readonly runner?: RunnerUser | undefined;
  /** The owner of the workspace if it is not the runner. */
  readonly owner?: number;
}

export const BWRAP = '/usr/bin/bwrap';
export const hasBwrap = existsSync(BWRAP);
export const isRoot = process.getuid?.() === 0;
/** Whether this user, or one created by root, can use sudo without a password. */
const hasSudo = isRoot
  ? findUserProblem() === null
  : spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;

const settings: readonly (AttackSetting & { readonly isHere: boolean })[] = [
  // As if the runner were root and had checked out for a user, and as in a container job.
  { name: 'root-over-user', wall: 'unshare', owner: 65534, isHere: isRoot },
  { name: 'root', wall: 'unshare', isHere: isRoot },
  { name: 'user', wall: 'bwrap', runner: isRoot ? createRunnerUser(false) : undefined, isHere: hasBwrap },
  { name: 'sudo', wall: 'unshare', runner: isRoot ? createRunnerUser() : undefined, isHere: hasSudo },
];

/** All settings of this machine. The users whom root creates exist only in the mount namespace of a step. */
export const allSettings = settings.filter(({ isHere }) => isHere);

/** The settings of this run: the one that the variable ATTACKS names, all with TEST_ALL=1, or the first. */
export const attackSettings = allSettings.filter(({ name }, at) =>
  process.env['ATTACKS'] === undefined ? testAll || at === 0 : process.env['ATTACKS'] === name,
);

/** Whether this user can create files in a directory. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
