/** The model of a run: live, replayed or recorded. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { InputError } from '../errors.ts';
import { createProvider } from '../providers/registry.ts';
import type { Plan } from './prepare.ts';
import type { RunState, World } from './world.ts';

/** The longest pause in a streamed response. Models that reason send events meanwhile. */
const STREAM_PAUSE_MS = 180_000;
/** The delay before a response that broke off is requested again. */
const RETRY_DELAY_MS = 2_000;

/** The channel on which undici, Node's and ours, says that a request has been written. */
const BODY_SENT = 'undici:request:bodySent';

/**
 * Creates the provider: loads its SDK, or opens the recording that replaces the model.
 * @param onRequest called whenever a request to the model is on its way.
 * @throws InputError for settings that cannot make a valid request, and for an invalid recording
 */
export async function connect(plan: Plan, onRequest: () => void, state: RunState, world: World) {
  const { config, folder } = plan;
  // The folder is recorded, because calls may name files in it.
  const task = { policy: state.policy, workingDirectory: folder };
  if (config.replay !== null) {
    const reading = await world.files.readFile(config.replay);
    if (!reading.ok) throw new InputError('replay', reading.problem);
    const { openReplay } = await import('../replay/replay.ts');
    const { header, provider } = await openReplay(reading.text, task);
    state.answeredBy = { model: provider.model, provider: provider.name, replayed: true };
    state.warnOfWeakness(
      `Replayed: no model judged this. The answers come from a recording of ${header.model}, made ${header.created}.`,
    );
    return provider;
  }
  // What takes the thread before a request is written delays that request.
  const onWritten = () => {
    unsubscribe(BODY_SENT, onWritten);
    onRequest();
  };
  const provider = await createProvider({
    ...config.model,
    userAgent: `structured-agent/${world.version}`,
    idleTimeoutMs: STREAM_PAUSE_MS,
    retryPauseMs: RETRY_DELAY_MS,
    fetch: (...request) => {
      subscribe(BODY_SENT, onWritten);
      const answer = world.fetch(...request);
      void answer.then(onWritten, onWritten);
      return answer;
    },
  });
  if (!world.recording) return provider;
  state.warn(
    `This run is recorded in ${world.recording}: all that the model says, arguments of structured_output included, readable by its owner only. Look at it before you share it.`,
  );
  const { recordRun } = await import('../replay/recorder.ts');
  return recordRun(provider, world.recording, task, world);
}
