/** What a completion costs, by price data that is bundled; nothing is fetched. */

import { InputError } from '../errors.ts';
import { quote } from '../text/messages.ts';
import type { Usage } from '../types.ts';
import { type ProviderSettings, registry } from './registry.ts';

/**
 * The price of one completion in US dollars; null where none is known, never 0 for want of one. The data, which is large,
 * is loaded when a price is first asked for. A named vendor's prices hold behind a gateway too; those of a compatible
 * server are known by its host.
 */
export function createPricer(
  settings: Pick<ProviderSettings, 'provider' | 'model' | 'baseUrl'>,
): (usage: Usage) => Promise<number | null> {
  const { provider, model, baseUrl } = settings;
  const { priceList } = registry[provider];
  if (priceList === null && baseUrl === null) return async () => null;
  // Without either, the data would guess a vendor by the model's name.
  const where = priceList === null ? { providerApiUrl: baseUrl ?? '' } : { providerId: priceList };
  return async (usage) => {
    const { calcPrice } = await import('@pydantic/genai-prices');
    try {
      const price = calcPrice(reported(usage), model, where);
      return price !== null && Number.isFinite(price.total_price) ? price.total_price : null;
    } catch {
      // The data throws at what it has no unit or tier for: no known price.
      return null;
    }
  };
}

/** The error of a limit on money that cannot be held, because `createPricer` gives null for the model. */
export function unknownPriceError(model: string): InputError {
  const shown = quote(model);
  return new InputError(
    'max-cost-usd',
    ({ name }) =>
      `${name('max-cost-usd')} needs a price, and none is known for the model ${shown}. Use ${name('max-total-tokens')} instead.`,
  );
}

/** In the words of the data, where cached tokens are a part of the input, as they are here. */
function reported(usage: Usage): Record<string, number> {
  return {
    input_tokens: usage.inputTokens,
    cache_read_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
  };
}
