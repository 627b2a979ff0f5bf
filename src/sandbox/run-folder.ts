/** The private folder of a run: its /tmp, its home, its pipes. */
import { spawn } from 'node:child_process';
import { lstat, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_HOME } from './environment.ts';
import { createPipeSource, type PipeSource } from './pipe.ts';

/** The run's folders, as real paths. */
export interface Folders {
  readonly run: string;
  /** The private /tmp, on this machine. */
  readonly tmp: string;
  readonly pipes: PipeSource;
}

/** Makes what a run needs in its folder, which is there already. */
export async function makeFolders(runFolder: string): Promise<Folders> {
  const run = await realpath(runFolder);
  const tmp = join(run, 'tmp');
  const pipes = join(run, 'pipes');
  const home = join(tmp, PRIVATE_HOME);
  await mkdir(home, { recursive: true, mode: 0o700 });
  await mkdir(pipes, { recursive: true, mode: 0o700 });
  await writeFile(join(home, '.gitconfig'), '', { flag: 'a' });
  return { run, tmp, pipes: createPipeSource(pipes) };
}

/**
 * Removes the run's folder, also where a command took the rights to its own folders away, or made them deeper than a
 * path can name: the system's own `rm` goes down step by step and follows no link, Node's goes by whole paths and needs
 * half a minute to fail. Never rejects and takes at most `withinMs` milliseconds: leftovers do no harm, a process that
 * does not end does.
 */
export async function removeFolder(folder: string, withinMs = 5_000): Promise<void> {
  const until = performance.now() + withinMs;
  const runQuietly = (file: string, args: readonly string[]) =>
    runWithin(file, args, Math.max(1, Math.ceil(until - performance.now())));
  const removal = ['-rf', '--', folder];
  const begun = await runQuietly('/bin/rm', removal);
  if (!begun) {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    return;
  }
  if (!(await isThere(folder))) return;
  await runQuietly('/bin/chmod', ['-R', 'u+rwx', '--', folder]);
  await runQuietly('/bin/rm', removal);
}

/** Runs one of the system's programs to its end, whatever that is; false where there is no such program. */
async function runWithin(file: string, args: readonly string[], timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd: '/', env: {}, stdio: 'ignore', timeout, killSignal: 'SIGKILL' });
    child.once('error', () => resolve(child.pid !== undefined));
    child.once('close', () => resolve(true));
  });
}

async function isThere(folder: string): Promise<boolean> {
  try {
    await lstat(folder);
    return true;
  } catch {
    return false;
  }
}
