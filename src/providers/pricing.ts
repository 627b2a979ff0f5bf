/** Calculates the cost of a completion from bundled price data; nothing is fetched. */

import { InputError } from '../errors.ts';
import { quote } from '../text/messages.ts';
import type { Usage } from '../types.ts';
import { type ProviderSettings, registry } from './registry.ts';

/**
 * Returns a function that calculates the price of one completion in US dollars; null, never 0, if the price is unknown.
 * The data is large and is loaded on first use. The prices of a named vendor also apply behind a gateway; those of a
 * compatible server are looked up by its host.
 */
export function createPricer(
  settings: Pick<ProviderSettings, 'provider' | 'model' | 'baseUrl'>,
): (usage: Usage) => Promise<number | null> {
  const { provider, model, baseUrl } = settings;
  const { priceList } = registry[provider];
  if (priceList === null && baseUrl === null) return async () => null;
  // Without either, the package would guess the vendor from the name of the model.
  const where = priceList === null ? { providerApiUrl: baseUrl ?? '' } : { providerId: priceList };
  return async (usage) => {
    const { calcPrice } = await import('@pydantic/genai-prices');
    try {
      const price = calcPrice(reported(usage), model, where);
      return price !== null && Number.isFinite(price.total_price) ? price.total_price : null;
    } catch {
      // The package throws if it has no unit or tier for the usage, so the price is unknown.
      return null;
    }
  };
}

/** Creates the error for a cost limit that cannot be enforced, because `createPricer` returns null for the model. */
export function unknownPriceError(model: string): InputError {
  const shown = quote(model);
  return new InputError(
    'max-cost-usd',
    `No price is known for the model ${shown}. Use max-total-tokens instead.`,
  );
}

/** Converts usage to the fields of the price data, where cached tokens are part of the input, as they are here. */
function reported(usage: Usage): Record<string, number> {
  return {
    input_tokens: usage.inputTokens,
    cache_read_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
  };
}
