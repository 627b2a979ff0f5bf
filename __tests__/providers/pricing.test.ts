import { describe, expect, it } from 'vitest';
import { createPricer } from '../../src/providers/pricing.ts';

const million = { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };

describe('createPricer', () => {
  it('prices a known model of a named vendor, behind a gateway too', async () => {
    const direct = await createPricer({
      provider: 'anthropic',
      model: 'claude-3-haiku-20240307',
      baseUrl: null,
    })(million);
    const behind = await createPricer({
      provider: 'anthropic',
      model: 'claude-3-haiku-20240307',
      baseUrl: 'http://localhost:1',
    })(million);
    expect([direct, behind]).toEqual([0.25, 0.25]);
  });

  it('cached input costs less, output more', async () => {
    const price = createPricer({ provider: 'openai', model: 'gpt-4.1-mini', baseUrl: null });
    const plain = (await price(million)) ?? Number.NaN;
    const cached = (await price({ ...million, cachedInputTokens: 500_000 })) ?? Number.NaN;
    const more = (await price({ ...million, outputTokens: 1000 })) ?? Number.NaN;
    expect(cached).toBeLessThan(plain);
    expect(more).toBeGreaterThan(plain);
  });

  it('prices a compatible server by its host', async () => {
    const settings = {
      provider: 'openai-compatible',
      model: 'deepseek-chat',
      baseUrl: 'https://api.deepseek.com/v1',
    } as const;
    expect(await createPricer(settings)(million)).toBeGreaterThan(0);
  });

  it.each([
    { provider: 'gemini', model: 'gemini-2.5-flash', baseUrl: null },
    { provider: 'gemini', model: 'gemini-2.5-flash', baseUrl: 'https://gateway.example/v1' },
    { provider: 'azure-openai', model: 'gpt-4.1', baseUrl: 'https://r.openai.azure.com' },
    {
      provider: 'openai-compatible',
      model: 'gemini-2.5-flash',
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    },
  ] as const)('knows a price for %j', async (settings) => {
    expect(await createPricer(settings)(million)).toBeGreaterThan(0);
  });

  it.each([
    { provider: 'azure-openai', model: 'my-deployment', baseUrl: 'https://r.openai.azure.com' },
    { provider: 'azure-openai', model: 'gpt-4.1-production', baseUrl: 'https://r.openai.azure.com' },
    { provider: 'gemini', model: 'gpt-4.1', baseUrl: null },
    { provider: 'openai', model: 'gpt-nobody-knows', baseUrl: null },
    { provider: 'openai', model: 'claude-3-haiku-20240307', baseUrl: null },
    { provider: 'openai-compatible', model: 'gpt-4.1', baseUrl: 'http://localhost:8000/v1' },
    { provider: 'openai-compatible', model: 'gpt-4.1', baseUrl: null },
  ] as const)('knows no price for %j', async (settings) => {
    expect(await createPricer(settings)(million)).toBeNull();
  });
});
