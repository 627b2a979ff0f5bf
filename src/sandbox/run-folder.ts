/** The private folder of a run, with its /tmp, home folder and pipes. */
import { spawn } from 'node:child_process';
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_HOME } from './exec/environment.ts';
import { createPipeSource, type PipeSource } from './exec/process.ts';

/** The folders of a run, as real paths. */
export interface Folders {
  readonly run: string;
  /** The private /tmp, as a path on the host. */
  readonly tmp: string;
  readonly pipes: PipeSource;
}

/** Creates what a run needs inside its folder, which must already exist. */
export async function makeFolders(runFolder: string): Promise<Folders> {
  const run = await realpath(runFolder);
  const tmp = join(run, 'tmp');
  const pipes = join(run, 'pipes');
  const home = join(tmp, PRIVATE_HOME);
  const makeFolder = (folder: string) => mkdir(folder, { recursive: true, mode: 0o700 });
  const makeHome = makeFolder(home).then(() => writeFile(join(home, '.gitconfig'), '', { flag: 'a' }));
  await Promise.all([makeHome, makeFolder(pipes)]);
  return { run, tmp, pipes: createPipeSource(pipes) };
}

/** CPU time in seconds for a removal that outlives this process; enough for a million folders. */
const REMOVAL_CPU_SECONDS = 60;
const REMOVAL = `
ulimit -t ${REMOVAL_CPU_SECONDS} 2>/dev/null
rm -rf -- "$1" && exit
chmod -R u+rwx -- "$1"
exec rm -rf -- "$1"`;
/** The exit code of a shell that does not find a program. */
const NOT_FOUND = 127;

/**
 * Removes the folder of the run, even if a command removed the permissions of its own folders or nested them deeper
 * than the longest possible path: the system's `rm` descends step by step and follows no links, whereas Node.js uses
 * whole paths and needs half a minute to fail. Never rejects, and waits at most `withinMs` milliseconds. A longer
 * removal, such as of tens of thousands of folders on a slow disk, continues in a separate process after this one has
 * exited.
 */
export async function removeFolder(folder: string, withinMs = 5_000): Promise<void> {
  const ended = await new Promise<number | null>((resolve) => {
    // Detached, so that neither the exit of this process nor Ctrl-C in its terminal stops the removal.
    const child = spawn('/bin/sh', ['-c', REMOVAL, 'sh', folder], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: 'ignore',
      detached: true,
    });
    const end = (code: number | null) => {
      clearTimeout(timer);
      resolve(code);
    };
    const timer = setTimeout(() => {
      child.unref();
      resolve(null);
    }, withinMs);
    child.once('error', () => end(NOT_FOUND));
    child.once('close', end);
  });
  if (ended === NOT_FOUND) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}
