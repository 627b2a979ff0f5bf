/** Finishes a run with one ordered block for every ending. Loaded when it has ended. */
import { messageFor, SandboxError } from '../errors.ts';
import type { Report } from '../reporters/report-types.ts';
import { removeFolder } from '../sandbox/scratch.ts';
import { listNames } from '../text/messages.ts';
import type { GateResult, Verdict } from '../types.ts';
import type { Ending } from './endings.ts';
import { buildReport, type Changed } from './report.ts';
import { createShutdownDeadline, type ShutdownDeadline, within } from './signals.ts';
import type { EndWorld, RunState } from './world.ts';

/** How long GitHub's list of changed files is waited for at the end of a run. */
const CHANGED_FILES_MS = 10_000;

/**
 * Stops the clock, kills all child processes, checks for secrets and tampering, writes the envelope and the outputs, and
 * runs the reporters. No reporter runs before the verdict is written, so none is ever taken back. Never rejects: a
 * failure becomes a warning or a worse verdict, never a better one.
 */
export async function finish(ending: Ending, state: RunState, world: EndWorld): Promise<Report> {
  clearTimeout(state.timer);
  const deadline = createShutdownDeadline(state.interrupt.signal);
  try {
    const outOfTime = ending.kind === 'exhausted' && ending.limit === 'time';
    const changes = outOfTime || isBroken(ending) ? null : await countChanges(state, world, deadline);
    // What has begun to open is closed.
    await deadline.bound(Promise.allSettled([state.opening]));
    await deadline
      .bound(state.sandbox?.close() ?? Promise.resolve())
      .catch((error: unknown) => warn(error, 'sandbox', world));
    const { checked, gate } = await check(ending, state, world, deadline);
    // Removes what the agent may have filled the disk with before anything is written. A leftover does not change the
    // verdict.
    const removed = removeRunFolder(world, deadline);
    await deadline.bound(Promise.all([within(CHANGED_FILES_MS, state.judging), removed]));
    const build = (end: Ending) => buildReport(end, gate, changes, state, world);
    const report = await publish(build(interrupted(checked, state)), build, state, world, deadline);
    if (checked.kind === 'failed') explainBug(checked.error, report.verdict, world);
    await tellReporters(report, state, world, deadline);
    return report;
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
    if (tampering === undefined) checked = { kind: 'cancelled', signal: signalOf(state) };
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

/** Counts the agent's changes while the sandbox is still open. Skipped after a signal, which leaves no time for it. */
async function countChanges(
  state: RunState,
  world: EndWorld,
  deadline: ShutdownDeadline,
): Promise<Changed | null> {
  if (state.changes === null || deadline.running()) return null;
  try {
    const { files, patch, leftOut, why } = await state.changes(state.interrupt.signal);
    if (why !== null) world.warn(why);
    if (files === null) return null;
    if (leftOut.length > 0) world.warn(incomplete(leftOut.map((name) => world.secrets.mask(name))));
    return { changedFiles: files.length, patchFile: patch === null ? null : world.writePatch(patch) };
  } catch (error) {
    if (!deadline.running()) warn(error, 'changes', world);
    return null;
  }
}

function incomplete(leftOut: readonly string[]): string {
  return `The patch leaves out ${listNames(leftOut)}: workflows, actions and .gitmodules are not for git apply. Read the rest of the patch before you apply it, too.`;
}

/** The effect of a signal while finishing: an accepted payload is still published, and security findings are kept. */
function interrupted(ending: Ending, state: RunState): Ending {
  if (!state.interrupt.signal.aborted) return ending;
  const signal = signalOf(state);
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

function signalOf({ interrupt }: RunState): string {
  return String(interrupt.signal.reason);
}

/**
 * Writes the envelope and the outputs. If one cannot be written, a run that published a payload ends with that failure
 * instead, and both are written once more. A run that published nothing keeps its ending, and the failed write becomes a
 * warning.
 */
async function publish(
  report: Report,
  build: (ending: Ending) => Report,
  state: RunState,
  world: EndWorld,
  deadline: ShutdownDeadline,
): Promise<Report> {
  const failure = await write(report, state, world, deadline);
  if (failure === null) return report;
  const isWorse = report.verdict.published || report.verdict.exitCode === 0;
  const failed = isWorse ? build(failure) : report;
  const again = isWorse ? await write(failed, state, world, deadline) : failure;
  if (again?.kind === 'failed') warn(again.error, 'outputs', world);
  return failed;
}

/** Writes envelope and outputs. Returns why one of them could not be written; null if both were. */
async function write(
  report: Report,
  state: RunState,
  world: EndWorld,
  deadline: ShutdownDeadline,
): Promise<Extract<Ending, { kind: 'failed' | 'cancelled' }> | null> {
  let failure: Extract<Ending, { kind: 'failed' | 'cancelled' }> | null = null;
  for (const task of [world.writeEnvelope, world.writeOutputs]) {
    try {
      const written = await deadline.bound(Promise.resolve(task(report)).then(() => true));
      // After a signal nobody may read what is written.
      if (written !== true) failure ??= { kind: 'cancelled', signal: signalOf(state) };
    } catch (error) {
      failure ??= { kind: 'failed', error };
    }
  }
  return failure;
}

async function tellReporters(
  report: Report,
  state: RunState,
  world: EndWorld,
  deadline: ShutdownDeadline,
): Promise<void> {
  for (const reporter of await state.audience.open()) {
    if (deadline.running() && reporter.network === true) continue;
    try {
      await deadline.bound(reporter.report?.(report, state.interrupt.signal) ?? Promise.resolve());
    } catch (error) {
      warn(error, reporter.name, world);
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
