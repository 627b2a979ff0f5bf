/** A standard stream of this process that loses nothing unnoticed: what it has not taken is known, and told. */
import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { errorCode, InputError } from '../errors.ts';

/** Where text leaves this process, in order. */
export interface Sink {
  /** Takes a text over; never throws and never waits. Once something was lost, nothing more is written. */
  write(text: string): void;
  /**
   * Resolves once the system has taken everything written so far, however late the reader reads.
   * @throws InputError when something was lost: what nobody received is no success.
   */
  flush(): Promise<void>;
}

/** The world of a sink. */
export interface SinkOptions {
  /** What it is called in a sentence. */
  readonly name: 'stdout' | 'stderr';
  readonly fd: number;
  /** Node's own stream over `fd`; asked for only where the other end reads at its own pace. */
  readonly stream: () => Writable;
  /** Told once, as soon as something was lost: nobody may be waiting for `flush` yet. */
  readonly lost?: (error: InputError) => void;
}

/**
 * A sink over a standard stream. Pipes, sockets and terminals go through Node's stream, whose callback says when the
 * system has taken a text: leaving the process before would cut it, and a signal must get through while a reader
 * sleeps. Everything else is written here: Node's stream for files takes a write that was cut short by a full disk for
 * a whole one, and its stream for what it does not know takes everything and writes nothing. A descriptor that was
 * closed from the start is no failure: Node has put /dev/null there, and whoever closed it asked for nothing.
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
    // Without a listener the loss of a reader would end the process on the spot.
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

/** The first write to a disk that becomes full takes a part; only the next one says why. */
function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

function lossOf(name: string, cause: unknown): InputError {
  const code = errorCode(cause) ?? '';
  const why = cause instanceof Error ? cause.message : String(cause);
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
