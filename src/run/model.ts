/** The model of a run: live, replayed or recorded, and its price. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Price } from '../agent/budget.ts';
import type { Config } from '../config/parse-config.ts';
import { InputError } from '../errors.ts';
import { createPricer, unknownPriceError } from '../providers/pricing.ts';
import type { Provider } from '../providers/provider.ts';
import { createProvider } from '../providers/registry.ts';
import type { Report } from '../reporters/report-types.ts';
import { NO_USAGE } from '../text/usage.ts';
import type { RunState, World } from './world.ts';

/** The longest pause in a streamed response. Models that reason send events meanwhile. */
const STREAM_PAUSE_MS = 180_000;
/** The delay before a response that broke off is requested again. */
const RETRY_DELAY_MS = 2_000;

/**
 * Creates the provider: loads its SDK, or opens the recording that replaces the model.
 * @throws InputError for settings that cannot make a valid request, and for an invalid recording
 */
export async function connect(config: Config, state: RunState, world: World): Promise<Provider> {
  if (config.replay !== null) {
    state.asked.resolve(true);
    return replay(config.replay, state, world);
  }
  const provider = await createProvider({
    ...config.model,
    userAgent: `structured-agent/${world.version}`,
    idleTimeoutMs: STREAM_PAUSE_MS,
    retryPauseMs: RETRY_DELAY_MS,
    fetch: (...request) => {
      const written = nextRequestWritten();
      const answer = world.fetch(...request);
      const asked = () => state.asked.resolve(true);
      void Promise.race([written, answer]).then(asked, asked);
      return answer;
    },
  });
  const { recording = null } = world;
  if (recording === null) return provider;
  return world.features.record(provider, recording.append, state, world);
}

/** Where undici, Node's and ours, tells that a request has been written to its connection. */
const BODY_SENT = 'undici:request:bodySent';

/** Resolves once this process has written a request. What takes the thread before that delays the request. */
function nextRequestWritten(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const tell = () => {
    unsubscribe(BODY_SENT, tell);
    resolve();
  };
  subscribe(BODY_SENT, tell);
  return promise;
}

async function replay(file: string, state: RunState, world: World): Promise<Provider> {
  const reading = await world.files.readFile(file);
  if (!reading.ok) throw new InputError('replay', reading.problem);
  return world.features.replay(reading.text, state);
}

/** The name shown for a replay instead of the model's, so that it is not taken for a verdict of the model. */
export function replayName(model: string): string {
  return `replay of ${model}`;
}

/** @throws InputError for a replay whose author could choose the verdict, and for a recording of a replay */
export function requirePlaces({ replay }: Config, world: World): void {
  const { recording = null } = world;
  if (replay === null) return;
  if (world.privileged) {
    throw new InputError(
      'replay',
      `It is refused on ${world.subject?.event ?? 'this trigger'}: it runs with the repository's rights, and the author of the recording would decide the verdict. Use it on push or pull_request.`,
    );
  }
  if (recording !== null)
    throw new InputError('replay', 'A replay cannot be recorded. Leave out record or replay.');
}

/** A warning about where the responses come from or are recorded; null when there is none. */
export function modelWarning({ replay }: RunState, world: Pick<World, 'recording'>): string | null {
  if (replay !== null) {
    return `Replayed: no model judged this. The answers come from a recording of ${replay.model}, made ${replay.created}.`;
  }
  const { recording = null } = world;
  return recording === null
    ? null
    : `This run is recorded in ${recording.file}: all that the model says, arguments of structured_output included, readable by its owner only. Look at it before you share it.`;
}

export function answeredBy({
  config,
  replay,
  identity,
}: RunState): Pick<Report, 'model' | 'provider' | 'replayed'> {
  const { model, provider } = config?.model ?? { model: identity.model, provider: '' };
  if ((config?.replay ?? null) === null) return { model, provider };
  const name = replayName(replay?.model ?? (model === '' ? 'nothing' : model));
  return { model: name, provider: replay?.provider ?? provider, replayed: true };
}

/** Loads the price list, which is large, only when there is usage to price, and notes its name of the model. A replay is free. */
export function lazyPrice({ model, replay }: Config, state: RunState): Price {
  if (replay !== null) return async () => 0;
  let pricer: ReturnType<typeof createPricer> | null = null;
  return async (usage) => {
    pricer ??= createPricer(model);
    const price = await pricer(usage);
    state.pricedAs = price?.pricedAs ?? null;
    return price?.usd ?? null;
  };
}

/** @throws InputError for `max-cost-usd` when the price of the model is unknown */
export async function requirePrice(config: Config, price: Price): Promise<void> {
  if (config.maxCostUsd === null || (await price(NO_USAGE)) !== null) return;
  throw unknownPriceError(config.model.model);
}
