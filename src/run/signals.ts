/** Listens for termination signals, and for uncaught errors, which are bugs. */
export interface EndListener {
  signal(name: string): void;
  crash(error: unknown): void;
}

/** SIGHUP: the terminal was closed. Its default action would leave the run's processes and folder behind. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const;

/** Restores default signal handling, for commands that leave nothing to clean up and may block in a system call. */
export function releaseSignals(): void {
  for (const signal of SIGNALS) process.removeAllListeners(signal);
}

/**
 * Catches termination signals and uncaught errors until the process exits: both end the run in order. Returns the
 * function that sets the listener. Call it before anything is awaited: until then nothing can arrive.
 */
export function trapSignals(): (listener: EndListener) => void {
  let current: EndListener | null = null;
  for (const name of SIGNALS) process.on(name, () => current?.signal(name));
  const crash = (error: unknown) => current?.crash(error);
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  return (listener) => {
    current = listener;
  };
}
