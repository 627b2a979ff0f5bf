import { describe, expect, it } from 'vitest';
import { within } from '../../../src/sandbox/exec/process.ts';

const FOREVER = 1_000_000;
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('within', () => {
  it('resolves with the promise and leaves no timer', async () => {
    const before = timers();
    await within(FOREVER, Promise.resolve());
    expect(timers()).toBe(before);
  });

  it('resolves without the promise after the timeout', async () => {
    let isDone = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    await within(
      1,
      promise.then(() => {
        isDone = true;
      }),
    );
    expect(isDone).toBe(false);
    resolve();
  });

  it('rejects with the promise and leaves no timer', async () => {
    const before = timers();
    await expect(within(FOREVER, Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(timers()).toBe(before);
  });
});
