/** The agent loop: requests completions and runs their tool calls until a payload is accepted or a limit is reached. */

import type { Contract } from '../contract/contract.ts';
import { ProviderError, SandboxError } from '../errors.ts';
import type { EvidenceReview, FinalDecision } from '../evidence/review.ts';
import type { Completion, CompletionRequest, Provider } from '../providers/provider.ts';
import type { CallRecord, RunEvent, Totals, TurnRecord } from '../reporters/report-types.ts';
import { JSON_TEXT } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import { NO_USAGE } from '../text/usage.ts';
import { race } from '../text/wait.ts';
import { STRUCTURED_OUTPUT_NAME, type Toolbox } from '../tools/toolbox.ts';
import type { Limit, Message, Outcome, PendingRequest, RedactedIssue, ToolResult } from '../types.ts';
import { outcomeOf, redactMessage, runBatch } from './batch.ts';
import { type Budget, createBudget, type Limits, type Price } from './budget.ts';
import { DROPPED, FORCED_ASK } from './prompt.ts';

export interface AgentOptions {
  readonly sessionId: string;
  readonly provider: Provider;
  readonly toolbox: Toolbox;
  readonly contract: Contract;
  /**
   * Resolves to what decides whether a valid payload rests on enough; absent if any does. Not called before `ready` has
   * resolved.
   */
  readonly evidence?: () => Promise<EvidenceReview>;
  readonly limits: Limits;
  readonly price: Price;
  readonly system: string;
  readonly prompt: string;
  /** Whether a plain-text turn is followed by one request with a forced tool choice. */
  readonly forceOutput: boolean;
  /** Resolves when the sandbox has passed its self-test. */
  readonly ready: () => Promise<void>;
  /** Aborted with a `RunStop` on timeout or on a signal, or with an error if the run cannot continue. */
  readonly signal: AbortSignal;
  /**
   * Aborted with the name of a signal, and only by signals, so that a signal is noticed even if a timeout has already
   * aborted `signal`.
   */
  readonly interrupt: AbortSignal;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly emit: (event: RunEvent) => void;
}

/** Why a run was stopped from outside; the reason of the abort signal. */
export type RunStop = { readonly stop: 'timeout' } | { readonly stop: 'signal'; readonly signal: string };

/** The record of the loop. It is updated during the run, so that the report of a run that fails midway is complete. */
export interface AgentRecord {
  readonly turns: TurnRecord[];
  rejections: number;
  /** Number of tool calls that ran, not counting `structured_output` and skipped calls. */
  toolCalls: number;
  totals: Totals;
}

export function createRecord(): AgentRecord {
  return { turns: [], rejections: 0, toolCalls: 0, totals: { turns: 0, usage: NO_USAGE, costUsd: null } };
}

/**
 * Runs the loop to its end and updates `record` throughout.
 * @throws ProviderError, SandboxError, and bugs; every other outcome is returned.
 */
export async function runAgent(options: AgentOptions, record: AgentRecord): Promise<Outcome> {
  const { signal } = options;
  const memory: Memory = { lastIssues: [], lastText: '', askedAt: null };
  try {
    return await loop(options, record, memory);
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    if (options.interrupt.aborted) return { kind: 'cancelled', signal: String(options.interrupt.reason) };
    const isStopped = signal.aborted && isRunStop(signal.reason);
    if (isStopped || (!signal.aborted && error instanceof ProviderError)) {
      const held = await takeHeld(options, memory.lastIssues);
      if (held !== null) return held;
    }
    if (!signal.aborted) throw error;
    if (isRunStop(signal.reason)) return stopped(signal.reason, memory.lastIssues, pending(options, memory));
    throw signal.reason;
  }
}

/** State for the message of the outcome. */
interface Memory {
  lastIssues: readonly RedactedIssue[];
  /** The last non-empty text of the model: an empty answer must not hide an earlier explanation. */
  lastText: string;
  /** When the request that has no answer yet was sent; null if none is pending. */
  askedAt: number | null;
}

/** How many turns in a row may end with the same refused call of `structured_output`. */
const maxRepeats = 3;

async function loop(options: AgentOptions, record: AgentRecord, memory: Memory): Promise<Outcome> {
  const { provider, toolbox, emit } = options;
  const budget = createBudget(options.limits, options.price);
  const messages: Message[] = [{ role: 'user', text: options.prompt }];
  const ask = createAsk(options, messages);
  let askable = options.forceOutput && toolbox.has(STRUCTURED_OUTPUT_NAME);
  let forced = false;
  let [refused, repeats] = ['', 0];
  const { sessionId, prompt } = options;
  const { model, name } = provider;
  emit({ type: 'run_started', model, provider: name, prompt, sessionId, tools: toolbox.names });

  for (;;) {
    const limit = budget.exhausted();
    if (limit !== null) return outcomeAtLimit(limit, options, memory);
    memory.askedAt = options.now();
    const { turn, completion, calls } = await complete(ask, forced, budget, options, record);
    memory.askedAt = null;
    await observeResults(messages, options);
    const { message, stopReason } = completion;
    if (stopReason === 'refusal') return { kind: 'refused', text: message.text };
    messages.push(message);
    const empty = message.text.trim() === '';
    if (!empty) memory.lastText = message.text;
    if (message.toolCalls.length > 0) {
      const ready = () => readyInSpiteOfTime(options);
      const isLast = () => budget.exhausted() !== null;
      const world = { ...options, ready, turn, record, records: calls, totals: () => record.totals, isLast };
      const batch = await runBatch(message.toolCalls, world);
      record.rejections += batch.rejections;
      if (batch.ended !== null) return batch.ended;
      if (batch.rejections > 0) memory.lastIssues = batch.lastIssues;
      messages.push({ role: 'tool', results: batch.results });
      if (batch.refused !== null) {
        repeats = batch.refused !== '' && batch.refused === refused ? repeats + 1 : 1;
        refused = batch.refused;
        if (repeats === maxRepeats) return outcomeAtLimit('turns', options, memory, true);
      }
      forced = false;
      continue;
    }
    if (!askable || budget.exhausted() === 'turns') {
      const held = await takeHeld(options, memory.lastIssues);
      if (held !== null) return held;
      return { kind: 'plain_text', text: memory.lastText, empty, truncated: stopReason === 'length' };
    }
    askable = false;
    forced = true;
    messages.push({ role: 'user', text: FORCED_ASK });
    emit({ type: 'user_message', text: FORCED_ASK });
  }
}

async function outcomeAtLimit(
  limit: Exclude<Limit, 'time'>,
  options: AgentOptions,
  { lastIssues }: Memory,
  repeated = false,
): Promise<Outcome> {
  const decision = limit === 'turns' ? await giveUp(options, lastIssues) : null;
  if (decision !== null) return outcomeOf(decision);
  const held = await takeHeld(options, lastIssues);
  return held ?? { kind: 'exhausted', limit, lastIssues, ...(repeated ? { repeated } : {}) };
}

/** Returns the request that has no answer; undefined if there is none. */
function pending({ provider, now }: AgentOptions, { askedAt }: Memory): PendingRequest | undefined {
  if (askedAt === null) return undefined;
  return { to: provider.host ?? provider.model, seconds: Math.round((now() - askedAt) / 1_000) };
}

/** Returns what becomes of a payload that was sent back; null if none was. */
async function giveUp(
  options: AgentOptions,
  lastIssues: Memory['lastIssues'],
): Promise<FinalDecision | null> {
  if (options.evidence === undefined || lastIssues.length === 0) return null;
  await readyInSpiteOfTime(options);
  return (await options.evidence()).giveUp();
}

/**
 * Returns how the run ends with a payload that was sent back only because of its findings, and thus would be taken; null
 * if there is none. However the run ends, such a payload is not lost.
 */
async function takeHeld(options: AgentOptions, lastIssues: Memory['lastIssues']): Promise<Outcome | null> {
  const decision = await giveUp(options, lastIssues);
  return decision === null || decision.kind === 'ended' ? null : outcomeOf(decision);
}

/** Notes what the model was shown: the results that were sent with the request it has just answered. */
async function observeResults(
  messages: readonly Message[],
  { evidence, toolbox }: AgentOptions,
): Promise<void> {
  const [asked, answered] = messages.slice(-2);
  if (evidence === undefined || asked?.role !== 'assistant' || answered?.role !== 'tool') return;
  for (const [at, { content }] of answered.results.entries()) {
    const call = asked.toolCalls[at];
    const source = call === undefined ? null : toolbox.source(call);
    // A result that was dropped before this request was not received.
    if (call !== undefined && source !== null && content !== DROPPED)
      (await evidence()).observe({ tool: call.name, target: source, text: content });
  }
}

/**
 * Waits for the self-test of the sandbox, before which nothing is accepted. A timeout in the meantime does not cancel
 * the wait.
 */
async function readyInSpiteOfTime({ ready, signal, interrupt }: AgentOptions): Promise<void> {
  const passed = ready();
  try {
    await race(passed, signal);
  } catch (error) {
    if (!isRunStop(signal.reason) || signal.reason.stop !== 'timeout') throw error;
    await race(passed, interrupt);
  }
}

/**
 * Requests one completion, counts, reports and records it; the calls of the turn are added to `calls` as they are
 * settled.
 */
async function complete(
  ask: (force: boolean) => Promise<Completion>,
  forced: boolean,
  budget: Budget,
  { emit, now, limits, toolbox }: AgentOptions,
  record: AgentRecord,
) {
  const turn = record.totals.turns + 1;
  emit({ type: 'turn_started', turn, forced });
  const started = now();
  const completion = limitProse(await ask(forced));
  const { message, stopReason, usage } = completion;
  await budget.add(usage);
  record.totals = budget.totals();
  if (usage === null && (limits.maxTotalTokens !== null || limits.maxCostUsd !== null)) {
    const text =
      'The server reports no usage: the limit on tokens or money cannot be measured and counts as reached.';
    emit({ type: 'notice', level: 'warning', text });
  }
  const durationMs = now() - started;
  const redacted = redactMessage(message, toolbox.has);
  emit({
    type: 'turn_completed',
    turn,
    durationMs,
    usage,
    totals: record.totals,
    stopReason,
    message: redacted,
  });
  const calls: CallRecord[] = [];
  record.turns.push({ turn, forced, durationMs, usage, calls });
  return { turn, completion, calls };
}

/** Leaves out the end of a text that is longer than any model's; the history of the provider keeps all of it. */
function limitProse(completion: Completion): Completion {
  const { message } = completion;
  return { ...completion, message: { ...message, text: truncate(message.text, JSON_TEXT.prose) } };
}

/**
 * Returns a function that requests completions for a growing conversation. If a provider rejects a forced tool choice,
 * the request is repeated without it in the same turn; a run forces only once, so this need not be remembered. If the
 * conversation is too long, its oldest large results are dropped permanently and it is sent again, as long as there are
 * any.
 */
function createAsk(options: AgentOptions, messages: Message[]): (force: boolean) => Promise<Completion> {
  const { provider, toolbox, system, signal, emit } = options;
  const notify = (text: string) => emit({ type: 'notice', level: 'info', text });
  const complete = (toolChoice: CompletionRequest['toolChoice']) =>
    race(
      provider.complete({
        system,
        tools: toolbox.specs,
        messages: [...messages],
        toolChoice,
        signal,
        notify,
      }),
      signal,
    );
  const request = async (toolChoice: CompletionRequest['toolChoice']): Promise<Completion> => {
    for (;;) {
      try {
        return await complete(toolChoice);
      } catch (error) {
        const isTooLong = error instanceof ProviderError && error.failure === 'context_overflow';
        const short = isTooLong ? shortened(messages) : null;
        if (short === null) throw error;
        messages.splice(0, messages.length, ...short.messages);
        notify(droppedNotice(short, provider.model));
      }
    }
  };

  return async (force) => {
    if (!force) return request('auto');
    try {
      return await request({ tool: STRUCTURED_OUTPUT_NAME });
    } catch (error) {
      if (!(error instanceof ProviderError) || error.failure !== 'tool_choice') throw error;
      notify(`${provider.model} refuses a forced tool choice: asking without`);
      return request('auto');
    }
  };
}

function droppedNotice({ dropped, characters }: Shortened, model: string): string {
  const what = dropped === 1 ? 'the oldest large tool result' : `the ${dropped} oldest large tool results`;
  return `the conversation is too long for ${model}: dropped ${what} (${characters.toLocaleString('en')} characters) and asking again`;
}

/** Returns the outcome of a run that was stopped from outside. */
export function stopped(
  stop: RunStop,
  lastIssues: readonly RedactedIssue[],
  request?: PendingRequest,
): Outcome {
  if (stop.stop === 'signal') return { kind: 'cancelled', signal: stop.signal };
  return {
    kind: 'exhausted',
    limit: 'time',
    lastIssues,
    ...(request === undefined ? {} : { pending: request }),
  };
}

/** Whether the reason of an abort is a stop from outside rather than an error. */
export function isRunStop(reason: unknown): reason is RunStop {
  return typeof reason === 'object' && reason !== null && 'stop' in reason;
}

/**
 * Minimum length in characters of results that are worth dropping; several times the length of the replacement text.
 */
export const largeResult = 4 * DROPPED.length;

export interface Shortened {
  /** As many messages as before, in the same order; unchanged messages are the same objects. */
  readonly messages: readonly Message[];
  /** Number of results dropped this time, at least one. */
  readonly dropped: number;
  /** Number of characters by which the conversation became shorter. */
  readonly characters: number;
}

/**
 * Drops the oldest large results with at least half of the characters of all large results, so that a few rounds reduce
 * a conversation of any length to what cannot be dropped. Every call keeps its result, which is then one sentence. The
 * newest batch is only affected if nothing else is large. Returns null if there are no large results.
 */
export function shortened(messages: readonly Message[]): Shortened | null {
  const goes = oldestHalf(largeResults(messages));
  if (goes.size === 0) return null;
  let characters = 0;
  const short = messages.map((message) => {
    if (message.role !== 'tool' || !message.results.some((result) => goes.has(result))) return message;
    const results = message.results.map((result) => {
      if (!goes.has(result)) return result;
      characters += result.content.length - DROPPED.length;
      return { ...result, content: DROPPED };
    });
    return { ...message, results };
  });
  return { messages: short, dropped: goes.size, characters };
}

/**
 * Returns the large results in the order of the conversation; those of the newest batch only if there are no others.
 */
function largeResults(messages: readonly Message[]): readonly ToolResult[] {
  const batches = messages.flatMap((message) => (message.role === 'tool' ? [message.results] : []));
  const isLarge = ({ content }: ToolResult) => content.length > largeResult;
  const older = batches.slice(0, -1).flat().filter(isLarge);
  return older.length > 0 ? older : (batches.at(-1) ?? []).filter(isLarge);
}

/** Returns the first results that together have at least half of the characters of all. */
function oldestHalf(results: readonly ToolResult[]): ReadonlySet<ToolResult> {
  const goes = new Set<ToolResult>();
  let left = results.reduce((sum, { content }) => sum + content.length, 0) / 2;
  for (const result of results) {
    if (left <= 0) break;
    goes.add(result);
    left -= result.content.length;
  }
  return goes;
}
