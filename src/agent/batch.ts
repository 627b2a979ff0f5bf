/** Processes the tool calls of one assistant turn: which calls are run, validated or skipped. */
import type { Check, Contract } from '../contract/contract.ts';
import type { Decision, EvidenceReview, FinalDecision, Submission } from '../evidence/review.ts';
import type { CallDecision, CallRecord, CallRef, RunEvent, Totals } from '../reporters/report-types.ts';
import { listIssues } from '../text/messages.ts';
import { race } from '../text/wait.ts';
import { STRUCTURED_OUTPUT_NAME, type Toolbox } from '../tools/toolbox.ts';
import type { AssistantMessage, Outcome, RedactedIssue, ToolCall, ToolResult } from '../types.ts';
import {
  ACCEPTED,
  NOT_TAKEN,
  rejectionText,
  SKIPPED_BESIDE_ACCEPTED,
  SKIPPED_BESIDE_REJECTED,
} from './prompt.ts';

export interface BatchWorld {
  readonly turn: number;
  /** Receives each call as soon as it is settled, so that a run that is stopped midway is reported completely. */
  readonly records: CallRecord[];
  /** Counts the calls that ran. */
  readonly record: { toolCalls: number };
  readonly contract: Contract;
  readonly evidence?: () => Promise<EvidenceReview>;
  /** Whether no further turn is left. */
  readonly isLast: () => boolean;
  readonly toolbox: Toolbox;
  /** Resolves when the sandbox has passed its self-test; no payload is accepted before. */
  readonly ready: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly totals: () => Totals;
  readonly emit: (event: RunEvent) => void;
}

/** The outcome of the calls of a turn; `results` has exactly one result for each call, in the order of the calls. */
export interface Batch {
  /** How the run ended; null if it goes on. */
  readonly ended: Extract<Outcome, { kind: 'submitted' | 'weak' }> | null;
  readonly results: readonly ToolResult[];
  /** Number of rejected `structured_output` calls. */
  readonly rejections: number;
  /** The redacted issues of the last rejection; empty if there was none. */
  readonly lastIssues: readonly RedactedIssue[];
  /**
   * What was refused, as one text: the arguments of the `structured_output` calls and what was wrong with them. null
   * without such a call; empty if evidence sent one back, which is not the model's mistake.
   */
  readonly refused: string | null;
}

/**
 * Runs the calls of one turn. If any is a `structured_output` call, only those are validated, in order, until one is
 * valid, and no other call is run: a verdict next to a side effect is most likely a mistake.
 */
export async function runBatch(calls: readonly ToolCall[], world: BatchWorld): Promise<Batch> {
  const terminal =
    world.toolbox.has(STRUCTURED_OUTPUT_NAME) && calls.some((call) => call.name === STRUCTURED_OUTPUT_NAME);
  return terminal ? judge(calls, world) : execute(calls, world);
}

async function execute(calls: readonly ToolCall[], world: BatchWorld): Promise<Batch> {
  const results: ToolResult[] = [];
  for (const call of calls) {
    // A stopped run has already left the loop, so nothing may be started any more.
    world.signal.throwIfAborted();
    const ref = refer(call, world.toolbox);
    world.emit({ type: 'tool_started', turn: world.turn, call: ref });
    const started = world.now();
    const { ran, ...answer } = await race(world.toolbox.run(call, world.signal), world.signal).catch(
      (error: unknown) => {
        const { name, target } = ref;
        world.records.push({ name, target, decision: 'error', durationMs: world.now() - started });
        throw error;
      },
    );
    if (ran) world.record.toolCalls += 1;
    const result = { callId: call.id, ...answer };
    results.push(settle(ref, result, answer.isError ? 'error' : 'ok', world.now() - started, result, world));
  }
  const unknown = calls.filter(({ name }) => name === STRUCTURED_OUTPUT_NAME);
  return collect(results, null, [], refusedText(unknown.map(({ rawArguments }) => [rawArguments])));
}

/** What became of a call of `structured_output`, and how long its validation took. */
interface Checked {
  readonly check: Check;
  /** null if the payload is not valid. */
  readonly decision: Decision | null;
  readonly durationMs: number;
}

async function judge(calls: readonly ToolCall[], world: BatchWorld): Promise<Batch> {
  const checked = new Map<ToolCall, Checked>();
  let ended: Batch['ended'] = null;
  for (const call of calls) {
    if (call.name !== STRUCTURED_OUTPUT_NAME) continue;
    const started = world.now();
    const check = await world.contract.accept(call);
    // Excludes the wait for the sandbox, which is not part of the call.
    const durationMs = world.now() - started;
    if (check.ok) await world.ready();
    const decision = check.ok ? await decide(check, world) : null;
    checked.set(call, { check, decision, durationMs });
    if (decision !== null && decision.kind !== 'rejected') {
      ended = outcomeOf(decision);
      break;
    }
    // Validating a pathological payload blocks the thread until its deadline; this lets signals and timers run.
    await new Promise((resolve) => setImmediate(resolve));
    world.signal.throwIfAborted();
  }
  const settled = calls.map((call) => settleJudged(call, checked.get(call), ended !== null, world));
  const rejected = [...checked.values()].flatMap(({ check, decision }) => {
    if (!check.ok) return [check.redacted];
    return decision?.kind === 'rejected' ? [decision.issues] : [];
  });
  const isSentBack = [...checked.values()].some(({ check }) => check.ok);
  const refused = [...checked].map(([call, { check }]) => [
    call.rawArguments,
    check.ok ? null : check.redacted,
  ]);
  return collect(settled, ended, rejected, isSentBack ? '' : refusedText(refused));
}

async function decide(
  { payload, repaired }: Submission,
  { evidence, isLast }: BatchWorld,
): Promise<Decision> {
  const submission = { payload, repaired };
  const review = await evidence?.();
  return review?.review(submission, isLast()) ?? { kind: 'taken', submission };
}

/** Returns how a decision ends the run. */
export function outcomeOf(decision: FinalDecision): NonNullable<Batch['ended']> {
  if (decision.kind === 'taken') return { kind: 'submitted', ...decision.submission };
  return { kind: 'weak', text: decision.text };
}

/**
 * Settles a `structured_output` call. Results and records differ: the model gets messages that may quote its payload,
 * records only get redacted paths and keywords.
 */
function settleJudged(
  call: ToolCall,
  checked: Checked | undefined,
  success: boolean,
  world: BatchWorld,
): ToolResult {
  const ref = refer(call, world.toolbox);
  const answer = (content: string, isError: boolean): ToolResult => ({ callId: call.id, content, isError });
  if (checked === undefined) {
    const result = answer(success ? SKIPPED_BESIDE_ACCEPTED : SKIPPED_BESIDE_REJECTED, true);
    return settle(ref, result, 'skipped', 0, result, world);
  }
  const { check, decision, durationMs } = checked;
  if (check.ok && decision?.kind === 'taken') {
    const result = answer(ACCEPTED, false);
    return settle(ref, result, 'accepted', durationMs, result, world);
  }
  const [text, issues] = rejectionOf(check, decision);
  return settle(ref, answer(text, true), 'rejected', durationMs, answer(redactIssues(issues), true), world);
}

/** Returns the answer to a call that was not accepted, and what is recorded of it. */
function rejectionOf(check: Check, decision: Decision | null): readonly [string, readonly RedactedIssue[]] {
  if (!check.ok) return [rejectionText(check.issues), check.redacted];
  if (decision?.kind === 'rejected') return [decision.text, decision.issues];
  // The run ends here; only records contain it.
  return [NOT_TAKEN, [{ path: '', keyword: 'coverage' }]];
}

function settle(
  ref: CallRef,
  result: ToolResult,
  decision: CallDecision,
  durationMs: number,
  shown: ToolResult,
  world: BatchWorld,
): ToolResult {
  const { turn } = world;
  world.emit({
    type: 'tool_finished',
    turn,
    call: ref,
    decision,
    durationMs,
    result: shown,
    totals: world.totals(),
  });
  world.records.push({ name: ref.name, target: ref.target, decision, durationMs });
  return result;
}

function collect(
  results: readonly ToolResult[],
  ended: Batch['ended'],
  rejected: readonly (readonly RedactedIssue[])[],
  refused: Batch['refused'],
): Batch {
  return {
    ended,
    results,
    rejections: rejected.length,
    lastIssues: rejected.at(-1) ?? [],
    refused,
  };
}

/** Returns one text for refused calls; a call that is in the turn twice counts once. */
function refusedText(refused: readonly unknown[]): string | null {
  const texts = new Set(refused.map((each) => JSON.stringify(each)));
  return texts.size === 0 ? null : [...texts].join('\n');
}

function refer(call: ToolCall, toolbox: Toolbox): CallRef {
  return {
    id: call.id,
    name: call.name,
    target: call.name === STRUCTURED_OUTPUT_NAME ? '' : toolbox.target(call),
  };
}

/** Replaces the arguments in every log, transcript and event; itself a JSON object. */
export const REDACTED_ARGUMENTS = '{"redacted":"these arguments are not recorded"}';

/**
 * Removes from a message the arguments of `structured_output`, however the model garbled its name
 * (`functions.structured_output`), those of tools that were not offered, and the native form, which also contains them.
 */
export function redactMessage(
  message: AssistantMessage,
  isOffered: (name: string) => boolean,
): AssistantMessage {
  const toolCalls = message.toolCalls.map((call) =>
    call.name.includes(STRUCTURED_OUTPUT_NAME) || !isOffered(call.name)
      ? { ...call, rawArguments: REDACTED_ARGUMENTS }
      : call,
  );
  return { role: 'assistant', text: message.text, toolCalls, native: null };
}

/** Formats a rejection for records: redacted instance paths, keywords and missing properties, no values. */
export function redactIssues(issues: readonly RedactedIssue[]): string {
  return `Rejected: ${listIssues(issues)}`;
}
