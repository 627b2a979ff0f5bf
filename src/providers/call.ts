/**
 * One call of a model: what the retries of the SDKs leave over, a limit on silence, and the calls of tools as the loop
 * takes them and as servers accept them in a history.
 */
import { causeCode, NetworkError, ProviderError } from '../errors.ts';
import { isDeeperThan, objectOf } from '../text/json.ts';
import { JSON_TEXT } from '../text/limits.ts';
import { quote } from '../text/messages.ts';
import { race } from '../text/wait.ts';
import type { Json, JsonObject, Message, ToolCall } from '../types.ts';
import { BrokenAnswer, explainFailure, longWaitOf } from './errors.ts';
import type { AdapterSettings, Completion, CompletionRequest, Provider } from './provider.ts';

/** How often the SDKs repeat a request: for about a minute, because their pauses grow to 8 s. */
const RETRIES = 10;

/** A call's argument text, in UTF-16 code units: its parsers cannot be interrupted. */
export const MAX_ARGUMENTS = 2 * 1024 ** 2;
/** The name of a call, which is searched for secrets in every sink. */
const MAX_NAME = 4 * 1024;

/** How often a request is sent whose answer breaks off, after which the SDKs do not repeat it. */
const TRIES = 3;

/** The longest delay of a timer: a run has a clock of its own, and the SDKs would give up after ten minutes. */
const NO_TIMEOUT = 2 ** 31 - 1;

/** The headers of the SDKs that belong to the API. The others are a placeholder, facts about this machine, and variables. */
const API_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'anthropic-version']);

type Attempt = ReturnType<typeof startAttempt>;

/** An answer in the words of no API. */
export interface Answer extends Pick<Completion, 'usage' | 'model'> {
  readonly text: string;
  readonly calls: readonly GivenCall[];
  /** null if the model came to an end of its own. */
  readonly stopReason: 'length' | 'refusal' | 'pause' | null;
  /** Returns the turn as the API accepts it in a history, given its calls. */
  readonly replay: (calls: readonly ReplayableCall[]) => unknown;
}

/** Creates a provider that repeats a request if the answer breaks off. @param type what the API answers with */
export function createAdapter(
  settings: AdapterSettings,
  type: string,
  ask: (request: CompletionRequest, attempt: Attempt) => Promise<Answer>,
): Provider {
  const { provider: name, model, host, retryPauseMs } = settings;
  const complete = async (request: CompletionRequest): Promise<Completion> => {
    const { signal, notify, toolChoice, messages } = request;
    for (let tries = 1; ; tries += 1) {
      signal.throwIfAborted();
      const attempt = startAttempt(settings, request, type);
      try {
        return completionOf(await ask(request, attempt), messages, model);
      } catch (thrown) {
        signal.throwIfAborted();
        const reason = attempt.signal.aborted ? attempt.signal.reason : thrown;
        const { error, again, isBlocked } = explainFailure(reason, settings, toolChoice !== 'auto');
        const message = { role: 'assistant', text: '', toolCalls: [], native: null } as const;
        if (isBlocked) return { message, stopReason: 'refusal', usage: null, model };
        if (again === undefined || tries === TRIES) throw error;
        notify(`${host} ${again}: try ${tries + 1} of ${TRIES} follows`);
      } finally {
        attempt.end();
      }
      await race(new Promise((resolve) => setTimeout(resolve, retryPauseMs * tries)), signal);
    }
  };
  return { name, model, host, complete };
}

function completionOf(answer: Answer, messages: CompletionRequest['messages'], asked: string): Completion {
  const { text, usage, model } = answer;
  const toolCalls = identify(answer.calls, answer.stopReason !== null, messages);
  const native = answer.replay(toolCalls.map(replayable));
  const stopReason = answer.stopReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'end');
  const message = { role: 'assistant', text, toolCalls, native } as const;
  return { message, stopReason, usage, model: model || asked };
}

function startAttempt(
  { baseUrl: baseURL, fetch: send, headers, host, idleTimeoutMs }: AdapterSettings,
  { signal, notify }: CompletionRequest,
  answer: string,
) {
  const stop = new AbortController();
  const giveUp = (reason: Error): never => {
    stop.abort(reason);
    throw reason;
  };
  let timer: NodeJS.Timeout | undefined;
  const isAlive = () => {
    clearTimeout(timer);
    const silence = new BrokenAnswer(`was silent for ${idleTimeoutMs / 1_000} s`);
    // A whole answer takes as long as the model thinks.
    if (answer === 'text/event-stream') timer = setTimeout(() => stop.abort(silence), idleTimeoutMs);
  };
  let tries = 0;
  let before = '';
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    tries += 1;
    if (tries > 1) notify(`${host} ${before}: try ${tries} of ${RETRIES + 1}`);
    isAlive();
    const given = [...new Headers(init?.headers)].filter(([name]) => API_HEADERS.has(name));
    const request = { ...init, headers: { ...Object.fromEntries(given), ...headers } };
    const response = await send(input, request).catch((error) => {
      before = `could not be reached (${causeCode(error) ?? 'no answer'})`;
      if (error instanceof NetworkError && !error.passing) giveUp(error);
      throw error;
    });
    before = `answered ${response.status}`;
    const type = response.headers.get('content-type') ?? '';
    if (response.ok && type !== '' && !type.includes(answer)) giveUp(notACompletion(host, quote(type)));
    const watch = new TransformStream({
      transform(piece: Uint8Array<ArrayBuffer>, controller: TransformStreamDefaultController) {
        isAlive();
        controller.enqueue(piece);
      },
    });
    const watched = new Response(response.body?.pipeThrough(watch) ?? null, response);
    // Keeps the SDKs from repeating the request.
    if (longWaitOf(response.headers) > 0) watched.headers.set('x-should-retry', 'false');
    return watched;
  };
  // The key is a placeholder, so that none is looked for: the headers hold it, and must not follow a redirect.
  const client = {
    baseURL,
    apiKey: 'unused',
    fetch,
    fetchOptions: { redirect: 'manual' },
    maxRetries: RETRIES,
    timeout: NO_TIMEOUT,
    logLevel: 'off',
  } as const;
  return { client, signal: AbortSignal.any([signal, stop.signal]), end: () => clearTimeout(timer) };
}

/** The error for an answer that is not what was asked for: `what` it is instead. */
export function notACompletion(host: string, what: string): ProviderError {
  const sentence = `${host} answered with ${what}, which is not a completion. Check \`base-url\`, which often ends in /v1, and any proxy or gateway on the way.`;
  return new ProviderError('error', sentence, { status: 200 });
}

/** A tool call as in the answer, of any server. */
export type GivenCall = Readonly<Partial<Record<'id' | 'name' | 'arguments', unknown>>>;

/**
 * Returns the calls of a turn with ids that are unique in the whole conversation. Servers omit ids, use one id for two
 * calls, and start again from `call_0` each turn, but each call needs exactly one result.
 * @param isCut whether the answer was cut, so that it is unknown which of its calls are complete
 */
export function identify(
  calls: readonly GivenCall[],
  isCut: boolean,
  messages: readonly Message[],
): readonly ToolCall[] {
  const turns = messages.filter((message) => message.role === 'assistant');
  const used = new Set(turns.flatMap((turn) => turn.toolCalls.map((call) => call.id)));
  return calls.map((call, n) => {
    const wanted = String(call.id || `call_${turns.length + 1}_${n + 1}`);
    let id = wanted;
    for (let copy = 2; used.has(id); copy += 1) id = `${wanted}_${copy}`;
    used.add(id);
    const name = String(call.name ?? '').slice(0, MAX_NAME);
    // Some servers send an object, whose duplicate keys are lost.
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {});
    if (text.length > MAX_ARGUMENTS) return { id, name, rawArguments: '', status: 'too_long' };
    return { id, name, rawArguments: text, status: isCut ? 'truncated' : 'complete' };
  });
}

/** A call as every server accepts it in a history: with a valid name, and an object as arguments. */
export interface ReplayableCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  /** The arguments as text: that of the model if every server can parse it. */
  readonly arguments: string;
}

/** Makes a call replayable. Arguments that are not an object become `{}`. */
export function replayable({ id, name, rawArguments }: ToolCall): ReplayableCall {
  const input = parseInput(rawArguments);
  // Half a surrogate pair cannot be sent.
  const mayHoldHalf = /\\u[dD][89a-fA-F]/.test(rawArguments) || !rawArguments.isWellFormed();
  const isUsable = Object.keys(input).length > 0 && !mayHoldHalf;
  return {
    id,
    name: name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown',
    input,
    arguments: isUsable ? rawArguments : JSON.stringify(input),
  };
}

/** Returns `{}` also for what is nested so deeply that serializing it again would overflow the stack. */
function parseInput(text: string): JsonObject {
  try {
    const value: Json = JSON.parse(text, (_, each) =>
      typeof each === 'string' ? each.toWellFormed() : each,
    );
    return isDeeperThan(value, JSON_TEXT.depth) ? {} : objectOf(value);
  } catch {
    return {};
  }
}
