/** Runs short helper programs of the host; `process.ts` runs the agent's own commands. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { WAIT } from '../../text/limits.ts';
import { race } from '../../text/wait.ts';

/**
 * The system folders in which helpers are looked up. PATH is not used, because an earlier step may have added any
 * folder to it.
 */
export const HELPER_FOLDERS: readonly string[] = [
  '/usr/bin',
  '/bin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
];

/** Returns the absolute path of the first of these names that is an executable file in one of the folders, or null. */
export async function findHelper(
  names: readonly string[],
  folders: readonly string[] = HELPER_FOLDERS,
): Promise<string | null> {
  for (const path of names.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return path;
  }
  return null;
}

export interface HelperResult {
  /** null if a signal ended it. */
  readonly exitCode: number | null;
  readonly stderr: string;
}

/**
 * Runs a helper to completion with an environment of its own. Prints neither its output nor its command line, which
 * `@actions/exec` writes to stdout unless `silent` is set. Only for programs that read no input and print little: stdin
 * is a pipe that stays open (given input, the package ends this process if a program exits without reading it), and the
 * package rescans all output with each chunk.
 *
 * The package cannot stop a program. One that hangs, most likely in the kernel, is not awaited, and ends with the job.
 * @param file an absolute path.
 * @returns null if it did not end in time or the signal was aborted.
 * @throws Error if it cannot be started.
 */
export async function runHelper(
  file: string,
  args: readonly string[],
  { withinMs = WAIT.helper, signal }: { readonly withinMs?: number; readonly signal?: AbortSignal } = {},
): Promise<HelperResult | null> {
  const over = AbortSignal.any([AbortSignal.timeout(withinMs), ...(signal === undefined ? [] : [signal])]);
  if (over.aborted) return null;
  // Loaded on first use, so that it does not delay the start of a run.
  const { getExecOutput } = await import('@actions/exec');
  // The package splits the command line into words, so the path is quoted; the arguments are passed unchanged.
  const running = getExecOutput(`"${file.replaceAll('"', '\\"')}"`, [...args], {
    silent: true,
    ignoreReturnCode: true,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  });
  try {
    return await race(running, over);
  } catch (error) {
    if (over.aborted) return null;
    throw error;
  }
}
