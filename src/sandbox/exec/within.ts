/** Waiting that ends. */
import { setTimeout as sleep } from 'node:timers/promises';

/** The promise's end, or so many milliseconds; leaves no timer behind. Rejects as the promise does. */
export async function within(milliseconds: number, promise: Promise<void>): Promise<void> {
  const over = new AbortController();
  const patience = sleep(milliseconds, undefined, { signal: over.signal });
  try {
    await Promise.race([promise, patience]);
  } finally {
    over.abort();
    await Promise.allSettled([patience]);
  }
}
