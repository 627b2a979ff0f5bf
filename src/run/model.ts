/** The model of a run: how it is asked, or replayed, or recorded, and what it costs. */
import path from 'node:path';
import type { Price } from '../agent/budget.ts';
import type { Config } from '../config/config.ts';
import { InputError } from '../errors.ts';
import { createPricer, unknownPriceError } from '../providers/pricing.ts';
import type { Provider } from '../providers/provider.ts';
import { createProvider } from '../providers/registry.ts';
import type { Report } from '../reporters/report-types.ts';
import { NO_USAGE } from '../text/usage.ts';
import type { RunState, World } from './world.ts';

/** The longest silence in a streamed answer, in milliseconds; models that think do so in the stream. */
const STREAM_IDLE_MS = 180_000;
/** Before an answer that broke off is asked for again, in milliseconds. */
const RETRY_PAUSE_MS = 2_000;

/**
 * Makes the provider; loads its SDK on the way, or reads the recording that stands in for it.
 * @throws InputError for settings that no request can be made with, and for a recording that is none.
 */
export async function connect(config: Config, state: RunState, world: World): Promise<Provider> {
  if (config.replay !== null) {
    state.asked.resolve();
    return replay(config.replay, config, state, world);
  }
  const provider = await createProvider({
    ...config.model,
    userAgent: `structured-agent/${world.version}`,
    idleTimeoutMs: STREAM_IDLE_MS,
    retryPauseMs: RETRY_PAUSE_MS,
    fetch: (...request) => {
      const answer = world.fetch(...request);
      state.asked.resolve();
      return answer;
    },
  });
  const { recording = null } = world;
  if (recording === null) return provider;
  return world.features.record(provider, {
    append: recording.append,
    mask: world.secrets.mask,
    policy: () => state.policy,
    workingDirectory: () => state.sandbox?.workingDirectory ?? '',
    time: () => new Date().toISOString(),
    warn: (text) => world.warn(`record: ${text}`),
  });
}

async function replay(file: string, config: Config, state: RunState, world: World): Promise<Provider> {
  const reading = await world.files.readFile(file);
  if (!reading.ok) throw new InputError('replay', `replay: ${reading.problem}`);
  const { provider, header } = await world.features.replay(reading.text, {
    mask: world.secrets.mask,
    task: () => ({
      policy: state.policy,
      model: config.model.model === '' ? null : config.model.model,
      workingDirectory: state.sandbox?.workingDirectory ?? '',
    }),
  });
  state.replay = header;
  return provider;
}

/** What a replay is called wherever a model's name appears, so that none is taken for a model's verdict. */
export function replayName(model: string): string {
  return `replay of ${model}`;
}

/**
 * @throws InputError for a replay where its author would be the judge, for the recording of a replay, and for one that
 * would lie where git or GitHub read their own files.
 */
export function requirePlaces({ replay }: Config, world: World): void {
  const { recording = null } = world;
  const parts = recording === null ? [] : path.relative(world.workspace, recording.file).split(path.sep);
  if (parts.some((part) => /^\.git(?:hub)?$/iu.test(part)))
    throw new InputError('record', 'Nothing is recorded in .git or .github: give --record another file.');
  if (replay === null) return;
  if (world.privileged) {
    throw new InputError(
      'replay',
      `replay is refused on ${world.subject?.event ?? 'this trigger'}: it runs with the repository's rights, and whoever wrote the recording would write the verdict. Use it on push or pull_request.`,
    );
  }
  if (recording !== null)
    throw new InputError('replay', '--record and --replay are both given. Keep one of them.');
}

/** What is to be said loudly of where the answers come from, or go to; null for nothing. */
export function modelWarning({ replay }: RunState, world: Pick<World, 'recording'>): string | null {
  if (replay !== null) {
    return `Replayed: no model judged this. The answers come from a recording of ${replay.model}, made ${replay.created}.`;
  }
  const { recording = null } = world;
  return recording === null
    ? null
    : `This run is recorded in ${recording.file}: all that the model says, arguments of structured_output included, readable by its owner only. Look at it before you share it.`;
}

/** Who answered, for a report. */
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

/** The price list is large, and only needed once there is something to pay for; a replay pays nothing. */
export function lazyPrice({ model, replay }: Config): Price {
  if (replay !== null) return async () => 0;
  let pricer: ReturnType<typeof createPricer> | null = null;
  return async (usage) => {
    pricer ??= createPricer(model);
    return (await pricer)(usage);
  };
}

/** @throws InputError for a limit on money without a price to measure it by. */
export async function requirePrice(config: Config, price: Price): Promise<void> {
  if (config.maxCostUsd === null || (await price(NO_USAGE)) !== null) return;
  throw unknownPriceError(config.model.model);
}
