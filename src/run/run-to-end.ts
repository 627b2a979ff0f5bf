/** From any work to its reported end: signals, what was thrown, and the finishing block. */
import { isRunStop, type RunStop, stopped } from '../agent/agent.ts';
import { SandboxError } from '../errors.ts';
import type { Report } from '../reporters/report-types.ts';
import { finish } from './finish.ts';
import type { Ending } from './verdict.ts';
import { createState, type EndWorld, type RunState } from './world.ts';

/** Runs to the end, whatever happens, and reports it; never rejects. `work` stops when the state's `stop` is aborted. */
export async function runToEnd(work: (state: RunState) => Promise<Ending>, world: EndWorld): Promise<Report> {
  const state = createState(world);
  world.listen({
    signal(name) {
      const reason: RunStop = { stop: 'signal', signal: name };
      state.stop.abort(reason);
      state.interrupt.abort(name);
    },
    crash: (error) => state.stop.abort(error),
  });
  const ending = await attempt(() => work(state), state);
  state.asked.resolve();
  return finish(ending, state, world);
}

/** What was thrown as an ending; a wait outside the loop that a stop ended is that stop. */
async function attempt(task: () => Promise<Ending>, state: RunState): Promise<Ending> {
  try {
    return await task();
  } catch (error) {
    const { stop, interrupt } = state;
    if (interrupt.signal.aborted && error === interrupt.signal.reason) {
      return { kind: 'cancelled', signal: String(interrupt.signal.reason) };
    }
    if (error === stop.signal.reason && isRunStop(error)) return stopped(error, []);
    return { kind: 'failed', error: fullDisk(error) ?? error };
  }
}

/** A disk that is full is no bug: during a run nothing but the sandbox writes where that ends it. */
function fullDisk(error: unknown): SandboxError | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') return null;
  const text = `The disk of RUNNER_TEMP is full (${error.message}). Free some space in a step before this one.`;
  return new SandboxError(text, { cause: error });
}
