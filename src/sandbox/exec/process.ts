/** Runs one command in a sandbox until it ends or times out, and leaves none of its processes alive. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxError } from '../../errors.ts';
import { WAIT } from '../../text/limits.ts';
import type { IsolationBackend, Launch } from '../isolation/backend.ts';
import { type Captured, createCapture } from './bounded-output.ts';
import { findHelper, runHelper } from './host-program.ts';

export interface ProcessOptions {
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  readonly pipes: PipeSource;
  /** Folder for output that exceeds `maxOutputBytes`. */
  readonly spillFolder: string;
}

interface ProcessResult extends Captured {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
}

/** How often a sandbox is restarted for a command that it did not get to run. */
const MAX_RETRIES = 5;

/**
 * Runs a command; resolves only when all processes that it started are dead.
 * @throws the signal's reason if it was aborted, SandboxError if the sandbox did not start.
 */
export async function runProcess(
  backend: IsolationBackend,
  command: string,
  options: ProcessOptions,
): Promise<ProcessResult> {
  for (let left = backend.mayFailOnce === true ? MAX_RETRIES : 0; ; left -= 1) {
    const result = await runOnce(backend, command, options);
    if (!('notUp' in result)) return result;
    if (left === 0 || !result.again) throw result.notUp;
  }
}

interface NotStarted {
  readonly notUp: SandboxError;
  /**
   * Whether the program that creates the sandbox exited by itself after writing its whole status, so that no part of
   * the command has run.
   */
  readonly again: boolean;
}

async function runOnce(
  backend: IsolationBackend,
  command: string,
  options: ProcessOptions,
): Promise<ProcessResult | NotStarted> {
  const { signal } = options;
  signal.throwIfAborted();
  const launch = await backend.launch(command);
  const started = performance.now();
  const pipe = await options.pipes.take();
  const child = start(launch, pipe);
  const capture = createCapture(options.maxOutputBytes, options.spillFolder);
  const drained = drain(pipe.output, capture.add);
  const status = collect(child.stdio[launch.instructions?.channel === 'standard' ? 2 : 4]);
  const ended = exit(child);

  const ending = await firstOf(ended, options);
  // The last part of the status may arrive after the exit event.
  if (ending === 'exit') await within(WAIT.remainingOutput, status.ended);
  else await named(backend, child, status);
  await backend.sweep({ pid: child.pid, ended: ending === 'exit' }, status.text(), launch);
  const { code, signalName, failure } = await ended;
  await within(WAIT.remainingOutput, drained);
  pipe.output.destroy();
  const captured = await capture.finish();

  signal.throwIfAborted();
  if (failure !== null)
    throw new SandboxError(`The shell could not be started: ${failure.message}`, { cause: failure });
  if (ending === 'exit' && !backend.hasRun(status.text())) {
    const why = captured.text.trim() || 'no reason was given';
    return {
      notUp: new SandboxError(`The sandbox did not come up: ${why}`),
      again: code === 1 && status.hasEnded(),
    };
  }
  const timedOut = ending === 'timeout';
  return {
    ...captured,
    exitCode: timedOut ? null : code,
    signal: timedOut ? null : signalName,
    timedOut,
    durationMs: Math.round(performance.now() - started),
  };
}

/**
 * Waits until the sandbox has reported which process to kill: a sweep during startup could miss the command and leave
 * it running. Counts polls instead of elapsed time, because a suspended machine polls nothing.
 */
async function named(backend: IsolationBackend, child: ChildProcess, status: Status): Promise<void> {
  const isOver = () => child.exitCode !== null || child.signalCode !== null || status.hasEnded();
  for (let waited = 0; waited < WAIT.processName && !isOver(); waited += 5) {
    if (backend.canSweep?.(status.text()) !== false) return;
    await sleep(5);
  }
}

function start(launch: Launch, pipe: Pipe): ChildProcess {
  try {
    const child = spawn(launch.file, launch.args, {
      cwd: launch.cwd,
      env: launch.environment,
      // A process group and session of its own, so that it has no terminal and one id kills the whole group.
      detached: true,
      stdio: stdioOf(launch, pipe.writer),
    });
    const input = child.stdio[launch.instructions?.channel === 'standard' ? 0 : 3];
    if (input && 'end' in input) {
      input.on('error', () => undefined);
      input.end(launch.instructions?.text);
    }
    return child;
  } catch (error) {
    pipe.output.destroy();
    throw error;
  } finally {
    pipe.release();
  }
}

function stdioOf({ instructions }: Launch, writer: number): StdioOptions {
  switch (instructions?.channel) {
    case undefined:
      return ['ignore', writer, writer];
    case 'standard':
      return ['pipe', writer, 'pipe'];
    case 'descriptors':
      return ['ignore', writer, writer, 'pipe', 'pipe'];
  }
}

interface Exit {
  readonly code: number | null;
  readonly signalName: string | null;
  readonly failure: Error | null;
}

function exit(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', (failure) => resolve({ code: null, signalName: null, failure }));
    child.once('exit', (code, signalName) => resolve({ code, signalName, failure: null }));
  });
}

/** Resolves with what happens first: the command exits, it times out, or the run is aborted. */
async function firstOf(ended: Promise<Exit>, options: ProcessOptions): Promise<'exit' | 'timeout' | 'abort'> {
  if (options.signal.aborted) return 'abort';
  const over = new AbortController();
  const timeout = sleep(options.timeoutMs, 'timeout' as const, { signal: over.signal });
  const aborted = once(options.signal, 'abort', { signal: over.signal });
  try {
    return await Promise.race([
      ended.then(() => 'exit' as const),
      timeout,
      aborted.then(() => 'abort' as const),
    ]);
  } finally {
    over.abort();
    await Promise.allSettled([timeout, aborted]);
  }
}

async function drain(output: Readable, add: (chunk: Buffer) => Promise<void>): Promise<void> {
  try {
    for await (const chunk of output) await add(Buffer.from(chunk));
  } catch {
    // The stream was destroyed while a process still held the pipe open; the output received so far counts.
  }
}

interface Status {
  readonly text: () => string;
  readonly ended: Promise<void>;
  readonly hasEnded: () => boolean;
}

/** Collects what a child writes to one of our descriptors. */
function collect(stream: unknown): Status {
  if (!(stream instanceof Readable)) {
    return { text: () => '', ended: Promise.resolve(), hasEnded: () => true };
  }
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  stream.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    stream.once('end', resolve);
    stream.once('close', resolve);
  });
  return { text: () => text, ended, hasEnded: () => stream.readableEnded };
}

/** A pipe whose write end is passed to a child. */
interface Pipe {
  readonly output: Socket;
  readonly writer: number;
  /** Closes our copy of the write end, so that the output ends when the last process that holds one closes it. */
  release(): void;
}

export interface PipeSource {
  take(): Promise<Pipe>;
  /** Waits until no more pipes are being created. */
  close(): Promise<void>;
}

/** Number of FIFOs created by one `mkfifo` process. */
const BATCH = 64;

/**
 * Creates pipes by means of FIFOs that are unlinked once they are open. Node.js gives children a socket pair for each
 * stream, which loses the order of the output, and `echo x > /dev/stderr` fails on a socket.
 * @param folder a folder that commands cannot see.
 */
export function createPipeSource(folder: string): PipeSource {
  const ready: string[] = [];
  const fill = () =>
    makeFifos(folder).then((paths) => {
      ready.push(...paths);
    });
  // Created on first use, so that it does not delay the start of a run.
  let filling: Promise<void> | null = null;
  return {
    async take() {
      for (;;) {
        const path = ready.pop();
        if (path !== undefined) return openPipe(path);
        filling ??= fill();
        const current = filling;
        try {
          await current;
        } finally {
          if (filling === current) filling = null;
        }
      }
    },
    async close() {
      await filling?.catch(() => undefined);
    },
  };
}

async function openPipe(path: string): Promise<Pipe> {
  try {
    // Raw descriptors, which only the socket and `release` close. Neither open can block.
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    const output = new Socket({ fd: reader, readable: true, writable: false });
    return { output, writer, release: () => closeSync(writer) };
  } finally {
    await rm(path, { force: true });
  }
}

/** Creates many FIFOs at once, because starting a program costs more than everything else that a command needs here. */
async function makeFifos(folder: string): Promise<readonly string[]> {
  const paths = Array.from({ length: BATCH }, () => join(folder, `fifo-${randomBytes(8).toString('hex')}`));
  const mkfifo = await findHelper(['mkfifo']);
  if (mkfifo === null) throw new SandboxError('The sandbox needs mkfifo (coreutils), which is not here.');
  const made = await runHelper(mkfifo, ['-m', '666', ...paths], { withinMs: WAIT.mkfifo });
  if (made?.exitCode === 0) return paths;
  throw new SandboxError(
    `The sandbox could not make its pipes: ${made?.stderr.trim() ?? 'mkfifo did not end'}.`,
  );
}

/**
 * Waits until the promise settles or the timeout in milliseconds elapses; leaves no timer behind. Rejects if the
 * promise does.
 */
export async function within(milliseconds: number, promise: Promise<void>): Promise<void> {
  const over = new AbortController();
  const patience = sleep(milliseconds, undefined, { signal: over.signal });
  try {
    await Promise.race([promise, patience]);
  } finally {
    over.abort();
    await Promise.allSettled([patience]);
  }
}
