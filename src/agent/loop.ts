/** The agent loop: requests completions and runs their tool calls until a payload is accepted or a limit is reached. */
import { ProviderError, SandboxError } from '../errors.ts';
import type { Completion, CompletionRequest, Provider } from '../providers/provider.ts';
import type { Totals } from '../reporters/report-types.ts';
import { NO_USAGE } from '../text/figures.ts';
import { counted, truncate } from '../text/messages.ts';
import { race } from '../text/wait.ts';
import { type ResultSource, STRUCTURED_OUTPUT_NAME } from '../tools/toolbox.ts';
import type { Message, Outcome, PendingRequest, RedactedIssue, ToolResult } from '../types.ts';
import { type BatchOptions, outcomeOf, redactMessage, runBatch } from './batch.ts';
import { type Budget, createBudget, type Limits, type Price } from './budget.ts';
import { DROPPED, FORCED_ASK } from './prompt.ts';

export interface AgentOptions extends BatchOptions {
  readonly sessionId: string;
  readonly provider: Provider;
  readonly limits: Limits;
  readonly price: Price;
  readonly system: string;
  readonly prompt: string;
  /** Whether a plain-text turn is followed by one request with a forced tool choice. */
  readonly forceOutput: boolean;
  /** Aborted with the name of a signal, and only by signals: one is noticed even after a timeout aborted `signal`. */
  readonly interrupt: AbortSignal;
}

/** Why a run was stopped from outside; the reason of the abort signal. */
export type RunStop = { readonly stop: 'timeout' } | { readonly stop: 'signal'; readonly signal: string };

/** Updated during the run, so that the report of a run that fails midway is complete. */
export interface AgentRecord {
  rejections: number;
  /** Number of tool calls that ran, not counting `structured_output` and skipped calls. */
  toolCalls: number;
  totals: Totals;
}

export function createRecord(): AgentRecord {
  return { rejections: 0, toolCalls: 0, totals: { turns: 0, usage: NO_USAGE, costUsd: null } };
}

/** How many turns in a row may end with the same refused call of `structured_output`. */
const MAX_REPEATS = 3;
/** The most characters of the prose of a turn, which is longer than any model's. */
const MAX_PROSE = 2 * 1024 * 1024;
/** Results with more characters are worth dropping. */
const LARGE_RESULT = 1024;

interface Run extends AgentOptions {
  readonly record: AgentRecord;
  readonly budget: Budget;
  readonly messages: Message[];
  /** What the results of the last turn show, by the ids of their calls. */
  readonly sources: Map<string, ResultSource>;
  /** What was wrong with the last rejected payload. */
  lastIssues: readonly RedactedIssue[];
  /** The last text of the model that is not empty: an empty answer must not hide an earlier explanation. */
  lastText: string;
  /** When the request that has no answer yet was sent; null if none is pending. */
  askedAt: number | null;
  /** What the log says last of that request, for example that the server answered 503; null for nothing. */
  notice: string | null;
}

/** Runs the loop, and updates `record` throughout. @throws ProviderError, SandboxError, and bugs */
export async function runAgent(options: AgentOptions, record: AgentRecord): Promise<Outcome> {
  const { signal, interrupt } = options;
  const run: Run = {
    ...options,
    record,
    budget: createBudget(options.limits, options.price),
    messages: [{ role: 'user', text: options.prompt }],
    sources: new Map(),
    lastIssues: [],
    lastText: '',
    askedAt: null,
    notice: null,
  };
  try {
    return await loop(run);
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    if (interrupt.aborted) return { kind: 'cancelled', signal: String(interrupt.reason) };
    if (signal.aborted) {
      if (!isRunStop(signal.reason)) throw signal.reason;
      return end(run, stopped(signal.reason, run.lastIssues, pendingRequest(run)));
    }
    const outcome = error instanceof ProviderError ? await end(run, null) : null;
    if (outcome === null) throw error;
    return outcome;
  }
}

async function loop(run: Run): Promise<Outcome> {
  const { sessionId, prompt, provider, toolbox, budget, messages, record, emit } = run;
  const { name, model } = provider;
  emit({ type: 'run_started', model, provider: name, prompt, sessionId, tools: toolbox.names });
  let canForce = run.forceOutput && toolbox.has(STRUCTURED_OUTPUT_NAME);
  let forced = false;
  let refused: string | null = null;
  let repeats = 0;

  for (;;) {
    const limit = budget.exhausted();
    if (limit !== null) return end(run, { kind: 'exhausted', limit, lastIssues: run.lastIssues });
    const { message, stopReason } = await complete(run, forced);
    await observeResults(run);
    if (stopReason === 'refusal') return end(run, { kind: 'refused', text: message.text });
    messages.push(message);
    const empty = message.text.trim() === '';
    if (!empty) run.lastText = message.text;
    if (message.toolCalls.length === 0) {
      const truncated = stopReason === 'length';
      if (!canForce || budget.exhausted() === 'turns')
        return end(run, { kind: 'plain_text', text: run.lastText, empty, truncated });
      canForce = false;
      forced = true;
      messages.push({ role: 'user', text: FORCED_ASK });
      emit({ type: 'user_message', text: FORCED_ASK });
      continue;
    }
    forced = false;
    run.sources.clear();
    const ready = () => readyInSpiteOfTime(run);
    const isLast = () => budget.exhausted() !== null;
    const batch = await runBatch(message.toolCalls, { ...run, ready, isLast });
    record.rejections += batch.rejected.length;
    if (batch.ended !== null) return batch.ended;
    run.lastIssues = batch.rejected.at(-1) ?? run.lastIssues;
    messages.push({ role: 'tool', results: batch.results });
    repeats = batch.refused && batch.refused === refused ? repeats + 1 : 1;
    refused = batch.refused;
    if (repeats === MAX_REPEATS)
      return end(run, { kind: 'exhausted', limit: 'turns', lastIssues: run.lastIssues, repeated: true });
  }
}

/**
 * Decides every ending without an accepted payload. One that was sent back only for its findings is taken after all; one
 * that rests on too little is named if no turn is left. In all other cases the run ends as it would without evidence.
 */
async function end<Ending extends Outcome | null>(run: Run, ending: Ending): Promise<Outcome | Ending> {
  if (run.evidence === undefined || run.lastIssues.length === 0) return ending;
  await readyInSpiteOfTime(run);
  const decision = await (await run.evidence()).giveUp();
  if (decision === null) return ending;
  const isOutOfTurns = ending?.kind === 'exhausted' && ending.limit === 'turns';
  return decision.kind === 'taken' || isOutOfTurns ? outcomeOf(decision) : ending;
}

/** Notes what the model was shown: the results that were sent with the request it has just answered. */
async function observeResults({ messages, sources, evidence }: Run): Promise<void> {
  const sent = messages.at(-1);
  if (evidence === undefined || sent?.role !== 'tool') return;
  for (const { callId, content } of sent.results) {
    const source = sources.get(callId);
    // A result that was dropped before this request was not received.
    if (source !== undefined && content !== DROPPED) (await evidence()).observe({ ...source, text: content });
  }
}

/** Waits for the self-test of the sandbox, before which nothing is accepted. A timeout does not cancel the wait. */
async function readyInSpiteOfTime({ ready, signal, interrupt }: Run): Promise<void> {
  const passed = ready();
  try {
    await race(passed, signal);
  } catch (error) {
    if (!isRunStop(signal.reason) || signal.reason.stop !== 'timeout') throw error;
    await race(passed, interrupt);
  }
}

/** Requests one completion, counts it and reports it. */
async function complete(run: Run, forced: boolean) {
  const { record, budget, limits, toolbox, now, emit } = run;
  const turn = record.totals.turns + 1;
  emit({ type: 'turn_started', turn, forced });
  const started = now();
  run.askedAt = started;
  run.notice = null;
  const completion = await ask(run, forced);
  run.askedAt = null;
  const { stopReason, usage } = completion;
  // The history of the provider keeps all of it.
  const message = { ...completion.message, text: truncate(completion.message.text, MAX_PROSE) };
  await budget.add(usage);
  const totals = budget.totals();
  record.totals = totals;
  if (usage === null && (limits.maxTotalTokens !== null || limits.maxCostUsd !== null)) {
    const text =
      'The server reports no usage: the limit on tokens or money cannot be measured and counts as reached.';
    emit({ type: 'notice', level: 'warning', text });
  }
  const durationMs = now() - started;
  const shown = redactMessage(message, toolbox.has);
  emit({ type: 'turn_completed', turn, durationMs, usage, totals, stopReason, message: shown });
  return { message, stopReason };
}

/**
 * Requests one completion. If a provider rejects a forced tool choice, the request is repeated without it in the same
 * turn; a run forces only once, so this need not be remembered. If the conversation is too long, it is sent again without
 * its older large results, as long as there are any.
 */
async function ask(run: Run, forced: boolean): Promise<Completion> {
  const { provider, toolbox, system, signal, messages, emit } = run;
  const notify = (text: string) => {
    run.notice = text;
    emit({ type: 'notice', level: 'info', text });
  };
  let toolChoice: CompletionRequest['toolChoice'] = forced ? { tool: STRUCTURED_OUTPUT_NAME } : 'auto';
  for (;;) {
    const request = { system, tools: toolbox.specs, messages: [...messages], toolChoice, signal, notify };
    try {
      return await race(provider.complete(request), signal);
    } catch (error) {
      const failure = error instanceof ProviderError ? error.failure : null;
      const dropped = failure === 'context_overflow' ? dropOlderResults(messages) : 0;
      if (dropped > 0) {
        const what = counted(dropped, 'old tool result');
        notify(`the conversation is too long for ${provider.model}: dropped ${what}, asking again`);
      } else if (failure === 'tool_choice' && toolChoice !== 'auto') {
        notify(`${provider.model} refuses a forced tool choice: asking without`);
        toolChoice = 'auto';
      } else throw error;
    }
  }
}

/** Replaces the older half of the large results by one sentence, for good. Returns how many; 0 if none is large. */
function dropOlderResults(messages: Message[]): number {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
  const large = results.filter(({ content }) => content.length > LARGE_RESULT);
  const older = new Set(large.slice(0, Math.ceil(large.length / 2)));
  const drop = (result: ToolResult) => (older.has(result) ? { ...result, content: DROPPED } : result);
  for (const [at, message] of messages.entries())
    if (message.role === 'tool') messages[at] = { role: 'tool', results: message.results.map(drop) };
  return older.size;
}

/** Returns the request that has no answer; undefined if there is none. */
function pendingRequest({ provider, now, askedAt, notice }: Run): PendingRequest | undefined {
  if (askedAt === null) return undefined;
  return { to: provider.host ?? provider.model, seconds: Math.round((now() - askedAt) / 1_000), notice };
}

export function stopped(
  stop: RunStop,
  lastIssues: readonly RedactedIssue[],
  pending?: PendingRequest,
): Outcome {
  if (stop.stop === 'signal') return { kind: 'cancelled', signal: stop.signal };
  return { kind: 'exhausted', limit: 'time', lastIssues, ...(pending === undefined ? {} : { pending }) };
}

/** Whether the reason of an abort is a stop from outside rather than an error. */
export function isRunStop(reason: unknown): reason is RunStop {
  return typeof reason === 'object' && reason !== null && 'stop' in reason;
}
