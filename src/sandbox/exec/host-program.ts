/** Runs the short helper programs of this machine; the agent's own commands are started by `process.ts`. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { race } from '../../text/wait.ts';

/** Where the system keeps its helpers. PATH is not asked: an earlier step may have put anything there. */
export const HELPER_FOLDERS: readonly string[] = [
  '/usr/bin',
  '/bin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
];

/** The absolute path of the first of these names that is an executable in one of the folders; null where none is. */
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

/** How a helper ended. */
export interface HelperResult {
  /** null where a signal ended it. */
  readonly exitCode: number | null;
  readonly stderr: string;
}

const DEFAULT_MS = 5_000;

/**
 * Runs a helper to its end, with an environment of its own and nothing printed: not its output, nor the command line,
 * which the package writes to stdout unless it is `silent`. For programs that read no input and say little: their input
 * is a pipe that stays open (given one, the package ends this process where a program ends without reading it), and the
 * package looks through all output again with each piece of it.
 *
 * The package cannot stop a program. One that hangs, most likely in the kernel, is not waited for, and ends with the job.
 * @param file absolute.
 * @returns null where it did not end in time, or the signal was aborted.
 * @throws Error where it cannot be started.
 */
export async function runHelper(
  file: string,
  args: readonly string[],
  { withinMs = DEFAULT_MS, signal }: { readonly withinMs?: number; readonly signal?: AbortSignal } = {},
): Promise<HelperResult | null> {
  const over = AbortSignal.any([AbortSignal.timeout(withinMs), ...(signal === undefined ? [] : [signal])]);
  if (over.aborted) return null;
  // Loaded by the first who needs it: the start of a run waits for nothing here.
  const { getExecOutput } = await import('@actions/exec');
  // A command line is split into words, and quotes keep a path whole; the arguments are taken as they are.
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
