/** The private folder of a run: its /tmp, its home, its pipes. */
import { chmod, mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises';
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

/** Removes the run's folder, also where a command took the rights to its own folders away. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await openUp(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 2 }).catch(() => undefined);
  }
}

async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined);
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory()) await openUp(join(folder, entry.name));
  }
}
