/** The model of a run: how it is asked, and what it costs. */
import type { Price } from './agent/budget.ts';
import type { Config } from './config/config.ts';
import { InputError } from './errors.ts';
import { createPricer } from './providers/pricing.ts';
import type { Provider } from './providers/provider.ts';
import { createProvider } from './providers/select.ts';
import type { World } from './run-state.ts';

/** The longest silence in a streamed answer, in milliseconds; models that think do so in the stream. */
const STREAM_IDLE_MS = 180_000;
/** Before an answer that broke off is asked for again, in milliseconds. */
const RETRY_PAUSE_MS = 2_000;

/**
 * Makes the provider; loads its SDK on the way.
 * @param sent told each time a request was handed to the network.
 * @throws InputError for settings that no request can be made with.
 */
export function connect(config: Config, world: World, sent: () => void): Promise<Provider> {
  return createProvider({
    ...config.model,
    userAgent: `structured-agent/${world.version}`,
    idleTimeoutMs: STREAM_IDLE_MS,
    retryPauseMs: RETRY_PAUSE_MS,
    fetch: (...request) => {
      const answer = world.fetch(...request);
      sent();
      return answer;
    },
  });
}

/** The price list is large, and only needed once there is something to pay for. */
export function lazyPrice({ model }: Config): Price {
  let pricer: ReturnType<typeof createPricer> | null = null;
  return async (usage) => {
    pricer ??= createPricer(model);
    return (await pricer)(usage);
  };
}

/** @throws InputError for a limit on money without a price to measure it by. */
export async function requirePrice(config: Config, price: Price): Promise<void> {
  if (config.maxCostUsd === null || (await price(NO_USAGE)) !== null) return;
  throw new InputError(
    'max-cost-usd',
    `max-cost-usd needs a price, and none is known for the model ${JSON.stringify(config.model.model)}. Use max-total-tokens instead.`,
  );
}

const NO_USAGE = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
