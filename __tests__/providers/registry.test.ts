import { describe, expect, it, vi } from 'vitest';
import type { ProviderSettings } from '../../src/providers/registry.ts';
import { createProvider } from '../../src/providers/registry.ts';
import { asking } from '../support/fakes/model/wires.ts';

const settings: ProviderSettings = {
  provider: 'openai',
  model: 'm',
  apiKey: 'sk-secret',
  keySource: 'the variable OPENAI_API_KEY',
  baseUrl: null,
  maxOutputTokens: null,
  stream: 'auto',
  userAgent: 'test',
  headers: {},
  authScheme: 'provider',
  reasoningEffort: null,
  idleTimeoutMs: 60_000,
  retryPauseMs: 1,
  fetch,
};

const refused = (fields: Partial<ProviderSettings>) =>
  createProvider({ ...settings, ...fields }).then(
    () => null,
    (error: unknown) =>
      error instanceof Error && 'input' in error ? [error.name, error.input, error.message] : error,
  );

describe('createProvider', () => {
  it.each([
    ...['ftp://x/v1', 'localhost:8000', '', 'http://', 'ftp://x', 'https://user@x', 'https://:word@x'],
    ...['https://user:pass@x/v1', 'https://x/v1?key=1', 'https://x/#f'],
  ])('rejects the base URL %j and names the input', async (baseUrl) => {
    const problem = await refused({ provider: 'openai-compatible', baseUrl });
    expect(problem).toEqual(['InputError', 'base-url', expect.stringMatching(/^It /)]);
  });

  it.each(['api-version=', 'api-version=a&api-version=b', 'api-version=a&key=b', 'api-version=a/b', 'key=b'])(
    'rejects an Azure base URL with the query ?%s and names the input',
    async (query) => {
      const baseUrl = `https://r.openai.azure.com/?${query}`;
      const problem = await refused({ provider: 'azure-openai', baseUrl });
      expect(problem).toEqual([
        'InputError',
        'base-url',
        expect.stringContaining('other than ?api-version='),
      ]);
    },
  );

  it.each([
    ['azure-openai', /The provider azure-openai needs it.*https:\/\/NAME\.openai\.azure\.com/],
    ['openai-compatible', /The provider openai-compatible needs it/],
  ] as const)('requires a base URL for %s', async (provider, says) => {
    const problem = await refused({ provider });
    expect(problem).toEqual(['InputError', 'base-url', expect.stringMatching(says)]);
  });

  it.each<[string, boolean, Partial<ProviderSettings>]>([
    ['api.openai.com', true, { provider: 'openai' }],
    ['api.anthropic.com', true, { provider: 'anthropic' }],
    ['generativelanguage.googleapis.com', true, { provider: 'gemini' }],
    ['r.openai.azure.com', true, { provider: 'azure-openai' }],
    ['r.cognitiveservices.azure.com', true, { provider: 'azure-openai' }],
    ['r.services.ai.azure.com', true, { provider: 'azure-openai' }],
    ['r.openai.azure.us', true, { provider: 'azure-openai' }],
    ['r.openai.azure.com.example', false, { provider: 'azure-openai' }],
    ['gateway.example', false, { provider: 'azure-openai' }],
    ['gateway.example', false, { provider: 'openai', baseUrl: 'https://gateway.example/v1' }],
    ['gateway.example', true, { provider: 'openai', baseUrl: 'https://gateway.example/v1', stream: 'on' }],
    ['generativelanguage.googleapis.com', false, { provider: 'gemini', stream: 'off' }],
  ])('for %s requests a stream: %s', async (host, streams, fields) => {
    const sent: string[] = [];
    const send: typeof fetch = async (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      sent.push(`${new URL(url).host} ${String(init?.body).includes('"stream":true')}`);
      return new Response('{"error":{}}', { status: 400 });
    };
    const baseUrl = fields.provider === 'azure-openai' ? `https://${host}` : null;
    const provider = await createProvider({ ...settings, baseUrl, fetch: send, ...fields });
    await provider.complete(asking()).catch(() => undefined);
    expect(sent).toEqual([`${host} ${streams}`]);
  });

  it('reports a host name that does not resolve, and what to check', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const send: typeof fetch = async () => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ENOTFOUND' }) });
    };
    const network = '. Check the network, DNS and, behind a proxy, HTTPS_PROXY.';
    const rows: readonly [Partial<ProviderSettings>, string][] = [
      [{ provider: 'openai' }, network],
      [{ provider: 'anthropic' }, network],
      [{ provider: 'gemini' }, network],
      [{ provider: 'azure-openai', baseUrl: 'https://r.openai.azure.com' }, ': check `base-url`.'],
      [{ provider: 'openai', baseUrl: 'https://gateway.example/v1' }, ': check `base-url`.'],
    ];
    const checks = rows.map(async ([fields, advice]) => {
      const provider = await createProvider({ ...settings, fetch: send, ...fields });
      const says = `(ENOTFOUND). The name does not resolve${advice}`;
      await expect(provider.complete(asking())).rejects.toThrow(says);
    });
    await vi.advanceTimersByTimeAsync(90_000);
    await Promise.all(checks);
    vi.useRealTimers();
  });

  it('E16 rejects a key that is invalid in a header without showing it, and trims whitespace', async () => {
    const problem = await refused({ apiKey: 'sk-secret\nsk-other' });
    expect(problem).toEqual([
      'InputError',
      'api-key',
      expect.stringContaining('the variable OPENAI_API_KEY'),
    ]);
    expect(JSON.stringify(problem)).not.toContain('sk-');
    expect(await refused({ apiKey: ' sk-secret\n' })).toBeNull();
  });
});
