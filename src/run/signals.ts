/** Handles signals and uncaught errors. */

/** A listener for signals and uncaught errors. */
export interface EndListener {
  /** Called on a termination signal. */
  signal(name: string): void;
  /** Called on an uncaught error, which is a bug. */
  crash(error: unknown): void;
}

/** SIGHUP: the terminal was closed. Its default action would leave the run's processes and folder behind. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const;

/** Restores default signal handling, for commands that leave nothing to clean up and may block in a system call. */
export function releaseSignals(): void {
  for (const signal of SIGNALS) process.removeAllListeners(signal);
}

/**
 * Catches termination signals and uncaught errors until the process exits. Both end the run in order, and a signal
 * during the last moments must not discard a result that is already decided. Returns the function that sets the
 * listener; what comes before there is one is kept for it.
 */
export function trapSignals(): (listener: EndListener) => void {
  const early: ((listener: EndListener) => void)[] = [];
  let current: EndListener | null = null;
  const notify = (what: (listener: EndListener) => void) =>
    current === null ? early.push(what) : what(current);
  for (const name of SIGNALS) process.on(name, () => notify((listener) => listener.signal(name)));
  process.on('uncaughtException', (error) => notify((listener) => listener.crash(error)));
  process.on('unhandledRejection', (error) => notify((listener) => listener.crash(error)));
  return (listener) => {
    current = listener;
    for (const what of early.splice(0)) what(listener);
  };
}
