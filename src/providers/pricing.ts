/** What a completion costs, by the bundled price list. */
import { InputError } from '../errors.ts';
import { quote } from '../text/messages.ts';
import type { Usage } from '../types.ts';
import { type ProviderSettings, registry } from './registry.ts';

/** The price of one completion in US dollars; `pricedAs` is the name in the price list, or null if it is the model's own. */
type Price = Readonly<{ usd: number; pricedAs: string | null }>;

/**
 * Returns a function that calculates the price of one completion; null, never 0, if it is unknown. The data is bundled,
 * large, and loaded on first use. The prices of a named vendor also apply behind a gateway; those of a compatible server are
 * looked up by its host.
 */
export function createPricer(
  settings: Pick<ProviderSettings, 'provider' | 'model' | 'baseUrl'>,
): (usage: Usage) => Promise<Price | null> {
  const { provider, model, baseUrl } = settings;
  const { priceList } = registry[provider];
  if (priceList === null && baseUrl === null) return async () => null;
  // Without either, the package would guess the vendor from the name of the model.
  const where = priceList === null ? { providerApiUrl: baseUrl ?? '' } : { providerId: priceList };
  return async ({ inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens }) => {
    const { calcPrice } = await import('@pydantic/genai-prices');
    const usage = {
      input_tokens: inputTokens,
      cache_read_tokens: cachedInputTokens,
      cache_write_tokens: cacheWriteTokens,
      output_tokens: outputTokens,
    };
    try {
      const price = calcPrice(usage, model, where);
      if (price === null || !Number.isFinite(price.total_price)) return null;
      const { id } = price.model;
      return { usd: price.total_price, pricedAs: id === model ? null : id };
    } catch {
      // The package throws if it has no unit or tier for the usage, so the price is unknown.
      return null;
    }
  };
}

/** Creates the error for a cost limit that cannot be enforced, because `createPricer` returns null for the model. */
export function unknownPriceError(model: string): InputError {
  const sentence = `No price is known for the model ${quote(model)}. Use max-total-tokens instead.`;
  return new InputError('max-cost-usd', sentence);
}
