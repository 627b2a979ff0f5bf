/** The folder of a run: what the agent writes to, what it can only read, and how all of it is removed. */
import { mkdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError } from '../errors.ts';
import { runOnHost } from './host-program.ts';

/** The name, in the folder of the run, of the script that `planGit` writes; it cleans the current folder. */
export const CLEAN = 'clean.sh';

export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** Returns who runs the commands: never a user with more rights than the owner of the checkout. */
export async function identityOf(workspace: string): Promise<Identity> {
  const uid = process.getuid?.() ?? -1;
  if (uid !== 0) return { uid, gid: process.getgid?.() ?? -1 };
  const owner = await stat(workspace);
  return { uid: owner.uid, gid: owner.gid };
}

/**
 * Makes the folders of a run: `context` is ours, and commands can only read it; `home`, `tmp`, and `upper` or `copy`
 * (the layer over the checkout) are theirs, and this process never opens anything in them.
 */
export async function makeRunFolders(run: string, workspace: string): Promise<void> {
  for (const name of ['context', 'home', 'tmp', 'layer', 'private', 'root'])
    await mkdir(join(run, name), { mode: name === 'context' ? 0o755 : 0o700 });
  // An overlay option cannot hold a path with a comma or a colon.
  await symlink(workspace, join(run, 'lower'));
}

/** How long a copy of the checkout may take, in milliseconds. */
export const COPY_WITHIN = 300_000;

/** Copies the checkout, and cleans the copy. @throws SandboxError with the words of `cp`, as about a full disk */
export async function copyWorkspace(run: string, workspace: string, signal: AbortSignal): Promise<void> {
  const script = 'set -e; cp -a -- "$2" "$3"; cd "$3"; . "$1"';
  const args = ['-c', script, 'sh', join(run, CLEAN), workspace, join(run, 'layer', 'copy')];
  const copied = await runOnHost('/bin/sh', args, { withinMs: COPY_WITHIN, signal });
  if (copied?.exitCode === 0) return;
  const why = copied === null ? `not within ${COPY_WITHIN / 1000} s` : (copied.stderr.split('\n')[0] ?? '');
  throw new SandboxError(`The checkout could not be copied to RUNNER_TEMP: ${why.trim()}.`);
}

/** In the background, so that Ctrl-C in the terminal of this process does not end it; with enough time for a million folders. */
const REMOVAL = `{
  ulimit -t 60 2>/dev/null
  rm -rf -- "$1" && exit
  chmod -R u+rwx -- "$1"
  exec rm -rf -- "$1"
} 2>/dev/null &
wait`;

/**
 * Removes the folder of the run, even if a command removed the permissions of its own folders or nested them deeper
 * than the longest possible path: `rm` descends step by step and follows no links. Never rejects, and waits at most
 * `withinMs` milliseconds; a longer removal continues after this process has exited.
 */
export async function removeFolder(folder: string, withinMs: number): Promise<void> {
  await runOnHost('/bin/sh', ['-c', REMOVAL, 'sh', folder], { withinMs });
}
