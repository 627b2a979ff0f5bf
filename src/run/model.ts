/** The model of a run: live, replayed or recorded, and its price. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Price } from '../agent/budget.ts';
import type { Config } from '../config/parse-config.ts';
import { InputError } from '../errors.ts';
import type { Provider } from '../providers/provider.ts';
import { createPricer, createProvider, unknownPriceError } from '../providers/registry.ts';
import { NO_USAGE } from '../text/figures.ts';
import type { RunState, World } from './world.ts';

/** The longest pause in a streamed response. Models that reason send events meanwhile. */
const STREAM_PAUSE_MS = 180_000;
/** The delay before a response that broke off is requested again. */
const RETRY_DELAY_MS = 2_000;

/**
 * Creates the provider: loads its SDK, or opens the recording that replaces the model.
 * @param workingDirectory the agent's; recorded, because calls may name files in it.
 * @param onRequest called whenever a request is on its way, and at once for a recording.
 * @throws InputError for settings that cannot make a valid request, and for an invalid recording
 */
export async function connect(
  config: Config,
  workingDirectory: string,
  onRequest: () => void,
  state: RunState,
  world: World,
): Promise<Provider> {
  const task = { policy: state.policy, workingDirectory };
  if (config.replay !== null) {
    onRequest();
    const reading = await world.files.readFile(config.replay);
    if (!reading.ok) throw new InputError('replay', reading.problem);
    const { openReplay } = await import('../replay/replay.ts');
    const { header, provider } = await openReplay(reading.text, task);
    state.replay = { ...header, name: provider.model };
    return provider;
  }
  const provider = await createProvider({
    ...config.model,
    userAgent: `structured-agent/${world.version}`,
    idleTimeoutMs: STREAM_PAUSE_MS,
    retryPauseMs: RETRY_DELAY_MS,
    fetch: (...request) => {
      const written = nextRequestWritten();
      const answer = world.fetch(...request);
      void Promise.race([written, answer]).then(onRequest, onRequest);
      return answer;
    },
  });
  if (!world.recording) return provider;
  const { recordRun } = await import('../replay/recorder.ts');
  return recordRun(provider, world.recording.append, task, world);
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

/** Warnings about where the responses come from, or are recorded. */
export function modelWarnings(
  { replay }: RunState,
  { recording }: Pick<World, 'recording'>,
): readonly string[] {
  if (replay !== null)
    return [
      `Replayed: no model judged this. The answers come from a recording of ${replay.model}, made ${replay.created}.`,
    ];
  if (!recording) return [];
  return [
    `This run is recorded in ${recording.file}: all that the model says, arguments of structured_output included, readable by its owner only. Look at it before you share it.`,
  ];
}

/**
 * Returns the price of one completion, and notes the price list's name of the model. A replay is free.
 * @throws InputError for `max-cost-usd` if the price of the model is unknown
 */
export async function findPrice({ model, replay, maxCostUsd }: Config, state: RunState): Promise<Price> {
  if (replay !== null) return async () => 0;
  const pricer = createPricer(model);
  const price: Price = async (usage) => {
    const found = await pricer(usage);
    state.pricedAs = found?.pricedAs ?? null;
    return found?.usd ?? null;
  };
  if (maxCostUsd !== null && (await price(NO_USAGE)) === null) throw unknownPriceError(model.model);
  return price;
}
