import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startIdleTimer } from '../../src/providers/http.ts';

describe('startIdleTimer', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('rings once, when that long nothing was heard', () => {
    const ring = vi.fn();
    startIdleTimer(1_000, ring);
    vi.advanceTimersByTime(999);
    expect(ring).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10_000);
    expect(ring).toHaveBeenCalledTimes(1);
  });

  it.each([500, 950])('does not ring where something was heard after %i of 1,000 ms', (after) => {
    const ring = vi.fn();
    const heard = startIdleTimer(1_000, ring);
    vi.advanceTimersByTime(after);
    heard();
    vi.advanceTimersByTime(10_000);
    expect([ring.mock.calls, vi.getTimerCount()]).toEqual([[], 0]);
  });
});
