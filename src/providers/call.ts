/** One call of a model: what the retries of the SDKs leave over, and a limit on silence. */
import { causeCode, NetworkError, ProviderError } from '../errors.ts';
import { quote } from '../text/messages.ts';
import { race } from '../text/wait.ts';
import { BrokenAnswer, explainFailure, LONGEST_WAIT, waitOf } from './errors.ts';
import type { AdapterSettings, Completion, CompletionRequest, Provider } from './provider.ts';

/** How often the SDKs repeat a request: for about a minute, because their pauses grow to 8 s. */
const RETRIES = 10;

/** How often a request is sent whose answer breaks off, after which the SDKs do not repeat it. */
const TRIES = 3;

/** The longest delay of a timer: a run has a clock of its own, and the SDKs would give up after ten minutes. */
const NO_TIMEOUT = 2 ** 31 - 1;

/** What an API answers with. Only a stream must not be silent: a whole answer takes as long as the model thinks. */
type Answer = 'application/json' | 'text/event-stream';

/** One request with the retries of the SDK. */
interface Attempt {
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
}

/** How an API is asked. */
interface Api<T> {
  readonly answer: Answer;
  /** Sends a request once, with the retries of the SDK. */
  readonly send: (request: CompletionRequest, attempt: Attempt) => Promise<T>;
  readonly read: (answer: T, messages: CompletionRequest['messages']) => Completion;
}

/** Creates a provider that asks an API, and again if its answer breaks off. */
export function createAdapter<T>(settings: AdapterSettings, api: Api<T>): Provider {
  const { provider: name, model, host } = settings;
  return {
    name,
    model,
    host,
    async complete(request) {
      const answer = await callModel(settings, request, api);
      if (answer === null) return refusal(model);
      const completion = api.read(answer, request.messages);
      return { ...completion, model: completion.model || model };
    },
  };
}

/** A completion without text and calls. */
function refusal(model: string): Completion {
  const message = { role: 'assistant', text: '', toolCalls: [], native: null } as const;
  return { message, stopReason: 'refusal', usage: null, model };
}

/** The options of a client for one attempt. */
export function clientOptions({ baseUrl, headers }: AdapterSettings, { fetch }: Attempt) {
  return {
    baseURL: baseUrl,
    defaultHeaders: headers,
    // A placeholder, so that no key is looked for: the headers hold it.
    apiKey: 'unused',
    fetch,
    // A key must not follow a redirect to another host.
    fetchOptions: { redirect: 'manual' },
    maxRetries: RETRIES,
    timeout: NO_TIMEOUT,
    logLevel: 'off',
  } as const;
}

/**
 * Sends a request, and again if its answer breaks off. Returns null if a filter refused the prompt.
 * @throws ProviderError; the signal's reason as soon as the request is aborted
 */
async function callModel<T>(
  settings: AdapterSettings,
  request: CompletionRequest,
  { answer, send }: Api<T>,
): Promise<T | null> {
  const { host, retryPauseMs } = settings;
  const { signal, notify, toolChoice } = request;
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    const attempt = startAttempt(settings, request, answer);
    try {
      return await send(request, attempt);
    } catch (thrown) {
      signal.throwIfAborted();
      const reason = attempt.stopped.aborted ? attempt.stopped.reason : thrown;
      const { error, again, isBlocked = false } = explainFailure(reason, settings, toolChoice !== 'auto');
      if (isBlocked) return null;
      if (again === undefined || tries === TRIES) throw error;
      notify(`${host} ${again}: try ${tries + 1} of ${TRIES} follows`);
    } finally {
      attempt.end();
    }
    await race(new Promise((resolve) => setTimeout(resolve, retryPauseMs * tries)), signal);
  }
}

function startAttempt(
  { fetch: send, headers, host, idleTimeoutMs }: AdapterSettings,
  { signal, notify }: CompletionRequest,
  answer: Answer,
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
    if (answer === 'text/event-stream') timer = setTimeout(() => stop.abort(silence), idleTimeoutMs);
  };
  let tries = 0;
  let before = '';
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    tries += 1;
    if (tries > 1) notify(`${host} ${before}: try ${tries} of ${RETRIES + 1}`);
    isAlive();
    const response = await send(input, { ...init, headers: ownHeaders(init?.headers, headers) }).catch(
      (error) => {
        before = `could not be reached (${causeCode(error) ?? 'no answer'})`;
        if (error instanceof NetworkError && !error.passing) giveUp(error);
        throw error;
      },
    );
    before = `answered ${response.status}`;
    if (!response.ok) return withoutLongWait(response);
    const type = response.headers.get('content-type') ?? '';
    if (type !== '' && !type.includes(answer)) giveUp(notACompletion(host, quote(type)));
    return answer === 'text/event-stream' ? watched(response, isAlive) : response;
  };
  return {
    fetch,
    signal: AbortSignal.any([signal, stop.signal]),
    stopped: stop.signal,
    end: () => clearTimeout(timer),
  };
}

/** The error for an answer that is not what was asked for: `what` it is instead. */
export function notACompletion(host: string, what: string): ProviderError {
  const sentence = `${host} answered with ${what}, which is not a completion. Check \`base-url\`, which often ends in /v1, and any proxy or gateway on the way.`;
  return new ProviderError('error', sentence, { status: 200 });
}

/** The headers of the SDKs that belong to the API. */
const API_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'anthropic-version']);

/** Removes the other headers of the SDKs: a placeholder for the key, facts about this machine, and what variables hold. */
function ownHeaders(given: RequestInit['headers'], own: AdapterSettings['headers']): Headers {
  const headers = new Headers(given);
  for (const name of [...headers.keys()])
    if (!API_HEADERS.has(name) && !Object.hasOwn(own, name)) headers.delete(name);
  return headers;
}

/** Keeps the SDKs from repeating a request if the server asks to wait for too long. */
function withoutLongWait(response: Response): Response {
  if (!(waitOf(response.headers) > LONGEST_WAIT)) return response;
  const { status, statusText, body } = response;
  const headers = new Headers(response.headers);
  headers.set('x-should-retry', 'false');
  return new Response(body, { status, statusText, headers });
}

/** Calls a function with each piece of a response. */
function watched(response: Response, onPiece: () => void): Response {
  const { body, status, statusText, headers } = response;
  const watch = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      onPiece();
      controller.enqueue(piece);
    },
  });
  return new Response(body?.pipeThrough(watch) ?? null, { status, statusText, headers });
}
