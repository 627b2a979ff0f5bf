/** Finishes a run with one ordered block for every ending. Loaded when it has ended. */
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageFor, SandboxError } from '../errors.ts';
import { writePrivateFile } from '../files/private-file.ts';
import { RESULT_FILES } from '../reporters/outputs.ts';
import type { Report } from '../reporters/report-types.ts';
import { removeFolder } from '../sandbox/scratch.ts';
import { listNames } from '../text/messages.ts';
import type { GateResult } from '../types.ts';
import type { Ending } from './endings.ts';
import { buildReport } from './report.ts';
import type { EndWorld, RunState } from './world.ts';

/** The time to finish after a signal: the runner kills the process after 7.5 s. */
const SHUTDOWN_MS = 1_500;

/**
 * Stops the clock, kills all child processes, checks for secrets and tampering, writes the envelope and the outputs, and
 * runs the reporters. No reporter runs before the verdict is written, so none is ever taken back. Never rejects: a
 * failure becomes a warning or a worse verdict, never a better one.
 */
export async function finish(ending: Ending, state: RunState, world: EndWorld): Promise<Report> {
  clearTimeout(state.timer);
  const { signal } = state.interrupt;
  const { bound, end } = limitShutdown(signal);
  const warn = (what: string, error: unknown) => world.warn(`${what}: ${messageFor(error, world.entry)}`);
  /** Takes a step that must not change the verdict. Returns undefined if it failed, or took too long after a signal. */
  const attempt = async <T>(what: string, step: () => Promise<T> | undefined): Promise<T | undefined> => {
    try {
      return await bound(Promise.resolve(step()));
    } catch (error) {
      warn(what, error);
      return undefined;
    }
  };
  /** Writes envelope and outputs. Returns why one of them could not be written; null if both were. */
  const write = async (report: Report): Promise<Ending | null> => {
    let failure: Ending | null = null;
    for (const task of [world.writeEnvelope, world.writeOutputs]) {
      try {
        const written = await bound(Promise.resolve(task(report)).then(() => true));
        // After a signal nobody may read what is written.
        if (written !== true) failure ??= { kind: 'cancelled', signal: String(signal.reason) };
      } catch (error) {
        failure ??= { kind: 'failed', error };
      }
    }
    return failure;
  };
  try {
    const changes = canCompare(ending, state)
      ? await attempt('changes', () => keepChanges(state, world))
      : null;
    // What has begun to open is closed.
    await attempt('sandbox', () => Promise.allSettled([state.opening]));
    await attempt('sandbox', () => state.sandbox?.close());
    const { checked, gate } = await check(ending, state, world, bound);
    // Removes what the agent may have filled the disk with before anything is written.
    const { runFolder } = world;
    if (runFolder !== null)
      await attempt('run folder', () => removeFolder(runFolder, signal.aborted ? 1_000 : 5_000));
    const policyChanges = signal.aborted ? [] : ((await bound(state.policyChanges)) ?? []);
    const build = (end: Ending) =>
      buildReport(end, { gate, ...(changes ?? NO_CHANGES), policyChanges }, state, world);
    let report = build(interrupted(checked, state));
    let failure = await write(report);
    // A run that published nothing keeps its ending.
    if (failure !== null && (report.verdict.published || report.verdict.exitCode === 0)) {
      report = build(failure);
      failure = await write(report);
    }
    if (failure?.kind === 'failed') warn('outputs', failure.error);
    if (report.verdict.reason === 'internal' && checked.kind === 'failed' && checked.error instanceof Error)
      // For a bug report.
      world.warn(checked.error.stack ?? '');
    for (const reporter of await state.audience.open())
      if (!signal.aborted || reporter.network !== true)
        await attempt(reporter.name, () => reporter.report?.(report, signal));
    return report;
  } finally {
    end();
  }
}

/** The time left for finishing is unlimited until a signal arrives. */
function limitShutdown(signal: AbortSignal) {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(resolve, SHUTDOWN_MS, undefined);
  };
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  return {
    /** Resolves to the value of the promise, or to undefined once the time is up. What is done already is seen. */
    bound: <T>(promise: Promise<T>) => Promise.race([promise, over.then(() => nextTurn(undefined))]),
    end: () => clearTimeout(timer),
  };
}

type Bound = ReturnType<typeof limitShutdown>['bound'];

/** After a signal there is no time to compare; a comparison may hang as the run did, and needs a sandbox that works. */
function canCompare(ending: Ending, { interrupt }: RunState): boolean {
  const outOfTime = ending.kind === 'exhausted' && ending.limit === 'time';
  const isBroken = ending.kind === 'failed' && ending.error instanceof SandboxError;
  return !outOfTime && !isBroken && !interrupt.signal.aborted;
}

const NO_CHANGES = { changedFiles: null, patchFile: null };

/** Counts the agent's changes while the sandbox is still open, and writes their patch. */
async function keepChanges({ changes, interrupt }: RunState, world: EndWorld) {
  if (changes === null) return NO_CHANGES;
  const { files, patch, leftOut, why } = await changes(interrupt.signal);
  if (why !== null) world.warn(why);
  if (files === null) return NO_CHANGES;
  if (leftOut.length > 0)
    world.warn(
      `The patch leaves out ${listNames(leftOut.map(world.secrets.mask))}: workflows, actions and .gitmodules are not for git apply. Read the rest of the patch before you apply it, too.`,
    );
  const file = world.results === null ? null : path.join(world.results, RESULT_FILES.patch);
  if (patch === null) return { changedFiles: files.length, patchFile: null };
  world.onPatch?.(patch);
  if (file !== null) writePrivateFile(file, patch);
  return { changedFiles: files.length, patchFile: file };
}

/**
 * The final checks that can change an outcome: the gate, secrets in what is to be published, a modified guarded file.
 */
async function check(ending: Ending, state: RunState, world: EndWorld, bound: Bound) {
  // Mask before truncating: half a secret is not recognized.
  let checked: Ending =
    ending.kind === 'plain_text' ? { ...ending, text: world.secrets.mask(ending.text) } : ending;
  let gate: GateResult | null = null;
  try {
    if (checked.kind === 'submitted') {
      const where = world.secrets.find(checked.payload);
      if (where !== null) checked = { kind: 'secret', where };
    }
    const tampering = await bound(state.tamper?.compare() ?? Promise.resolve(null));
    // What could not be compared in time may have been modified.
    if (tampering === undefined)
      checked = { kind: 'cancelled', signal: String(state.interrupt.signal.reason) };
    else if (tampering !== null) checked = { kind: 'tampered', file: tampering };
    if (checked.kind === 'tampered') world.restoreRunnerFiles();
    if (checked.kind === 'submitted')
      gate = state.gate?.evaluate(checked.payload) ?? { status: 'none', issues: [] };
  } catch (error) {
    checked = { kind: 'failed', error };
  }
  return { checked, gate };
}

/** The effect of a signal while finishing: an accepted payload is still published, and security findings are kept. */
function interrupted(ending: Ending, { interrupt }: RunState): Ending {
  if (!interrupt.signal.aborted) return ending;
  const signal = String(interrupt.signal.reason);
  if (ending.kind === 'submitted') return { ...ending, kind: 'interrupted', signal };
  const isCut = ending.kind === 'plain_text' || ending.kind === 'refused' || ending.kind === 'exhausted';
  return isCut ? { kind: 'cancelled', signal } : ending;
}
