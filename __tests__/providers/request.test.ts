import { afterEach, describe, expect, it, vi } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
import {
  type Api,
  maxRequests,
  maxRetries,
  type RequestResult,
  retryRequest,
  sendRequest,
} from '../../src/providers/request.ts';

const cut: RequestResult<string> = { ok: false, again: true, error: new ProviderError('error', 'cut') };

afterEach(() => {
  vi.useRealTimers();
});

describe('retryRequest', () => {
  it.each([
    ['E12 a timeout', { stop: 'timeout' }],
    ['E10 a signal', { stop: 'signal', signal: 'SIGTERM' }],
  ])('a pause between two tries ends with %s and no further try is made', async (_, reason) => {
    const stop = new AbortController();
    const notices: string[] = [];
    const scopes: AbortSignal[] = [];
    const notify = (text: string) => {
      notices.push(text);
      setTimeout(() => stop.abort(reason), 20);
    };
    const work = retryRequest({ signal: stop.signal, notify }, 3_600_000, async (signal) => {
      scopes.push(signal);
      return cut;
    });
    await expect(work).rejects.toBe(reason);
    expect(notices).toEqual(['the answer ended with an error: try 2 of 3 follows']);
    expect(scopes.map((signal) => signal.aborted)).toEqual([true]);
  });

  it('rejects with the reason of the signal when a try never ends, and aborts the try', async () => {
    const stop = new AbortController();
    let scope: AbortSignal | null = null;
    const work = retryRequest({ signal: stop.signal, notify: () => undefined }, 0, (signal) => {
      scope = signal;
      setTimeout(() => stop.abort('over'), 20);
      return new Promise<never>(() => undefined);
    });
    await expect(work).rejects.toBe('over');
    expect(scope).toMatchObject({ aborted: true });
  });

  it('doubles the pause for the second retry and throws the last error', async () => {
    vi.useFakeTimers();
    let tries = 0;
    const work = retryRequest(
      { signal: new AbortController().signal, notify: () => undefined },
      40,
      async () => {
        tries += 1;
        return { ok: false, again: true, error: new ProviderError('error', `cut ${tries}`) };
      },
    );
    const ending = expect(work).rejects.toMatchObject({ message: `cut ${maxRequests}` });
    for (const [ms, expected] of [
      [39, 1],
      [1, 2],
      [79, 2],
      [1, maxRequests],
    ] as const) {
      await vi.advanceTimersByTimeAsync(ms);
      expect(tries).toBe(expected);
    }
    await ending;
  });
});

describe('sendRequest', () => {
  it("passes the SDK its retries and no timeout other than the caller's", async () => {
    const seen: unknown[] = [];
    const api: Api = {
      send({ fetchOptions: { transport }, signal, ...options }) {
        seen.push({ ...options, idleMs: transport.idleMs, isStream: transport.isStream });
        return Object.assign(Promise.resolve(null), {
          asResponse: async () => new Response('{"whole":true}'),
        });
      },
      context: {
        ...{ model: 'm', keySource: 'k', hasKey: true, host: 'h' },
        ...{ hasDefaultHost: false, forced: false, chatHint: false },
      },
      asSdkError: () => null,
      isWhole: () => false,
      isResponse: (body) => body['whole'] === true,
    };
    const run = { signal: new AbortController().signal, notify: () => undefined };
    const result = await sendRequest(api, { stream: false, idleTimeoutMs: 70 }, run);
    expect(result.ok).toBe(true);
    // The maximum of a timer: the SDKs' default of ten minutes would abort and retry a slower response.
    const timeout = 2 ** 31 - 1;
    expect(seen).toEqual([{ timeout, maxRetries, idleMs: 70, isStream: false }]);
  });
});
