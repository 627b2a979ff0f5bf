/** How long the end of a run may take. */

/** The longest that finishing may take once a signal came, in milliseconds: the runner kills after 7.5 s. */
const GRACE_MS = 1_500;
/** How long outputs that somebody reads at his own pace are waited for after that, in milliseconds. */
const LAST_MS = 100;

/** Time for what is left to do: unlimited, until a signal comes. */
export interface Grace {
  running(): boolean;
  /** The promise's value; undefined once the grace is over. */
  bound<T>(promise: Promise<T>): Promise<T | undefined>;
  /** Waits for outputs; the name of the signal that left no time for their reader, null where they were taken. */
  unread(outputs: void | Promise<void>): Promise<string | null>;
  end(): void;
}

/** @param signal aborted by a signal that asks to end, whose name is its reason. */
export function createGrace(signal: AbortSignal): Grace {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(() => resolve(undefined), GRACE_MS);
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
