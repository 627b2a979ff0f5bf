import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { afterSilence } from '../../src/providers/silence.ts';

describe('afterSilence', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('rings once, when that long nothing was heard', () => {
    const ring = vi.fn();
    afterSilence(1_000, ring);
    vi.advanceTimersByTime(999);
    expect(ring).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10_000);
    expect(ring).toHaveBeenCalledTimes(1);
  });

  it.each([500, 950])('does not ring where something was heard after %i of 1,000 ms', (after) => {
    const ring = vi.fn();
    const heard = afterSilence(1_000, ring);
    vi.advanceTimersByTime(after);
    heard();
    vi.advanceTimersByTime(10_000);
    expect([ring.mock.calls, vi.getTimerCount()]).toEqual([[], 0]);
  });
});
