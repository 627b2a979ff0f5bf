import { describe, expect, it, vi } from 'vitest';
import { createPricer } from '../../src/providers/pricing.ts';
import { type ProviderName, parseBaseUrl } from '../../src/providers/registry.ts';
import type { Usage } from '../../src/types.ts';
import { asking, providerAt, wireOf } from '../support/fakes/model/wires.ts';

type PriceSettings = Parameters<typeof createPricer>[0];

const million = { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
const haiku = { provider: 'anthropic', model: 'claude-3-haiku', baseUrl: null } as const;

describe('createPricer', () => {
  it.each<[Partial<Usage>, number]>([
    [{}, 0.25],
    [{ cachedInputTokens: 1_000_000 }, 0.03],
    [{ cacheWriteTokens: 1_000_000 }, 0.3],
    [{ outputTokens: 1_000_000 }, 1.5],
  ])('prices a million input tokens with %j', async (others, usd) => {
    expect(await createPricer(haiku)({ ...million, ...others })).toMatchObject({ usd, pricedAs: null });
  });

  it.each<[PriceSettings, boolean]>([
    [{ ...haiku, baseUrl: 'https://gateway.example/v1' }, true],
    [{ provider: 'openai', model: 'gpt-4.1', baseUrl: null }, true],
    [{ provider: 'gemini', model: 'gemini-2.5-flash', baseUrl: null }, true],
    [{ provider: 'azure-openai', model: 'gpt-4.1', baseUrl: 'https://r.openai.azure.com' }, true],
    [{ provider: 'openai-compatible', model: 'deepseek-chat', baseUrl: 'https://api.deepseek.com/v1' }, true],
    [{ provider: 'azure-openai', model: 'gpt-4.1-production', baseUrl: 'https://r.openai.azure.com' }, false],
    [{ provider: 'gemini', model: 'gpt-4.1', baseUrl: null }, false],
    [{ provider: 'openai', model: 'gpt-nobody-knows', baseUrl: null }, false],
    [{ provider: 'openai', model: 'claude-3-haiku-20240307', baseUrl: null }, false],
    [{ provider: 'openai-compatible', model: 'gpt-4.1', baseUrl: 'http://localhost:8000/v1' }, false],
    [{ provider: 'openai-compatible', model: 'gpt-4.1', baseUrl: null }, false],
  ])('has for %j a price: %s', async (settings, isPriced) => {
    expect((await createPricer(settings)(million)) !== null).toBe(isPriced);
  });
});

const inputError = (input: string, message: RegExp) =>
  expect.objectContaining({ name: 'InputError', input, message: expect.stringMatching(message) });

describe('parseBaseUrl', () => {
  it.each([
    ...['ftp://x/v1', 'localhost:8000', '', 'http://', 'ftp://x', 'https://user@x', 'https://:word@x'],
    ...['https://user:pass@x/v1', 'https://x/v1?key=1', 'https://x/?api-version=preview', 'https://x/#f'],
  ])('rejects %j and names the input', (text) => {
    expect(() => parseBaseUrl(text)).toThrow(inputError('base-url', /^It /u));
  });

  it.each(['https://x', 'https://x/', 'https://x//'])('removes the slashes at the end of %j', (text) => {
    expect(parseBaseUrl(text)).toBe('https://x');
  });
});

type Settings = Parameters<typeof providerAt>[2];

/** The URL that is asked. */
async function urlOf(provider: ProviderName, baseUrl: string | null, more: Settings = {}) {
  const send = vi.fn<typeof fetch>(async () => new Response('{}', { status: 400 }));
  const made = await providerAt(wireOf(provider), '', { baseUrl, fetch: send, ...more });
  await made.complete(asking()).catch(() => undefined);
  return send.mock.calls[0]?.[0];
}

describe('createProvider', () => {
  it.each<[ProviderName, string | null, string]>([
    ['openai', null, 'https://api.openai.com/v1/responses'],
    ['openai', 'https://gateway.example/v1', 'https://gateway.example/v1/responses'],
    ['anthropic', null, 'https://api.anthropic.com/v1/messages'],
    ['anthropic', 'https://gateway.example/anthropic', 'https://gateway.example/anthropic/v1/messages'],
    ['anthropic', 'https://gateway.example/v1', 'https://gateway.example/v1/messages'],
    ['gemini', null, 'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions'],
    ['azure-openai', 'https://r.openai.azure.com', 'https://r.openai.azure.com/openai/v1/chat/completions'],
    ['azure-openai', 'https://gateway.example/openai', 'https://gateway.example/openai/v1/chat/completions'],
    ['azure-openai', 'https://x.example/openai/v1', 'https://x.example/openai/v1/chat/completions'],
    ['openai-compatible', 'http://127.0.0.1:8000/v1', 'http://127.0.0.1:8000/v1/chat/completions'],
  ])('asks for %s at %s: %s', async (provider, baseUrl, url) => {
    expect(await urlOf(provider, baseUrl)).toBe(url);
  });

  it.each<[ProviderName, RegExp]>([
    ['azure-openai', /The provider azure-openai needs it.*https:\/\/NAME\.openai\.azure\.com/u],
    ['openai-compatible', /The provider openai-compatible needs it/u],
  ])('requires a base URL for %s', async (provider, says) => {
    await expect(urlOf(provider, null)).rejects.toEqual(inputError('base-url', says));
  });

  it('E16 rejects a key that is invalid in a header without showing it, and trims whitespace', async () => {
    const keySource = 'the variable OPENAI_API_KEY';
    const refused = urlOf('openai', null, { apiKey: 'sk-secret\nsk-other', keySource });
    const says = /^(?!.*sk-).*the variable OPENAI_API_KEY/u;
    await expect(refused).rejects.toEqual(inputError('api-key', says));
    expect(await urlOf('openai', null, { apiKey: ' sk-secret\n' })).toMatch(/^https/u);
  });
});
