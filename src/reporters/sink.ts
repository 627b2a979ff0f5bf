/** Writes to a standard stream of this process and detects and reports lost output. */
import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { errorCode, InputError, messageOf } from '../errors.ts';

/** An ordered output stream. */
export interface Sink {
  /** Queues a text; never throws or blocks. After output was lost, nothing more is written. */
  write(text: string): void;
  /**
   * Resolves when the operating system has accepted everything written so far, however slowly the reader reads.
   * @throws InputError if output was lost: a result that did not arrive is not a success.
   */
  flush(): Promise<void>;
}

export interface SinkOptions {
  /** Name of the stream in messages. */
  readonly name: 'stdout' | 'stderr';
  readonly fd: number;
  /** Returns Node's stream for `fd`; called only if the other end reads at its own pace. */
  readonly stream: () => Writable;
  /** Called once, as soon as output is lost: `flush` may not have been called yet. */
  readonly lost?: (error: InputError) => void;
}

/**
 * Creates a sink for a standard stream. Pipes, sockets and terminals use Node's stream, whose callback reports when the
 * system has accepted a text: exiting earlier would truncate it, and signals must be handled while a reader is idle.
 * Everything else is written directly: Node's stream for files treats a write cut short by a full disk as complete, and
 * its stream for unknown descriptor types accepts everything and writes nothing. A descriptor that was closed from the
 * start is not an error: Node opens /dev/null in its place, and the caller wanted no output.
 */
export function createSink({ name, fd, stream, lost }: SinkOptions): Sink {
  let failure: InputError | null = null;
  let pending = 0;
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  const fail = (error: unknown) => {
    if (failure !== null) return;
    failure = lossOf(name, error);
    wake();
    lost?.(failure);
  };

  let put: ((text: string) => void) | null = null;
  const open = () => {
    if (!readsAtItsPace(fd)) return (text: string) => writeWhole(fd, text);
    const target = stream();
    // Without a listener, losing the reader would end the process immediately.
    target.on('error', fail);
    return (text: string) => {
      pending += 1;
      target.write(text, (error) => {
        pending -= 1;
        if (error !== undefined && error !== null) fail(error);
        else if (pending === 0) wake();
      });
    };
  };

  return {
    write(text) {
      if (failure !== null || text === '') return;
      try {
        put ??= open();
        put(text);
      } catch (error) {
        fail(error);
      }
    },
    async flush() {
      if (pending > 0 && failure === null) await new Promise<void>((resolve) => waiting.push(resolve));
      if (failure !== null) throw failure;
    },
  };
}

function readsAtItsPace(fd: number): boolean {
  const stats = fstatSync(fd);
  return stats.isFIFO() || stats.isSocket() || isatty(fd);
}

/** The first write to a disk that becomes full is partial; only the next one returns the error. */
function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

function lossOf(name: string, cause: unknown): InputError {
  const code = errorCode(cause) ?? '';
  const why = messageOf(cause);
  return new InputError(null, `${name} did not take everything: ${sentenceOf(code, why)}`, { cause });
}

function sentenceOf(code: string, why: string): string {
  switch (code) {
    case 'EPIPE':
    case 'ECONNRESET':
      return `its reader left before the end (${code}). Read it to the end, or send it to a file.`;
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return `there is no space left where it goes (${code}). Make room, or send it elsewhere.`;
    default:
      return `${why}. Send it to a pipe or a file that can be written.`;
  }
}
