/** Runs any work to a reported end: what it throws, and signals, are endings like any other. */
import { isRunStop, type RunStop, stopped } from '../agent/loop.ts';
import { errorCode, SandboxError } from '../errors.ts';
import type { Report } from '../reporters/report-types.ts';
import type { Ending } from './ending-sentences.ts';
import { type EndWorld, RunState } from './world.ts';

/** Runs the work to its end and reports it; never rejects. `work` must stop when `state.stop` is aborted. */
export async function runToEnd(work: (state: RunState) => Promise<Ending>, world: EndWorld): Promise<Report> {
  const state = new RunState(world);
  const { stop, interrupt } = state;
  world.listen({
    signal(name) {
      stop.abort({ stop: 'signal', signal: name } satisfies RunStop);
      interrupt.abort(name);
    },
    crash: (error) => stop.abort(error),
  });
  const ending = await work(state).catch((error: unknown): Ending => {
    // An aborted wait outside the loop ends the run for the reason of the abort.
    if (isRunStop(error)) return stopped(error, []);
    if (interrupt.signal.aborted && error === interrupt.signal.reason)
      return { kind: 'cancelled', signal: String(error) };
    return { kind: 'failed', error: fullDisk(error) ?? error };
  });
  // Loaded now: what only finishes a run does not delay its start.
  const { finish } = await import('./finish.ts');
  return finish(ending, state, world);
}

/** A full disk is not a bug: during a run, only writes of the sandbox end the run with this error. */
function fullDisk(error: unknown): SandboxError | null {
  const cause = error instanceof SandboxError ? error.cause : error;
  if (!(cause instanceof Error) || !['ENOSPC', 'EDQUOT'].includes(errorCode(cause) ?? '')) return null;
  const text = `The disk of RUNNER_TEMP is full (${cause.message}). Free some space in a step before this one.`;
  return new SandboxError(text, { cause: error });
}
