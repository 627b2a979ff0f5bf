/** Runs one command in a sandbox, and keeps of its output what the model sees and what a file holds. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { SandboxError } from '../errors.ts';
import { WAIT } from '../text/limits.ts';
import type { Isolation } from '../types.ts';
import { SYSTEM_ENVIRONMENT } from './host-program.ts';

/** A way to run commands. */
export interface Backend {
  readonly name: Isolation;
  /** Words that run the program that is added to them. */
  readonly words: readonly string[];
  /** Kills what a process group does not reach; may be called again while a command is starting. */
  kill(): void;
  /** Returns why no command can run any more, or null. */
  findFailure(): Promise<string | null>;
  /** Ends everything inside. */
  close(): Promise<void>;
}

export interface CommandResult {
  /** null if the time limit ended it. */
  readonly exitCode: number | null;
  readonly durationMs: number;
}

export interface CommandOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Receives the output; no more is read until it resolves. */
  readonly onOutput: (chunk: Buffer) => Promise<void> | void;
}

/**
 * Starts the words in "$@" and gives their output a real pipe, which a socket of Node.js is not: it keeps the order of
 * both streams, and can be opened as /dev/stderr. Kills its process group when stdin ends, as it does with this process,
 * however that ends. A descriptor that this process inherited may lead out of the sandbox, so all others are closed.
 */
const WRAPPER = `
for fd in /proc/self/fd/*; do
  case \${fd##*/} in [3-9]) eval "exec \${fd##*/}>&-" ;; esac
done
if [ -n "$BASH" ]; then
  for fd in /proc/self/fd/*; do
    case \${fd##*/} in [1-9][0-9]*) eval "exec \${fd##*/}>&-" ;; esac
  done
fi
exec 3>&1 5<&0 </dev/null
{ read -r line <&5; kill -s KILL 0; } >/dev/null 2>&1 3>&- &
watcher=$!
exec 5<&-
code=$({ { "$@" 2>&1 3>&- 4>&-; echo $? >&4; } | cat >&3 4>&-; } 4>&1 2>/dev/null)
kill -s KILL $watcher 2>/dev/null
exit "$code"`;

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
): Promise<CommandResult> {
  signal.throwIfAborted();
  const startedAt = performance.now();
  const args = ['-c', WRAPPER, 'sh', ...backend.words, ...program];
  const child = spawn(shell, args, { cwd: '/', env: SYSTEM_ENVIRONMENT, detached: true, stdio: 'pipe' });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new SandboxError(`A command could not be started: ${cause.message}`, { cause })),
    );
    child.once('close', (code) => resolve(code ?? 137));
  });
  child.stdin.on('error', () => undefined);
  child.stderr.resume();
  let isOver = false;
  let killing: NodeJS.Timeout | undefined;
  const kill = () => {
    if (killing !== undefined) return;
    killOnce(child, backend);
    // What is just being started may not have been there.
    killing = setInterval(() => killOnce(child, backend), WAIT.killAgain);
  };
  const timer = setTimeout(() => {
    isOver = true;
    kill();
  }, timeoutMs);
  signal.addEventListener('abort', kill, { once: true });
  try {
    for await (const chunk of child.stdout) await onOutput(chunk as Buffer);
    const exitCode = await ended;
    signal.throwIfAborted();
    return { exitCode: isOver ? null : exitCode, durationMs: performance.now() - startedAt };
  } catch (error) {
    // Also if the output could not be taken.
    kill();
    await ended.catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
    clearInterval(killing);
    signal.removeEventListener('abort', kill);
  }
}

function killOnce(child: ChildProcess, backend: Backend): void {
  backend.kill();
  child.stdin?.end();
  try {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Already dead.
  }
}

export interface KeptOutput {
  /** The full output, or head and tail with a line between them that states how much is missing. */
  readonly text: string;
  readonly totalBytes: number;
  /** Whether the file holds more than the text. */
  readonly isCut: boolean;
  readonly keptBytes: number;
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
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  let full: FileHandle | null = null;

  async function keep(chunk: Buffer): Promise<void> {
    const part = chunk.subarray(0, maxFileBytes - kept);
    if (full === null || part.length === 0) return;
    try {
      await full.appendFile(part);
      kept += part.length;
    } catch {
      // A full disk must not fail the command; the file just ends earlier.
      maxFileBytes = kept;
    }
  }

  return {
    async add(chunk: Buffer): Promise<void> {
      total += chunk.length;
      if (full === null && total <= maxBytes) {
        head = Buffer.concat([head, chunk]);
        return;
      }
      if (full === null) {
        full = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
        await keep(head);
        const all = Buffer.concat([head, chunk]);
        head = all.subarray(0, headBytes);
        tail = all.subarray(headBytes).subarray(-(maxBytes - headBytes));
      } else {
        tail = Buffer.concat([tail, chunk]).subarray(-(maxBytes - headBytes));
      }
      await keep(chunk);
    },
    async finish(): Promise<KeptOutput> {
      await full?.close();
      if (full === null) return { text: decode(head), totalBytes: total, isCut: false, keptBytes: total };
      const first = trimEnd(head);
      const last = trimStart(tail);
      const gap = `\n[… ${total - first.length - last.length} bytes left out here …]\n`;
      return {
        text: `${decode(first)}${gap}${decode(last)}`,
        totalBytes: total,
        isCut: true,
        keptBytes: kept,
      };
    },
  };
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** Removes an incomplete code point from the end. */
function trimEnd(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && isContinuation(bytes[end - 1])) end -= 1;
  const first = bytes[end - 1] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return bytes.length - end + 1 < length ? bytes.subarray(0, end - 1) : bytes;
}

/** Removes the rest of a code point from the start. */
function trimStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
