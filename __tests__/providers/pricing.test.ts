import { describe, expect, it, vi } from 'vitest';
import { createPricer } from '../../src/providers/registry.ts';
import type { Usage } from '../../src/types.ts';

type Settings = Parameters<typeof createPricer>[0];

const million = { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
const haiku = { provider: 'anthropic', model: 'claude-3-haiku-20240307', baseUrl: null } as const;

const load = vi.hoisted(() => vi.fn());
vi.mock('@pydantic/genai-prices', (importOriginal) => {
  load();
  return importOriginal();
});

describe('createPricer', () => {
  it('loads the prices when it is first asked, and not before', async () => {
    const { createProvider } = await import('../../src/providers/registry.ts');
    const price = createPricer(haiku);
    const wire = { keySource: '', maxOutputTokens: null, userAgent: '', headers: {} };
    const limits = { reasoningEffort: null, idleTimeoutMs: 1, retryPauseMs: 1 };
    await createProvider({ ...haiku, ...wire, ...limits, apiKey: 'k', fetch });
    expect(load).not.toHaveBeenCalled();
    await price(million);
    expect(load).toHaveBeenCalledOnce();
  });

  it.each<[Partial<Usage>, number]>([
    [{}, 0.25],
    [{ cachedInputTokens: 1_000_000 }, 0.03],
    [{ cacheWriteTokens: 1_000_000 }, 0.3],
    [{ outputTokens: 1_000_000 }, 1.5],
  ])('prices a million input tokens with %j', async (others, usd) => {
    expect(await createPricer(haiku)({ ...million, ...others })).toMatchObject({ usd });
  });

  it.each([
    ['claude-sonnet-5-5', 'claude-sonnet-5'],
    ['claude-3-haiku', null],
  ])('says under which name %s is in the price list: %s', async (model, pricedAs) => {
    expect(await createPricer({ ...haiku, model })(million)).toMatchObject({ pricedAs });
  });

  it.each<[Settings, boolean]>([
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
