/** Handles signals and uncaught errors, and limits how long a shutdown may take. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** The time to finish after a signal: the runner kills the process after 7.5 s. */
const SHUTDOWN_MS = 1_500;

/** A listener for signals and uncaught errors. */
export interface EndListener {
  /** Called on a termination signal. */
  signal(name: string): void;
  /** Called on an uncaught error, which is a bug. */
  crash(error: unknown): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const;

/** Restores default signal handling, for commands that leave nothing to clean up and may block in a system call. */
export function releaseSignals(): void {
  for (const signal of SIGNALS) process.removeAllListeners(signal);
}

/**
 * Catches termination signals and uncaught errors until the process exits. Both end the run in order, and a signal
 * during the last moments must not discard a result that is already decided. Events that arrive before there is a
 * listener are queued; only the last listener is notified.
 */
export function trapSignals(): (listener: EndListener) => void {
  const waiting: ((listener: EndListener) => void)[] = [];
  let current: EndListener | null = null;
  const notify = (what: (listener: EndListener) => void) =>
    current === null ? waiting.push(what) : what(current);
  // SIGHUP: the terminal was closed. Its default action would leave the run's processes and folder behind.
  for (const signal of SIGNALS) {
    process.on(signal, () => notify((listener) => listener.signal(signal)));
  }
  process.on('uncaughtException', (error) => notify((listener) => listener.crash(error)));
  process.on('unhandledRejection', (error) => notify((listener) => listener.crash(error)));
  return (listener) => {
    current = listener;
    for (const what of waiting.splice(0)) what(listener);
  };
}

/** The time left for finishing: unlimited until a signal arrives. */
export interface ShutdownDeadline {
  running(): boolean;
  /** Resolves to the value of the promise, or to undefined once the time is up. */
  bound<T>(promise: Promise<T>): Promise<T | undefined>;
  end(): void;
}

/** @param signal aborted by a termination signal; its reason is the name of that signal. */
export function createShutdownDeadline(signal: AbortSignal): ShutdownDeadline {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(() => resolve(undefined), SHUTDOWN_MS);
  };
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  return {
    running: () => signal.aborted,
    // What is done already is seen, also after the time is up.
    bound: (promise) => Promise.race([promise, over.then(() => nextTurn(undefined))]),
    end: () => clearTimeout(timer),
  };
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

/** Returns a function that calls `make` at its first call, and returns the same promise at each. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
