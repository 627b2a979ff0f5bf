/** Runs one command in a sandbox, and keeps of its output what the model sees and what a file holds. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { SandboxError } from '../errors.ts';
import type { Isolation } from '../types.ts';
import { SYSTEM_ENVIRONMENT } from './host-program.ts';
import type { ExecResult } from './sandbox.ts';

/** A way to run commands. */
export interface Backend {
  readonly name: Isolation;
  /** How the checkout is kept as it was; null if it is not. */
  readonly layer: 'overlay' | 'copy' | null;
  /** Words that run the program that is added to them. */
  readonly words: readonly string[];
  /** Whether a command ends with its process group; what root runs does not. */
  readonly endsWithGroup: boolean;
  /** Kills what such a group does not hold: all that runs inside. Resolves once it has. */
  killInside(): Promise<void>;
  /** Returns why no command can run any more, or null. */
  findFailure(): Promise<string | null>;
  /** Ends everything inside. */
  close(): Promise<void>;
}

export interface CommandOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Receives the output; no more is read until it resolves. */
  readonly onOutput: (chunk: Buffer) => Promise<void> | void;
}

/**
 * Starts the words in "$@" and gives their output a real pipe, which a socket of Node.js is not: it keeps the order of
 * both streams, and can be opened as /dev/stderr. Writes the exit code to descriptor 3. Kills its process group when
 * stdin ends, as it does with this process, however that ends. A descriptor that this process inherited may lead out of
 * the sandbox, so all others are closed.
 */
const WRAPPER = `
for fd in /proc/self/fd/*; do
  case \${fd##*/} in
    [4-9]) eval "exec \${fd##*/}>&-" ;;
    [1-9][0-9]*) [ -z "$BASH" ] || eval "exec \${fd##*/}>&-" ;;
  esac
done
exec 4<&0 </dev/null
{ read -r line <&4; kill -s KILL 0; } > /dev/null 3>&- &
watcher=$!
exec 4<&-
{ "$@" 2>&1 3>&-; echo $? >&3; } | cat 3>&-
kill -s KILL $watcher`;

/**
 * Runs a program in a sandbox, with both streams of its output in one. Resolves once all its processes are dead.
 * @param shell the absolute path of the shell of this machine.
 * @throws the signal's reason if it was aborted; SandboxError if it cannot be started
 */
export async function runInside(
  backend: Backend,
  shell: string,
  program: readonly string[],
  { timeoutMs, signal, onOutput }: CommandOptions,
): Promise<Pick<ExecResult, 'exitCode' | 'durationMs'>> {
  signal.throwIfAborted();
  const startedAt = performance.now();
  const args = ['-c', WRAPPER, 'sh', ...backend.words, ...program];
  const child = spawn(shell, args, {
    cwd: '/',
    env: SYSTEM_ENVIRONMENT,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  ended.catch(() => undefined);
  child.stdin?.on('error', () => undefined);
  let exitCode: number | null = null;
  let killed = Promise.resolve();
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    exitCode ??= Number(chunk);
    // What it left running may hold the pipe.
    killed = backend.killInside();
  });
  let isOver = false;
  let killing: NodeJS.Timeout | undefined;
  const kill = () => {
    killed = backend.killInside();
    if (backend.endsWithGroup && child.pid !== undefined && child.exitCode === null) killGroup(child.pid);
  };
  const end = () => {
    kill();
    // What is just being started may not have been there.
    killing ??= setInterval(kill, 100);
  };
  const timer = setTimeout(() => {
    isOver = true;
    end();
  }, timeoutMs);
  signal.addEventListener('abort', end, { once: true });
  try {
    for await (const chunk of child.stdout ?? []) await onOutput(chunk as Buffer);
    await ended;
    await killed;
    signal.throwIfAborted();
    return { exitCode: isOver ? null : (exitCode ?? 137), durationMs: performance.now() - startedAt };
  } catch (error) {
    // Also if the output could not be taken.
    end();
    await ended.catch((cause: Error) => {
      throw new SandboxError(`A command could not be started: ${cause.message}`, { cause });
    });
    throw error;
  } finally {
    clearTimeout(timer);
    clearInterval(killing);
    signal.removeEventListener('abort', end);
  }
}

export function killGroup(group: number): void {
  try {
    // 0 would be the group of this process, and 1 all processes.
    if (group > 1) process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/**
 * Keeps head and tail of an output in memory, and the full output in a file once it exceeds the limit.
 * @param maxBytes maximum size of the text, not counting the line about the cut.
 * @param file a path in a folder that no command can write to.
 * @param maxFileBytes maximum size of the file.
 */
export function createOutput(maxBytes: number, file: string, maxFileBytes: number) {
  const headBytes = Math.ceil(maxBytes / 2);
  let total = 0;
  let kept = 0;
  /** All of it as long as it fits, then its beginning. */
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  let full: FileHandle | null = null;

  async function keep(chunk: Buffer): Promise<void> {
    const part = chunk.subarray(0, maxFileBytes - kept);
    try {
      if (part.length > 0) await full?.appendFile(part);
      kept += part.length;
    } catch {
      // A full disk must not fail the command; the file just ends earlier.
      maxFileBytes = kept;
    }
  }

  return {
    async add(chunk: Buffer): Promise<void> {
      total += chunk.length;
      if (full === null) {
        head = Buffer.concat([head, chunk]);
        if (total <= maxBytes) return;
        full = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
        await keep(head);
        tail = head.subarray(headBytes);
        head = head.subarray(0, headBytes);
      } else {
        await keep(chunk);
        tail = Buffer.concat([tail, chunk]);
      }
      tail = tail.subarray(-(maxBytes - headBytes));
    },
    /** Returns the full output, or head and tail with a line between them that states how much is missing. */
    async finish() {
      await full?.close();
      if (full === null) return { output: decode(head), totalBytes: total, keptBytes: total, isCut: false };
      // What is left of a code point at both sides of the cut is left out, too.
      const first = head.subarray(0, head.length - measure(INCOMPLETE_END, head.subarray(-3)));
      const last = tail.subarray(measure(INCOMPLETE_START, tail.subarray(0, 3)));
      const gap = `\n[… ${total - first.length - last.length} bytes left out here …]\n`;
      const output = `${decode(first)}${gap}${decode(last)}`;
      return { output, totalBytes: total, keptBytes: kept, isCut: true };
    },
  };
}

const INCOMPLETE_END = /(?:[\xc0-\xff]|[\xe0-\xff][\x80-\xbf]|[\xf0-\xff][\x80-\xbf]{2})$/u;
const INCOMPLETE_START = /^[\x80-\xbf]+/u;

function measure(pattern: RegExp, bytes: Buffer): number {
  return pattern.exec(bytes.toString('latin1'))?.[0].length ?? 0;
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
