/** From any work to its reported end: signals, what was thrown, and *Finishing*, one ordered block for every ending. */
import { isRunStop, type RunStop, stopped } from '../agent/agent.ts';
import { errorCode, messageFor, SandboxError } from '../errors.ts';
import type { Report } from '../reporters/report-types.ts';
import { within } from '../sandbox/exec/process.ts';
import { removeFolder } from '../sandbox/run-folder.ts';
import type { LeftOut } from '../sandbox/workspace/patch.ts';
import type { GateResult, Verdict } from '../types.ts';
import type { Ending } from './endings.ts';
import { buildReport, type Changed } from './report.ts';
import { createShutdownDeadline, type ShutdownDeadline } from './signals.ts';
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
  if (!(error instanceof Error) || !['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '')) return null;
  const text = `The disk of RUNNER_TEMP is full (${error.message}). Free some space in a step before this one.`;
  return new SandboxError(text, { cause: error });
}

/** The longest that GitHub is waited for with the list of changed files, in milliseconds. */
const JUDGING_MS = 10_000;
/**
 * Stops the clock, kills every child, looks for secrets and tampering, tells the reporters, writes the envelope and,
 * last, the outputs. Never rejects: what fails on the way becomes a warning or a worse verdict, never a better one.
 */
export async function finish(ending: Ending, state: RunState, world: EndWorld): Promise<Report> {
  for (const timer of state.timers) clearTimeout(timer);
  const deadline = createShutdownDeadline(state.interrupt.signal);
  try {
    const outOfTime = ending.kind === 'exhausted' && ending.limit === 'time';
    const changes = outOfTime || isBroken(ending) ? null : await countChanges(state, world, deadline);
    await deadline
      .bound(state.sandbox?.close() ?? Promise.resolve())
      .catch((error: unknown) => warn(error, 'sandbox', world));
    const { checked, gate } = await check(explained(ending, state), state, world, deadline);
    // What the agent filled a disk with is gone before anything is written; a leftover changes no verdict.
    const removed = removeRunFolder(world, deadline);
    await deadline.bound(Promise.all([within(JUDGING_MS, state.judging), removed]));
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

/** The last things that can turn an outcome: the gate, secrets in what would be published, a changed guarded file. */
async function check(ending: Ending, state: RunState, world: EndWorld, deadline: ShutdownDeadline) {
  // Masked before anything is cut: half a secret would be found by nobody.
  let checked: Ending =
    ending.kind === 'plain_text' ? { ...ending, text: world.secrets.mask(ending.text) } : ending;
  let gate: GateResult | null = null;
  try {
    if (checked.kind === 'submitted') {
      const where = world.secrets.find(checked.payload);
      if (where !== null) checked = { kind: 'secret', where };
    }
    const tampering = await deadline.bound(state.tamper?.compare() ?? Promise.resolve(null));
    // What could not be looked at in time may be anything.
    if (tampering === undefined) checked = { kind: 'unchecked' };
    else if (tampering !== null) checked = { kind: 'tampered', ...tampering };
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

/** A wall that stood until a command found it gone is told apart from one that never stood, which is no isolation. */
function explained(ending: Ending, state: RunState): Ending {
  const wall = state.sandbox?.isolation() ?? 'none';
  if (!isBroken(ending) || wall === 'none') return ending;
  const why = ending.error instanceof Error ? ending.error.message : '';
  const text = `The sandbox (${wall}) stood at first and broke during the run: ${why}`;
  return { kind: 'failed', error: new SandboxError(text, { cause: ending.error }) };
}

/** What the agent changed, asked while the wall still stands; a signal leaves no time for it. */
async function countChanges(
  state: RunState,
  world: EndWorld,
  deadline: ShutdownDeadline,
): Promise<Changed | null> {
  if (state.changes === null || deadline.running()) return null;
  try {
    const changes = await state.changes.compare(state.interrupt.signal);
    if (changes === null) {
      world.warn(
        'git could not tell what the agent changed: run-changed-files is empty, and there is no patch.',
      );
      return null;
    }
    const { changedFiles, patch, leftOut } = changes;
    const named = (why: LeftOut['why']) =>
      leftOut.filter((one) => one.why === why).map(({ name }) => world.secrets.mask(name));
    const [closed, secret] = [named('protected'), named('secret')];
    if (closed.length > 0) world.warn(incomplete(closed));
    if (secret.length > 0) world.warn(withSecret(secret));
    return { changedFiles, patchFile: patch === null ? null : world.writePatch(patch) };
  } catch (error) {
    if (!deadline.running()) warn(error, 'changes', world);
    return null;
  }
}

/** How many of the files that a patch leaves out are named. */
const MAX_NAMED = 5;

function incomplete(leftOut: readonly string[]): string {
  return `The patch leaves out ${listed(leftOut)}: workflows, actions, .gitmodules and links that lead out of the repository are not for git apply. Read the rest of the patch before you apply it, too.`;
}

function withSecret(leftOut: readonly string[]): string {
  return `The patch leaves out ${listed(leftOut)}: a secret that this run knows is in the change, or the change is too large to be searched for one. Find out how the agent came by the secret, and replace it.`;
}

function listed(names: readonly string[]): string {
  const named = names.slice(0, MAX_NAMED).map((name) => JSON.stringify(name.slice(0, 200)));
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `${named.join(', ')}${more}`;
}

/** What a signal during this block makes of an ending: an accepted payload is still published, security findings stay. */
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
      const told = await deadline.bound(
        reporter.report?.(report, state.interrupt.signal) ?? Promise.resolve(),
      );
      state.commentUrl = told?.commentUrl ?? state.commentUrl;
    } catch (error) {
      warn(error, reporter.name, world);
    }
    report = build(interrupted(ending, state));
  }
  return report;
}

/**
 * The envelope, and then the outputs. Where one cannot be written a run that published ends as a configuration error, and
 * all that was told is told again: nothing may go on saying what the exit code takes back. A run that published nothing
 * keeps its ending, and what could not be written is a warning. The envelope goes to its spare place if need be.
 */
async function publish(
  report: Report,
  build: (ending: Ending) => Report,
  deadline: ShutdownDeadline,
  world: EndWorld,
): Promise<Report> {
  let resultFile = world.spareResultFile;
  let why: Ending;
  try {
    world.writeEnvelope(report);
    resultFile = report.resultFile;
    const unread = await deadline.unread(world.writeOutputs(report));
    if (unread === null) return report;
    why = { kind: 'unread', signal: unread };
  } catch (error) {
    why = { kind: 'failed', error };
  }
  if (report.verdict.published || report.verdict.exitCode === 0)
    return takeBack({ ...build(why), resultFile }, why, deadline, world);
  if (why.kind === 'failed') warn(why.error, 'outputs', world);
  const failed = { ...report, resultFile };
  await rewrite(failed, world, () => undefined);
  return failed;
}

/** Tells again what was told of a run that had published. */
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

/** A bug's stack goes to the log, where whoever reports it finds it. */
function explainBug(error: unknown, verdict: Verdict, world: EndWorld): void {
  if (verdict.reason === 'internal' && error instanceof Error && error.stack !== undefined)
    world.warn(error.stack);
}

function warn(error: unknown, what: string, world: EndWorld): void {
  world.warn(`${what}: ${messageFor(error, world.entry)}`);
}
