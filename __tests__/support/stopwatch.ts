/** Measures time without pauses of the machine. */

const TICK_MS = 20;

/**
 * A bound of the shared list of attacks on a machine that others load as well. What such a bound excludes, a read or a
 * process that nothing ends, takes 30 s at least.
 */
export function loaded(boundMs: number): number {
  return 4 * boundMs;
}

/**
 * Starts counting the milliseconds in which this machine ran; gives what stops it and tells them. Where it stands still, so does
 * this process, and of such a time nothing but two ticks counts: a bound says how long something takes, not how long it lay.
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
