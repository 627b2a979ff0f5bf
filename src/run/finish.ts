/** Finishes a run with one ordered block for every ending. Loaded when it has ended. */
import { once } from 'node:events';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Config } from '../config/parse-config.ts';
import { messageFor, SandboxError } from '../errors.ts';
import { writePrivateFile } from '../files/private-file.ts';
import { RESULT_FILES } from '../reporters/outputs.ts';
import { resolveFindings } from '../reporters/places.ts';
import type { Report } from '../reporters/report-types.ts';
import { removeFolder } from '../sandbox/scratch.ts';
import { listNames } from '../text/messages.ts';
import type { GateResult, JsonObject } from '../types.ts';
import { type Ending, preview, verdictOf } from './ending-sentences.ts';
import type { EndWorld, RunState } from './world.ts';

/** The time to finish after a signal: the runner kills the process after 7.5 s. */
const SHUTDOWN_MS = 1_500;

type Bound = <T>(promise: Promise<T>) => Promise<T | undefined>;

/**
 * Stops the clock, kills all child processes, checks for secrets and tampering, writes the envelope and the outputs, and
 * runs the reporters. No reporter runs before the verdict is written, so none is ever taken back. Never rejects: a
 * failure becomes a warning or a worse verdict, never a better one.
 */
export async function finish(ending: Ending, state: RunState, world: EndWorld): Promise<Report> {
  // Stops the clock; what is not open yet stays closed.
  state.stop.abort(new Error('The run is over.'));
  const { signal } = state.interrupt;
  const over = runOut(signal);
  /** Resolves to undefined once the time is over. What is done already is seen. */
  const bound: Bound = (promise) => Promise.race([promise, over.then(() => nextTurn(undefined))]);
  const warn = (what: string, error: unknown) => world.warn(`${what}: ${messageFor(error, world.entry)}`);
  /** Takes a step that must not change the verdict. */
  const attempt = <T>(what: string, step: () => Promise<T> | undefined) =>
    bound((async () => step())()).catch((error: unknown) => void warn(what, error));
  const changes = (await attempt('changes', () => keepChanges(ending, state, world))) ?? NO_CHANGES;
  await attempt('sandbox', () => state.sandbox?.close());
  const { checked, gate } = await check(ending, state, world, bound);
  // Removes what the agent may have filled the disk with before anything is written.
  const { runFolder } = world;
  if (runFolder !== null)
    await attempt('run folder', () => removeFolder(runFolder, signal.aborted ? 1_000 : 5_000));
  const policyChanges = signal.aborted ? [] : ((await bound(state.policyChanges)) ?? []);
  const build = (last: Ending) => buildReport(last, { gate, ...changes, policyChanges }, state, world);
  const isCut = signal.aborted && ['plain_text', 'refused', 'exhausted'].includes(checked.kind);
  const reporters = await state.openReporters();
  /** Writes envelope and outputs. Returns why one of them could not be written; null if both were. */
  const write = async (report: Report): Promise<Ending | null> => {
    let failure: Ending | null = null;
    for (const reporter of reporters) {
      const writing = (async () => reporter.publish?.(report))().then(() => null);
      const failed = await bound(writing).catch((error: unknown): Ending => ({ kind: 'failed', error }));
      // After a signal nobody may read what is written.
      failure ??= failed === undefined ? cancelledBy(signal) : failed;
    }
    return failure;
  };
  let report = build(isCut ? cancelledBy(signal) : checked);
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
  for (const reporter of reporters)
    if (!signal.aborted || reporter.network !== true)
      await attempt(reporter.name, () => reporter.report?.(report, signal));
  return report;
}

/** Resolves once the time to finish is over, which is unlimited until a signal arrives. */
async function runOut(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
  await new Promise((resolve) => setTimeout(resolve, SHUTDOWN_MS));
}

const NO_CHANGES = { changedFiles: null, patchFile: null, patch: null };

/**
 * Counts the agent's changes while the sandbox is still open, and writes their patch. After a signal there is no time to
 * compare; a comparison may hang as the run did, and needs a sandbox that works.
 */
async function keepChanges(ending: Ending, { changes, interrupt: { signal } }: RunState, world: EndWorld) {
  const outOfTime = ending.kind === 'exhausted' && ending.limit === 'time';
  const isBroken = ending.kind === 'failed' && ending.error instanceof SandboxError;
  if (changes === null || outOfTime || isBroken || signal.aborted) return NO_CHANGES;
  const { files, patch, leftOut, why } = await changes(signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    const text = `The agent's changes are not kept as a patch: the run was stopped by ${String(signal.reason)}.`;
    return { files: null, patch: null, leftOut: [], why: text };
  });
  if (why !== null) world.warn(why);
  if (files === null) return NO_CHANGES;
  if (leftOut.length > 0)
    world.warn(
      `The patch leaves out ${listNames(leftOut.map(world.secrets.mask))}: workflows, actions and .gitmodules are not for git apply. Read the rest of the patch before you apply it, too.`,
    );
  const changedFiles = files.length;
  if (patch === null || world.results === null) return { changedFiles, patch, patchFile: null };
  const patchFile = path.join(world.results, RESULT_FILES.patch);
  writePrivateFile(patchFile, patch);
  return { changedFiles, patch, patchFile };
}

/** Makes the final checks that can change an outcome: secrets in the payload, a modified guarded file, the gate. */
async function check(ending: Ending, state: RunState, world: EndWorld, bound: Bound) {
  // Mask before truncating: half a secret is not recognized.
  let checked: Ending =
    ending.kind === 'plain_text' ? { ...ending, text: world.secrets.mask(ending.text) } : ending;
  let gate: GateResult | null = null;
  try {
    const where = checked.kind === 'submitted' ? world.secrets.find(checked.payload) : null;
    if (where !== null) {
      const text = `The payload holds a secret of this job (${where}). Nothing was published. Treat that secret as leaked to the model, and check what the repository instructs the agent to do.`;
      checked = { kind: 'no_verdict', reason: 'secret_in_payload', text };
    }
    const tampering = await bound(state.tamper?.compare() ?? Promise.resolve(null));
    // What could not be compared in time may have been modified.
    if (tampering === undefined) checked = cancelledBy(state.interrupt.signal);
    else if (tampering !== null) {
      const text = `During the run ${tampering} was changed, which the agent must never touch. Nothing was published. Check what the repository instructs the agent to do.`;
      checked = { kind: 'no_verdict', reason: 'tampered', text };
      world.restoreRunnerFiles();
    }
    if (checked.kind === 'submitted')
      gate = state.gate?.evaluate(checked.payload) ?? { status: 'none', issues: [] };
  } catch (error) {
    checked = { kind: 'failed', error };
  }
  return { checked, gate };
}

function cancelledBy(signal: AbortSignal): Ending {
  return { kind: 'cancelled', signal: String(signal.reason) };
}

/** What is found out while a run is finished. */
type Found = Pick<Report, 'gate' | 'changedFiles' | 'patch' | 'patchFile' | 'policyChanges'>;

/** Builds the report that all reporters show. */
function buildReport(ending: Ending, found: Found, state: RunState, world: EndWorld): Report {
  const { record, config, isValid, sandbox, context, judgedWith, interrupt } = state;
  const { turns, usage, costUsd } = record.totals;
  const verdict = verdictOf(ending, {
    turns,
    gate: found.gate,
    config,
    entry: world.entry,
    signal: interrupt.signal.aborted ? String(interrupt.signal.reason) : null,
  });
  const payload = ending.kind === 'submitted' ? ending.payload : null;
  const ref = (world.entry === 'action' && world.environment['GITHUB_ACTION_REF']) || '';
  // These files may have made the command succeed.
  const text = `Before the command of this report was judged, the agent changed or made ${listNames(judgedWith)}.`;
  const judged = judgedWith.length === 0 ? [] : [text];
  const report: Report = {
    ...found,
    gate: payload === null ? null : found.gate,
    verdict,
    payload,
    turnCount: turns,
    rejections: record.rejections,
    repaired: ending.kind === 'submitted' ? ending.repaired : null,
    usage,
    costUsd: state.answeredBy.replayed === true ? 0 : costUsd,
    pricedAs: state.pricedAs,
    startedAt: state.startedAt.toISOString(),
    durationMs: Date.now() - state.startedAt.getTime(),
    ...state.answeredBy,
    sessionId: state.sessionId,
    leg: config?.leg ?? null,
    vote: config?.vote ?? null,
    evidence: context && {
      context,
      toolCalls: record.toolCalls,
      commands: state.commands,
      grounding: null,
      findings: payload === null ? [] : resolveFindings(payload, world.locate),
      ...state.describeEvidence(payload),
    },
    action: ref === '' ? null : { ref, commit: /^[0-9a-f]{40}$/u.test(ref) ? ref : null },
    settings: config !== null && isValid ? settingsOf(config) : null,
    isolation: sandbox?.isolation() ?? 'none',
    scratch: sandbox?.layer() ?? null,
    lastAssistantText: ending.kind === 'plain_text' ? preview(ending.text) : null,
    subject: world.subject,
    policy: state.policy,
    outputNames: state.outputNames,
    results: world.results,
    weaknesses: [...state.weaknesses, ...(sandbox?.weaknesses() ?? []), ...judged],
  };
  return state.describe?.(report) ?? report;
}

/** The settings that the envelope names. */
function settingsOf(config: Config): JsonObject {
  const { tools, excludeTools, gate } = config;
  return {
    gate: gate.trimStart().startsWith('{') ? 'inline' : gate,
    min_coverage: config.minCoverage,
    grounding: config.grounding,
    tools: tools.filter((tool) => !excludeTools.includes(tool)),
    sandbox: config.sandbox,
    shell_network: config.shellNetwork,
    max_turns: config.maxTurns,
    timeout_minutes: config.timeoutMs / 60_000,
    max_total_tokens: config.maxTotalTokens,
    max_cost_usd: config.maxCostUsd,
  };
}
