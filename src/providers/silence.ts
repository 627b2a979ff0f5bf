/** How long a server may say nothing. */

/**
 * Calls back once nothing was heard for so many milliseconds; gives what ends the wait. The last tenth of it begins when
 * the rest is over: where this machine stood still (asleep, frozen, overloaded), nobody listened, and what came meanwhile
 * lies unread. It is read before that tenth is over, and whoever reads it ends the wait.
 */
export function afterSilence(ms: number, ring: () => void): () => void {
  let timer = setTimeout(() => {
    timer = setTimeout(ring, ms / 10);
  }, ms * 0.9);
  return () => clearTimeout(timer);
}
