/** Removes waits of the code under test. */
import { vi } from 'vitest';

/**
 * Lets what the plugins of GitHub's client wait for begin at once, until `vi.unstubAllGlobals()`; gives how long they were
 * to wait, in milliseconds. Timers of others, such as those of Node's own fetch, stay as they are.
 */
export function skipWaits(onWait: () => void = () => undefined): number[] {
  const waits: number[] = [];
  const real = globalThis.setTimeout;
  vi.stubGlobal('setTimeout', (callback: () => void, ms = 0) => {
    if (ms < 500 || !/bottleneck/u.test(new Error().stack ?? '')) return real(callback, ms);
    waits.push(ms);
    onWait();
    return real(callback, 0);
  });
  return waits;
}
