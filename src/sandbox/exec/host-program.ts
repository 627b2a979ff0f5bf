/** Runs programs of the host; `process.ts` runs the agent's own commands. */
import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
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

export interface ProgramResult extends HelperResult {
  readonly stdout: string;
}

/**
 * Runs a program to its end, and kills its process group as soon as the signal is aborted; a program of root, or one in
 * a session of its own, is then still awaited while it holds the output. Unlike `runHelper`, it starts the program
 * before it returns.
 * @param file an absolute path, or the name of a program in `/usr/bin` or `/bin`.
 * @returns the beginning of its output, at least 64 KiB.
 * @throws the signal's reason; Error if it cannot be started.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
  input: Buffer = Buffer.alloc(0),
): Promise<ProgramResult> {
  signal.throwIfAborted();
  const child = spawn(file, args, {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A process group of its own, so that everything it starts can be killed, too.
    detached: true,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // Without a free descriptor there are no streams. A program that exits before it has read all its input reports that
  // by its exit code.
  child.stdin?.on('error', () => undefined).end(input);
  const stop = () => {
    if (child.pid !== undefined) killOne(-child.pid);
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    const exitCode = await ended;
    signal.throwIfAborted();
    return { exitCode, stdout: stdout(), stderr: stderr() };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Keeps the beginning of a stream, at least 64 KiB, and reads the rest. */
function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (size < 65_536) chunks.push(chunk);
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

/** Kills a process, or a process group if the number is negative. Ignores processes that are already dead. */
export function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already dead.
  }
}
