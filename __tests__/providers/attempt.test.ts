import { afterEach, describe, expect, it, vi } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
import { type Attempt, attempt, maxAttempts } from '../../src/providers/attempt.ts';

const cut: Attempt<string> = { ok: false, again: true, error: new ProviderError('error', 'cut') };

afterEach(() => {
  vi.useRealTimers();
});

describe('attempt', () => {
  it.each([
    ['E12 the clock', { stop: 'timeout' }],
    ['E10 a signal', { stop: 'signal', signal: 'SIGTERM' }],
  ])('a pause between two tries ends with %s, and no further try is made', async (_, reason) => {
    const stop = new AbortController();
    const told: string[] = [];
    const scopes: AbortSignal[] = [];
    const notify = (text: string) => {
      told.push(text);
      setTimeout(() => stop.abort(reason), 20);
    };
    const work = attempt({ signal: stop.signal, notify }, 3_600_000, async (signal) => {
      scopes.push(signal);
      return cut;
    });
    await expect(work).rejects.toBe(reason);
    expect(told).toEqual(['the answer ended with an error: try 2 of 3 follows']);
    expect(scopes.map((signal) => signal.aborted)).toEqual([true]);
  });

  it('a try that never ends is left with the signal, which reaches it', async () => {
    const stop = new AbortController();
    let scope: AbortSignal | null = null;
    const work = attempt({ signal: stop.signal, notify: () => undefined }, 0, (signal) => {
      scope = signal;
      setTimeout(() => stop.abort('over'), 20);
      return new Promise<never>(() => undefined);
    });
    await expect(work).rejects.toBe('over');
    expect(scope).toMatchObject({ aborted: true });
  });

  it('pauses twice as long the second time, and gives the last error', async () => {
    vi.useFakeTimers();
    let tries = 0;
    const work = attempt({ signal: new AbortController().signal, notify: () => undefined }, 40, async () => {
      tries += 1;
      return { ok: false, again: true, error: new ProviderError('error', `cut ${tries}`) };
    });
    const ending = expect(work).rejects.toMatchObject({ message: `cut ${maxAttempts}` });
    for (const [ms, expected] of [
      [39, 1],
      [1, 2],
      [79, 2],
      [1, maxAttempts],
    ] as const) {
      await vi.advanceTimersByTimeAsync(ms);
      expect(tries).toBe(expected);
    }
    await ending;
  });
});
