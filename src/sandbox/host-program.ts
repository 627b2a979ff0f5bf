/** Programs of this machine that prepare the sandbox; `command.ts` runs the agent's own commands. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecOutput } from '@actions/exec';
import { race } from '../text/wait.ts';

/** PATH is not used, because an earlier step may have put any folder on it. */
export const SYSTEM_FOLDERS: readonly string[] = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** The environment of every program that we start ourselves. */
export const SYSTEM_ENVIRONMENT = { PATH: SYSTEM_FOLDERS.join(':'), LC_ALL: 'C' };

/** Returns the absolute path of a program in one of the folders, or null. */
export function findProgram(name: string, folders: readonly string[] = SYSTEM_FOLDERS): string | null {
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/**
 * Runs a program of the host that reads no input, and prints neither its output nor its command line. `@actions/exec`
 * cannot stop a program: one that does not end in time is not awaited, and ends with the job.
 * @param file an absolute path.
 * @returns null if it did not end in time or cannot be started.
 * @throws the signal's reason.
 */
export async function runOnHost(
  file: string,
  args: readonly string[],
  { withinMs = 5_000, signal }: { readonly withinMs?: number; readonly signal?: AbortSignal } = {},
): Promise<ExecOutput | null> {
  // Loaded on first use, so that it does not delay the start of a run.
  const { getExecOutput } = await import('@actions/exec');
  // The package splits the command line into words, so the path is quoted; the arguments are passed unchanged.
  const running = getExecOutput(`"${file.replaceAll('"', '\\"')}"`, [...args], {
    silent: true,
    ignoreReturnCode: true,
    cwd: '/',
    env: SYSTEM_ENVIRONMENT,
  });
  const timeout = AbortSignal.timeout(withinMs);
  try {
    return await race(running, signal === undefined ? timeout : AbortSignal.any([timeout, signal]));
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}

/** Returns null if the words run, otherwise the first line of what they say, or the reason if they say nothing. */
export async function tryWords(words: readonly string[], reason: string): Promise<string | null> {
  const [file = '', ...args] = words;
  const ended = await runOnHost(file, args);
  if (ended?.exitCode === 0) return null;
  return ended?.stderr.trim().split('\n')[0] || reason;
}
