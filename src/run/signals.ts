/** What ends a process from outside its own work, signals and errors that nothing caught, and how long its end may take. */
import type { EndListener, World } from './world.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const;

/** Lets signals end the process on the spot again: for what leaves nothing behind, and may wait in a system call. */
export function releaseSignals(): void {
  for (const signal of SIGNALS) process.removeAllListeners(signal);
}

/**
 * Catches signals that ask to end, and errors that nothing caught, from now on and until the process leaves: both end
 * the run in its own order, and a signal in its last moments must not kill what is already decided. What comes before
 * there is a listener waits for it; only the last listener is notified.
 */
export function trapSignals(): World['listen'] {
  const waiting: ((listener: EndListener) => void)[] = [];
  let current: EndListener | null = null;
  const notify = (what: (listener: EndListener) => void) =>
    current === null ? waiting.push(what) : what(current);
  // SIGHUP: the terminal was closed. Dying of it would leave the run's processes and its folder behind.
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

/** The longest that finishing may take once a signal came, in milliseconds: the runner kills after 7.5 s. */
const SHUTDOWN_MS = 1_500;
/** How long slow readers of the outputs are waited for after that, in milliseconds. */
const LAST_MS = 100;

/** Time for what is left to do: unlimited, until a signal comes. */
export interface ShutdownDeadline {
  running(): boolean;
  /** The promise's value; undefined once the time is up. */
  bound<T>(promise: Promise<T>): Promise<T | undefined>;
  /** Waits for outputs; the name of the signal that left no time for their reader, null where they were taken. */
  unread(outputs: void | Promise<void>): Promise<string | null>;
  end(): void;
}

/** @param signal aborted by a signal that asks to end, whose name is its reason. */
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
    bound: (promise) => Promise.race([promise, over]),
    async unread(outputs) {
      if (outputs === undefined) return null;
      const late = over.then(() => new Promise<void>((later) => setTimeout(later, LAST_MS)));
      return Promise.race([outputs.then(() => null), late.then(() => String(signal.reason))]);
    },
    end: () => clearTimeout(timer),
  };
}
