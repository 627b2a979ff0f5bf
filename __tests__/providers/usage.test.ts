import { afterEach, describe, expect, it } from 'vitest';
import { createPricer } from '../../src/providers/pricing.ts';
import type { ProviderName } from '../../src/providers/registry.ts';
import type { JsonObject } from '../../src/types.ts';
import { asking, providerAt, wires } from '../support/fakes/model/wires.ts';
import { type RawServer, startRawServer } from '../support/fakes/raw-server.ts';

const open: RawServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const chat = {
  prompt_tokens: 23,
  completion_tokens: 30,
  total_tokens: 53,
  prompt_tokens_details: { cached_tokens: 7, cache_write_tokens: 11 },
};

/** The same tokens, in the words of each API: Anthropic's input stands beside what is cached, the others' holds it. */
const inWords: Readonly<Record<ProviderName, JsonObject>> = {
  openai: {
    input_tokens: 23,
    output_tokens: 30,
    input_tokens_details: { cached_tokens: 7, cache_write_tokens: 11 },
  },
  anthropic: {
    input_tokens: 5,
    output_tokens: 30,
    cache_read_input_tokens: 7,
    cache_creation_input_tokens: 11,
  },
  gemini: chat,
  'azure-openai': chat,
  'openai-compatible': chat,
};

describe.each(wires)('usage of $name', (wire) => {
  it('counts cached tokens apart, read and written, and as a part of the input', async () => {
    const server = await startRawServer((response) =>
      wire.answer(response, { text: 'x', usage: inWords[wire.provider] }),
    );
    open.push(server);
    const { usage } = await (await providerAt(wire, server.url)).complete(asking());
    expect(usage).toEqual({
      inputTokens: 23,
      outputTokens: 30,
      cachedInputTokens: 7,
      cacheWriteTokens: 11,
    });
  });
});

describe('the price of cached tokens', () => {
  const million = { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };

  it("of Anthropic's is far lower for what is read, and higher for what is written", async () => {
    const price = createPricer({ provider: 'anthropic', model: 'claude-3-haiku-20240307', baseUrl: null });
    const plain = (await price(million)) ?? Number.NaN;
    const read = (await price({ ...million, cachedInputTokens: 1_000_000 })) ?? Number.NaN;
    const written = (await price({ ...million, cacheWriteTokens: 1_000_000 })) ?? Number.NaN;
    expect(read).toBeLessThan(plain / 5);
    expect(written).toBeGreaterThan(plain * 1.1);
  });

  it.each([
    { provider: 'openai', model: 'gpt-4.1', baseUrl: null },
    { provider: 'gemini', model: 'gemini-2.5-flash', baseUrl: null },
    { provider: 'azure-openai', model: 'gpt-4.1', baseUrl: 'https://r.openai.azure.com' },
  ] as const)('is lower for $provider too', async (settings) => {
    const price = createPricer(settings);
    const plain = (await price(million)) ?? Number.NaN;
    expect(await price({ ...million, cachedInputTokens: 1_000_000 })).toBeLessThan(plain);
  });
});
