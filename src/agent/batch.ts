/** Processes the tool calls of one assistant turn: which calls are run, validated or skipped. */
import type { Contract } from '../contract/contract.ts';
import type { Decision, EvidenceReview, FinalDecision } from '../evidence/review.ts';
import type { CallDecision, CallRef, RunEvent, Totals } from '../reporters/report-types.ts';
import { listIssues } from '../text/messages.ts';
import { race } from '../text/wait.ts';
import { type ResultSource, STRUCTURED_OUTPUT_NAME, type Toolbox } from '../tools/toolbox.ts';
import type { AssistantMessage, Outcome, RedactedIssue, ToolCall, ToolResult } from '../types.ts';
import {
  ACCEPTED,
  NOT_TAKEN,
  rejectionText,
  SKIPPED_BESIDE_ACCEPTED,
  SKIPPED_BESIDE_REJECTED,
} from './prompt.ts';

export interface BatchOptions {
  readonly toolbox: Toolbox;
  readonly contract: Contract;
  /** Decides whether a valid payload rests on enough; absent if any does. Called once `ready` has resolved. */
  readonly evidence?: () => Promise<EvidenceReview>;
  /** Resolves when the sandbox has passed its self-test; no payload is accepted before. */
  readonly ready: () => Promise<void>;
  /** Aborted with a `RunStop` on timeout or on a signal, or with an error if the run cannot continue. */
  readonly signal: AbortSignal;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly emit: (event: RunEvent) => void;
}

export interface BatchTurn extends BatchOptions {
  readonly record: { toolCalls: number; readonly totals: Totals };
  /** Receives what the results show, by the ids of their calls. */
  readonly sources: Map<string, ResultSource>;
  /** Whether no further turn is left. */
  readonly isLast: () => boolean;
}

export interface Batch {
  /** How the run ended; null if it goes on. */
  readonly ended: Outcome | null;
  /** Exactly one result for each call, in the order of the calls. */
  readonly results: readonly ToolResult[];
  /** The redacted issues of each rejected `structured_output` call. */
  readonly rejected: readonly (readonly RedactedIssue[])[];
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
export async function runBatch(calls: readonly ToolCall[], turn: BatchTurn): Promise<Batch> {
  const isTerminal =
    turn.toolbox.has(STRUCTURED_OUTPUT_NAME) && calls.some(({ name }) => name === STRUCTURED_OUTPUT_NAME);
  return isTerminal ? judge(calls, turn) : execute(calls, turn);
}

async function execute(calls: readonly ToolCall[], turn: BatchTurn): Promise<Batch> {
  const { toolbox, signal, record, now, emit } = turn;
  const results: ToolResult[] = [];
  for (const call of calls) {
    const { ref, source, run } = await toolbox.read(call);
    // Nothing may be started after the end of a run.
    signal.throwIfAborted();
    emit({ type: 'tool_started', turn: record.totals.turns, call: ref });
    const started = now();
    const { content, isError, ran } = await race(run(signal), signal);
    if (ran) record.toolCalls += 1;
    if (source !== null) turn.sources.set(call.id, source);
    const decision = isError ? 'error' : 'ok';
    results.push(settle(ref, { decision, content, durationMs: now() - started }, turn));
  }
  const unknown = calls.filter(({ name }) => name === STRUCTURED_OUTPUT_NAME);
  const refused = joinRefused(unknown.map(({ rawArguments }) => rawArguments));
  return { ended: null, results, rejected: [], refused };
}

async function judge(calls: readonly ToolCall[], turn: BatchTurn): Promise<Batch> {
  const judged = new Map<ToolCall, Judged>();
  let ended: Outcome | null = null;
  for (const call of calls) {
    if (call.name !== STRUCTURED_OUTPUT_NAME) continue;
    const judgement = await judgeCall(call, turn);
    judged.set(call, judgement);
    ended = judgement.ended;
    if (ended !== null) break;
    // Validating a pathological payload blocks the thread until its deadline; this lets signals and timers run.
    await new Promise((resolve) => setImmediate(resolve));
    turn.signal.throwIfAborted();
  }
  const content = ended === null ? SKIPPED_BESIDE_REJECTED : SKIPPED_BESIDE_ACCEPTED;
  const results: ToolResult[] = [];
  for (const call of calls) {
    const { ref } = await turn.toolbox.read(call);
    results.push(settle(ref, judged.get(call) ?? { decision: 'skipped', content, durationMs: 0 }, turn));
  }
  const rejections = [...judged].filter(([, judgement]) => judgement.ended === null);
  return {
    ended,
    results,
    rejected: rejections.map(([, { issues }]) => issues),
    refused: rejections.some(([, { isValid }]) => isValid)
      ? ''
      : joinRefused(rejections.map(([{ rawArguments }, { issues }]) => [rawArguments, issues])),
  };
}

interface Settled {
  readonly decision: CallDecision;
  /** For the model. */
  readonly content: string;
  /** For records, if it is not the same: a message to the model may quote its payload. */
  readonly recorded?: string;
  readonly durationMs: number;
}

interface Judged extends Settled {
  /** Whether the contract accepts the payload. */
  readonly isValid: boolean;
  readonly issues: readonly RedactedIssue[];
  /** How it ends the run; null if the call is sent back. */
  readonly ended: Outcome | null;
}

async function judgeCall(call: ToolCall, turn: BatchTurn): Promise<Judged> {
  const started = turn.now();
  const check = await turn.contract.accept(call);
  // Without the wait for the sandbox, which is not part of the call.
  const durationMs = turn.now() - started;
  const sendBack = (content: string, issues: readonly RedactedIssue[]): Judged => ({
    decision: 'rejected',
    content,
    recorded: `Rejected: ${listIssues(issues)}`,
    durationMs,
    isValid: check.ok,
    issues,
    ended: null,
  });
  if (!check.ok) return sendBack(rejectionText(check.issues), check.redacted);
  await turn.ready();
  const submission = { payload: check.payload, repaired: check.repaired };
  const review = await turn.evidence?.();
  const decision: Decision = review
    ? await review.review(submission, turn.isLast())
    : { kind: 'taken', submission };
  if (decision.kind === 'rejected') return sendBack(decision.text, decision.issues);
  const ended = outcomeOf(decision);
  return decision.kind === 'taken'
    ? { decision: 'accepted', content: ACCEPTED, durationMs, isValid: true, issues: [], ended }
    : { decision: 'rejected', content: NOT_TAKEN, durationMs, isValid: true, issues: [], ended };
}

export function outcomeOf(decision: FinalDecision): Outcome {
  if (decision.kind === 'taken') return { kind: 'submitted', ...decision.submission };
  return { kind: 'weak', text: decision.text };
}

/** Reports what became of a call, and returns its result. */
function settle(call: CallRef, settled: Settled, { record, emit }: BatchTurn): ToolResult {
  const { decision, content, recorded, durationMs } = settled;
  const isError = decision !== 'ok' && decision !== 'accepted';
  // Model APIs reject half of a surrogate pair, which a cut text can end with.
  const result = { callId: call.id, content: content.toWellFormed(), isError };
  const { totals } = record;
  const shown = { ...result, content: recorded ?? result.content };
  emit({ type: 'tool_finished', turn: totals.turns, call, decision, durationMs, result: shown, totals });
  return result;
}

/** Returns one text for refused calls; a call that is in the turn twice counts once. */
function joinRefused(refused: readonly unknown[]): string | null {
  const texts = new Set(refused.map((each) => JSON.stringify(each)));
  return texts.size === 0 ? null : [...texts].join('\n');
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
