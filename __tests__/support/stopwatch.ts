/** Measures time without pauses of the machine. */

const TICK_MS = 20;

/**
 * A time limit of the shared list of attacks for a busy machine. The failures that it detects, such as a read or a
 * process that never ends, take at least 30 s.
 */
export function loaded(boundMs: number): number {
  return 4 * boundMs;
}

/**
 * Starts a stopwatch; the returned function stops it and returns the milliseconds. A pause of the machine also pauses this
 * process and counts as at most two ticks, because a time limit is about running time.
 */
export function startStopwatch(): () => number {
  let counted = 0;
  let last = performance.now();
  const count = () => {
    const now = performance.now();
    counted += Math.min(now - last, 2 * TICK_MS);
    last = now;
  };
  const timer = setInterval(count, TICK_MS).unref();
  return () => {
    clearInterval(timer);
    count();
    return counted;
  };
}
