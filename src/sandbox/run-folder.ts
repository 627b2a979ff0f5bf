/** The private folder of a run: its /tmp, its home, its pipes. */
import { spawn } from 'node:child_process';
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_HOME } from './exec/environment.ts';
import { createPipeSource, type PipeSource } from './exec/process.ts';

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

/** Processor time that a removal which outlives this process may take, in seconds: a million folders. */
const REMOVAL_CPU_SECONDS = 60;
const REMOVAL = `
ulimit -t ${REMOVAL_CPU_SECONDS} 2>/dev/null
rm -rf -- "$1" && exit
chmod -R u+rwx -- "$1"
exec rm -rf -- "$1"`;
/** What a shell ends with where it does not find a program. */
const NOT_FOUND = 127;

/**
 * Removes the run's folder, also where a command took the rights to its own folders away, or made them deeper than a
 * path can name: the system's own `rm` goes down step by step and follows no link, Node's goes by whole paths and needs
 * half a minute to fail. Never rejects and is waited for at most `withinMs` milliseconds. What takes longer, such as tens
 * of thousands of folders on a slow disk, goes on in a process of its own when this one has ended.
 */
export async function removeFolder(folder: string, withinMs = 5_000): Promise<void> {
  const ended = await new Promise<number | null>((resolve) => {
    // Detached: neither the end of this process nor a Ctrl-C at its terminal ends the removal.
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
