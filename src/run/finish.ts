/**
 * Runs any work to a reported end: handles signals and thrown errors, then finishes with one ordered block for every
 * ending.
 */
import { isRunStop, type RunStop, stopped } from '../agent/loop.ts';
import { errorCode, messageFor, SandboxError } from '../errors.ts';
import type { Report } from '../reporters/report-types.ts';
import { removeFolder } from '../sandbox/scratch.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import type { GateResult, Verdict } from '../types.ts';
import type { Ending } from './endings.ts';
import { buildReport, type Changed } from './report.ts';
import { createShutdownDeadline, type ShutdownDeadline, within } from './signals.ts';
import { createState, type EndWorld, type RunState } from './world.ts';

/** How long GitHub's list of changed files is waited for at the end of a run. */
const CHANGED_FILES_MS = 10_000;

/** Runs the work to its end and reports it; never rejects. `work` must stop when `state.stop` is aborted. */
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
  state.placed.resolve();
  return finish(ending, state, world);
}

/** Turns thrown errors into an ending. An aborted wait outside the loop becomes the ending of its abort reason. */
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

/** A full disk is not a bug: during a run, only writes of the sandbox end the run with this error. */
function fullDisk(error: unknown): SandboxError | null {
  const cause = error instanceof SandboxError ? error.cause : error;
  if (!(cause instanceof Error) || !['ENOSPC', 'EDQUOT'].includes(errorCode(cause) ?? '')) return null;
  const text = `The disk of RUNNER_TEMP is full (${cause.message}). Free some space in a step before this one.`;
  return new SandboxError(text, { cause: error });
}

/**
 * Stops the clock, kills all child processes, checks for secrets and tampering, runs the reporters, and writes the
 * envelope and finally the outputs. Never rejects: a failure becomes a warning or a worse verdict, never a better one.
 */
export async function finish(ending: Ending, state: RunState, world: EndWorld): Promise<Report> {
  clearTimeout(state.timer);
  const deadline = createShutdownDeadline(state.interrupt.signal);
  try {
    const outOfTime = ending.kind === 'exhausted' && ending.limit === 'time';
    const changes = outOfTime || isBroken(ending) ? null : await countChanges(state, world, deadline);
    await deadline
      .bound(state.sandbox?.close() ?? Promise.resolve())
      .catch((error: unknown) => warn(error, 'sandbox', world));
    const { checked, gate } = await check(explained(ending, state), state, world, deadline);
    // Removes what the agent may have filled the disk with before anything is written. A leftover does not change the
    // verdict.
    const removed = removeRunFolder(world, deadline);
    await deadline.bound(Promise.all([within(CHANGED_FILES_MS, state.judging), removed]));
    const build = (end: Ending) => buildReport(end, gate, changes, state, world);
    let report = build(interrupted(checked, state));
    if (checked.kind === 'failed') explainBug(checked.error, report.verdict, world);
    report = await tellReporters(report, build, checked, state, world, deadline);
    return await publish(report, build, deadline, world);
  } finally {
    deadline.end();
  }
}

async function removeRunFolder({ runFolder }: EndWorld, deadline: ShutdownDeadline): Promise<void> {
  if (runFolder !== null) await removeFolder(runFolder, deadline.running() ? 1_000 : 5_000);
}

/**
 * The final checks that can change an outcome: the gate, secrets in what is to be published, a modified guarded file.
 */
async function check(ending: Ending, state: RunState, world: EndWorld, deadline: ShutdownDeadline) {
  // Mask before truncating: half a secret is not recognized.
  let checked: Ending =
    ending.kind === 'plain_text' ? { ...ending, text: world.secrets.mask(ending.text) } : ending;
  let gate: GateResult | null = null;
  try {
    if (checked.kind === 'submitted') {
      const where = world.secrets.find(checked.payload);
      if (where !== null) checked = { kind: 'secret', where };
    }
    const tampering = await deadline.bound(state.tamper?.compare() ?? Promise.resolve(null));
    // What could not be compared in time may have been modified.
    if (tampering === undefined) checked = { kind: 'unchecked' };
    else if (tampering !== null) checked = { kind: 'tampered', file: tampering };
    if (checked.kind === 'tampered') world.restoreRunnerFiles();
    if (checked.kind === 'submitted')
      gate = state.gate?.evaluate(checked.payload) ?? { status: 'none', issues: [] };
  } catch (error) {
    checked = { kind: 'failed', error };
  }
  return { checked, gate };
}

function isBroken(ending: Ending): ending is Extract<Ending, { kind: 'failed' }> {
  return ending.kind === 'failed' && ending.error instanceof SandboxError;
}

/** Distinguishes an isolation backend that broke during the run from one that never started, which reports `none`. */
function explained(ending: Ending, state: RunState): Ending {
  const isolation = state.sandbox?.isolation() ?? 'none';
  if (!isBroken(ending) || isolation === 'none') return ending;
  const why = ending.error instanceof Error ? ending.error.message : '';
  const text = `The sandbox (${isolation}) stood at first and broke during the run: ${why}`;
  return { kind: 'failed', error: new SandboxError(text, { cause: ending.error }) };
}

/** Counts the agent's changes while the sandbox is still open. Skipped after a signal, which leaves no time for it. */
async function countChanges(
  state: RunState,
  world: EndWorld,
  deadline: ShutdownDeadline,
): Promise<Changed | null> {
  if (state.changes === null || deadline.running()) return null;
  try {
    const { changedFiles, patch, leftOut, why } = await state.changes(state.interrupt.signal);
    if (why !== null) world.warn(why);
    if (changedFiles === null) return null;
    if (leftOut.length > 0) world.warn(incomplete(leftOut.map((name) => world.secrets.mask(name))));
    return { changedFiles, patchFile: patch === null ? null : world.writePatch(patch) };
  } catch (error) {
    if (!deadline.running()) warn(error, 'changes', world);
    return null;
  }
}

function incomplete(leftOut: readonly string[]): string {
  return `The patch leaves out ${listed(leftOut)}: workflows, actions and .gitmodules are not for git apply. Read the rest of the patch before you apply it, too.`;
}

function listed(names: readonly string[]): string {
  const named = names.slice(0, LISTED.some).map((name) => JSON.stringify(name.slice(0, DISPLAY.path)));
  const more = names.length > LISTED.some ? ` and ${names.length - LISTED.some} more` : '';
  return `${named.join(', ')}${more}`;
}

/** The effect of a signal while finishing: an accepted payload is still published, and security findings are kept. */
function interrupted(ending: Ending, state: RunState): Ending {
  if (!state.interrupt.signal.aborted) return ending;
  const signal = String(state.interrupt.signal.reason);
  switch (ending.kind) {
    case 'submitted':
      return { ...ending, kind: 'interrupted', signal };
    case 'plain_text':
    case 'refused':
    case 'exhausted':
      return { kind: 'cancelled', signal };
    default:
      return ending;
  }
}

async function tellReporters(
  first: Report,
  build: (ending: Ending) => Report,
  ending: Ending,
  state: RunState,
  world: EndWorld,
  deadline: ShutdownDeadline,
): Promise<Report> {
  let report = first;
  for (const reporter of world.reporters) {
    if (deadline.running() && reporter.network === true) continue;
    try {
      await deadline.bound(reporter.report?.(report, state.interrupt.signal) ?? Promise.resolve());
    } catch (error) {
      warn(error, reporter.name, world);
    }
    report = build(interrupted(ending, state));
  }
  return report;
}

/**
 * Writes the envelope, then the outputs. If one cannot be written, a run that published a payload ends as a
 * configuration error and is reported again, so that no report contradicts the exit code. A run that published nothing
 * keeps its ending, and the failed write becomes a warning.
 */
async function publish(
  report: Report,
  build: (ending: Ending) => Report,
  deadline: ShutdownDeadline,
  world: EndWorld,
): Promise<Report> {
  let why: Ending;
  try {
    world.writeEnvelope(report);
    const unread = await deadline.unread(world.writeOutputs(report));
    if (unread === null) return report;
    why = { kind: 'unread', signal: unread };
  } catch (error) {
    why = { kind: 'failed', error };
  }
  if (report.verdict.published || report.verdict.exitCode === 0)
    return takeBack(build(why), why, deadline, world);
  if (why.kind === 'failed') warn(why.error, 'outputs', world);
  await rewrite(report, world, () => undefined);
  return report;
}

/** Reports again a run that had already been reported as published. */
async function takeBack(
  failed: Report,
  why: Ending,
  deadline: ShutdownDeadline,
  world: EndWorld,
): Promise<Report> {
  if (why.kind === 'failed') explainBug(why.error, failed.verdict, world);
  await rewrite(failed, world, (again) => warn(again, 'outputs', world));
  for (const reporter of world.reporters) {
    if (reporter.repeatable !== true || (reporter.network === true && deadline.running())) continue;
    await reporter
      .report?.(failed, new AbortController().signal)
      .catch((again: unknown) => warn(again, reporter.name, world));
  }
  return failed;
}

async function rewrite(failed: Report, world: EndWorld, onError: (error: unknown) => void): Promise<void> {
  for (const write of [world.writeEnvelope, world.writeOutputs]) {
    try {
      await write(failed);
    } catch (error) {
      onError(error);
    }
  }
}

/** Logs the stack of a bug, for use in a bug report. */
function explainBug(error: unknown, verdict: Verdict, world: EndWorld): void {
  if (verdict.reason === 'internal' && error instanceof Error && error.stack !== undefined)
    world.warn(error.stack);
}

function warn(error: unknown, what: string, world: EndWorld): void {
  world.warn(`${what}: ${messageFor(error, world.entry)}`);
}
