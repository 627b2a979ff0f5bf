/** Removes waits of the code under test. */
import { vi } from 'vitest';

/**
 * Skips the waits of the plugins of GitHub's client until `vi.unstubAllGlobals()`; returns the requested waits in
 * milliseconds. Other timers, such as those of Node's fetch, are unchanged.
 */
export function skipWaits(): number[] {
  const waits: number[] = [];
  const real = globalThis.setTimeout;
  vi.stubGlobal('setTimeout', (callback: () => void, ms = 0) => {
    if (ms < 500 || !/bottleneck/u.test(new Error().stack ?? '')) return real(callback, ms);
    waits.push(ms);
    return real(callback, 0);
  });
  return waits;
}

const IMMEDIATE = `const start = globalThis.setTimeout;
  globalThis.setTimeout = (call, ms, ...rest) => start(call, String(call).includes('doExecute') ? 0 : ms, ...rest);`;

/** Makes a program of Node skip these waits, one to three seconds between two requests that write. */
export const SKIP_WAITS = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(IMMEDIATE)}` };
