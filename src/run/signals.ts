/** What ends a process from outside its own work: signals, and errors that nothing caught. */
import type { EndListener, World } from './world.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const;

/** Lets signals end the process on the spot again: for what leaves nothing behind, and may wait in a system call. */
export function releaseSignals(): void {
  for (const signal of SIGNALS) process.removeAllListeners(signal);
}

/**
 * Catches signals that ask to end, and errors that nothing caught, from now on and until the process leaves: both end
 * the run in its own order, and a signal in its last moments must not kill what is already decided. What comes before
 * anybody listens is told then; the last listener is the one that is told.
 */
export function catchEnds(): World['listen'] {
  const waiting: ((listener: EndListener) => void)[] = [];
  let told: EndListener | null = null;
  const tell = (what: (listener: EndListener) => void) => (told === null ? waiting.push(what) : what(told));
  // SIGHUP: the terminal was closed. Dying of it would leave the run's processes and its folder behind.
  for (const signal of SIGNALS) {
    process.on(signal, () => tell((listener) => listener.signal(signal)));
  }
  process.on('uncaughtException', (error) => tell((listener) => listener.crash(error)));
  process.on('unhandledRejection', (error) => tell((listener) => listener.crash(error)));
  return (listener) => {
    told = listener;
    for (const what of waiting.splice(0)) what(listener);
  };
}
