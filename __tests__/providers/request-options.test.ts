import { describe, expect, it } from 'vitest';
import { type Api, maxRetries, sendRequest } from '../../src/providers/request.ts';

describe('sendRequest', () => {
  it('asks an SDK for its retries, and for no limit of time but the caller’s', async () => {
    const seen: unknown[] = [];
    const api: Api = {
      send({ fetchOptions: { transport }, signal, ...options }) {
        seen.push({ ...options, idleMs: transport.idleMs, isStream: transport.isStream });
        return Object.assign(Promise.resolve(null), {
          asResponse: async () => new Response('{"whole":true}'),
        });
      },
      context: {
        model: 'm',
        keySource: 'k',
        hasKey: true,
        host: 'h',
        hasDefaultHost: false,
        forced: false,
        chatHint: false,
      },
      asSdkError: () => null,
      isWhole: () => false,
      isResponse: (body) => body['whole'] === true,
    };
    const run = { signal: new AbortController().signal, notify: () => undefined };
    const result = await sendRequest(api, { stream: false, idleTimeoutMs: 70 }, run);
    expect(result.ok).toBe(true);
    // The longest time that a timer takes: the SDKs' own ten minutes would end a slower answer, and ask again.
    const timeout = 2 ** 31 - 1;
    expect(seen).toEqual([{ timeout, maxRetries, idleMs: 70, isStream: false }]);
  });
});
