/**
 * Requests one completion over an unreliable connection: sends the request, retries it, and reads the response to the
 * end.
 */
import { NetworkError, ProviderError } from '../errors.ts';
import { isDeeperThan, parseOrUndefined, rawSlice } from '../text/json.ts';
import { JSON_TEXT, READ } from '../text/limits.ts';
import { race } from '../text/wait.ts';
import type { JsonObject } from '../types.ts';
import {
  type ApiFailure,
  brokenOff,
  type FailureContext,
  isTooLate,
  providerError,
  silenceError,
} from './errors.ts';
import type { AdapterSettings, CompletionRequest } from './provider.ts';
import { objectOf, objectsOf, textOf } from './tool-calls.ts';
import {
  createTooLongError,
  doneType,
  type FailedTry,
  isEventStream,
  retrySentence,
  type TransportOptions,
} from './transport.ts';

/**
 * Maximum number of retries of one request, made by the SDK if there is no response or its status calls for it: about a
 * minute, because the SDK's pauses grow to 8 s.
 */
export const maxRetries = 10;

/** How often a whole request is sent if its response breaks off. */
export const maxRequests = 3;

/**
 * The longest timeout of a timer, in milliseconds: the SDKs' own limit of ten minutes would cut off a slow response.
 */
const noTimeout = 2 ** 31 - 1;

/** Maximum number of events in a stream; the longest completions of models have a third of it. */
const maxEvents = 500_000;

/** Events that end a stream: those of chat completions, Anthropic and OpenAI's responses. */
const lastEvents = new Set([
  doneType,
  'message_stop',
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** The options of one request that both SDKs accept. */
export interface SendOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly maxRetries: number;
  /** Part of the SDKs' own `RequestInit`, with options that only the transport reads. */
  readonly fetchOptions: Partial<Record<'headers' | 'signal' | 'body' | 'method', never>> & {
    readonly transport: TransportOptions;
  };
}

/** The return type of the SDKs' methods: a stream of typed events if awaited, or the response itself. */
export interface SdkCall extends PromiseLike<unknown> {
  asResponse(): Promise<Response>;
}

export interface Api {
  readonly send: (options: SendOptions) => SdkCall;
  readonly context: FailureContext;
  /** Recognizes the SDK's own error class; null for anything else. */
  readonly asSdkError: (error: unknown) => { readonly error: SdkError; readonly lost: Lost } | null;
  /** Whether a stream reached its end. */
  readonly isWhole: (events: readonly JsonObject[]) => boolean;
  /** Whether a body is a response of this API at all. */
  readonly isResponse: (body: JsonObject) => boolean;
}

/** Why there was no response, according to the class of the SDK's error; null if there was one. */
export type Lost = 'timeout' | 'connection' | null;

/** The fields that the error classes of both SDKs have. */
export interface SdkError {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly error: unknown;
  readonly message: string;
  readonly cause?: unknown;
}

/** The result of one request: a value, or why there is none. */
export type RequestResult<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      /** Whether the response was cut, so that another request may succeed. */
      readonly again: boolean;
      /** With `again`, a clause for the log, such as `host.example broke off its answer`. */
      readonly why?: string;
      readonly error: ProviderError;
    };

/**
 * A whole response: the events of a stream, or a body. `raw` returns the text at a path as the model wrote it, which
 * still shows duplicate keys; null if there is none.
 */
export type ApiResponse =
  | {
      readonly kind: 'events';
      readonly events: readonly JsonObject[];
      readonly raw: (event: JsonObject, path: readonly (string | number)[]) => string | null;
    }
  | {
      readonly kind: 'body';
      readonly body: JsonObject;
      readonly raw: (path: readonly (string | number)[]) => string | null;
    };

/**
 * Sends a request, and repeats it if its response was cut, up to `maxRequests` times in total; each retry is reported.
 * The signal passed to `send` also aborts when this promise settles, so that nothing keeps running.
 * @param pauseMs the pause before the second request; twice that before the third.
 * @throws the last error; the signal's reason as soon as it aborts.
 */
export async function retryRequest<T>(
  { signal, notify }: Pick<CompletionRequest, 'signal' | 'notify'>,
  pauseMs: number,
  send: (signal: AbortSignal) => Promise<RequestResult<T>>,
): Promise<T> {
  signal.throwIfAborted();
  const scope = new AbortController();
  try {
    for (let tries = 1; ; tries += 1) {
      // The openai SDK sleeps between its retries without observing a signal.
      const result = await race(send(scope.signal), signal);
      if (result.ok) return result.value;
      if (!result.again || tries >= maxRequests) throw result.error;
      notify(`${result.why ?? 'the answer ended with an error'}: try ${tries + 1} of ${maxRequests} follows`);
      await race(new Promise((resolve) => setTimeout(resolve, pauseMs * tries)), signal);
    }
  } finally {
    scope.abort();
  }
}

/** Sends one request and reads its response to the end. Reports each retry of the SDK. */
export async function sendRequest(
  api: Api,
  { stream, idleTimeoutMs }: Pick<AdapterSettings, 'stream' | 'idleTimeoutMs'>,
  { signal, notify }: Pick<CompletionRequest, 'signal' | 'notify'>,
): Promise<RequestResult<ApiResponse>> {
  const failed: FailedTry[] = [];
  const texts: string[] = [];
  const silence = silenceError(api.context, idleTimeoutMs);
  let url: URL | null = null;
  const transport: TransportOptions = {
    idleMs: idleTimeoutMs,
    isStream: stream,
    silence,
    onFailedTry(each) {
      failed.push(each);
      if (failed.length > maxRetries || signal.aborted) return;
      notify(`${retrySentence(each, api.context)}: try ${failed.length + 1} of ${maxRetries + 1} follows`);
    },
    onEventText: (text) => texts.push(text),
    onRequest(sent) {
      url = sent;
    },
  };
  try {
    const call = api.send({ signal, timeout: noTimeout, maxRetries, fetchOptions: { transport } });
    const response = await call.asResponse();
    const context = { api, response, idleMs: idleTimeoutMs, silence };
    // A body is read as text, because the SDKs parse it, and duplicate keys in the arguments of a call would be lost.
    if (!isEventStream(response, stream)) return await readBody(context);
    const events = await call;
    return isAsyncIterable(events)
      ? await readEvents(context, events, texts)
      : createCutResult(context, null);
  } catch (error) {
    const known = api.asSdkError(error);
    if (known === null) throw error;
    // The SDKs do not keep the cause of a connection that timed out.
    const cause = known.error.cause ?? failed.at(-1)?.cause;
    const failure = { ...readSdkError(known.error, known.lost), cause };
    return { ok: false, again: false, error: providerError(failure, { ...api.context, url }) };
  }
}

interface ReadContext {
  readonly api: Api;
  readonly response: Response;
  /** Maximum silence in the response, in milliseconds. */
  readonly idleMs: number;
  /** The error with which a read fails after too long a silence. */
  readonly silence: ProviderError;
}

async function readBody(context: ReadContext): Promise<RequestResult<ApiResponse>> {
  const { api, response } = context;
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    return createCutResult(context, error);
  }
  const body = unwrapList(parseOrUndefined(text));
  if (isDeeperThan(body, JSON_TEXT.responseDepth))
    return createTooLargeResult(context, `${JSON_TEXT.responseDepth} levels`);
  if (api.isResponse(body)) return { ok: true, value: { kind: 'body', body, raw: createSlicer(text) } };
  const isJson = Object.keys(body).length > 0;
  // A body that broke off in the middle: it may contain text that must not be shown, and another request may succeed.
  if (!isJson && text.trimStart().startsWith('{')) return createCutResult(context, null);
  const isMarkup = text.trimStart().startsWith('<');
  const error = body['error'] === undefined ? undefined : body;
  const { headers, status } = response;
  const failure = readSdkError({ status: undefined, headers, error, message: isMarkup ? text : '' }, null);
  return createErrorResult(context, failure, status);
}

/** Reads the events of an SDK's stream. `texts` are their original data, in the same order. */
async function readEvents(
  context: ReadContext,
  source: AsyncIterable<unknown>,
  texts: string[],
): Promise<RequestResult<ApiResponse>> {
  const { api } = context;
  const events: JsonObject[] = [];
  const textOfEvent = new Map<JsonObject, string>();
  const iterator = source[Symbol.asyncIterator]();
  let error: unknown = null;
  try {
    for (let n = 0, next = await iterator.next(); next.done !== true; n += 1, next = await iterator.next()) {
      const event = unwrapList(next.value);
      const text = texts[n] ?? '';
      texts[n] = '';
      if (event['error']) return readInnerError(context, event, events);
      const type = textOf(event['type']);
      if (type !== doneType && isMeaningful(event)) {
        if (isDeeperThan(event, JSON_TEXT.responseDepth))
          return createTooLargeResult(context, `${JSON_TEXT.responseDepth} levels`);
        if (events.push(event) > maxEvents) return createTooLargeResult(context, `${maxEvents} events`);
        textOfEvent.set(event, text);
      }
      if (lastEvents.has(type)) break;
    }
  } catch (thrown) {
    // The openai SDK throws the error that an event contains.
    const known = api.asSdkError(thrown);
    if (known !== null) return readInnerError(context, objectOf({ error: known.error.error }), events);
    error = thrown;
  } finally {
    iterator.return?.().catch(() => undefined);
  }
  const raw = (event: JsonObject, path: readonly (string | number)[]) =>
    rawSlice(textOfEvent.get(event) ?? '', path);
  // A missing usage chunk does not invalidate a whole response.
  if (api.isWhole(events)) return { ok: true, value: { kind: 'events', events, raw } };
  return createCutResult(context, error);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/**
 * Returns a function that finds the text at a path of a body. Each lookup scans the whole body; once the scans add up
 * to the maximum response size, nothing more is found, so that a body with many calls cannot block this thread for
 * hours.
 */
function createSlicer(text: string): (path: readonly (string | number)[]) => string | null {
  let walked = 0;
  return (path) => {
    walked += text.length;
    return walked > READ.modelResponse ? null : rawSlice(text, path);
  };
}

/** Whether an event has content; keep-alive events are sent for as long as a model thinks. */
function isMeaningful(event: JsonObject): boolean {
  const { type } = event;
  return type !== 'ping' && type !== 'keepalive' && Object.keys(event).length > 0;
}

/** Reads an error inside a stream; after the end of the stream it means that the response is incomplete. */
function readInnerError(
  context: ReadContext,
  error: JsonObject,
  events: readonly JsonObject[],
): RequestResult<never> {
  if (context.api.isWhole(events)) return createCutResult(context, null);
  const { headers } = context.response;
  return createErrorResult(
    context,
    readSdkError({ status: undefined, headers, error, message: '' }, null),
    null,
  );
}

/** Creates the result for a failure inside a response of status 200, which no SDK retries. */
function createErrorResult(
  { api }: ReadContext,
  failure: ApiFailure,
  status: number | null,
): RequestResult<never> {
  const error = providerError({ ...failure, status: failure.status ?? status }, api.context);
  const why = `${api.context.host} ended its answer with an error`;
  return { ok: false, again: isTransient(failure), why, error };
}

/**
 * Creates the result for a response that ended early. If the transport itself stopped reading, a retry would fail the
 * same way.
 */
function createCutResult(
  { api, response, silence, idleMs }: ReadContext,
  error: unknown,
): RequestResult<never> {
  const { host } = api.context;
  if (error === silence)
    return { ok: false, again: true, why: `${host} was silent for ${idleMs / 1000} s`, error: silence };
  if (error instanceof ProviderError) return { ok: false, again: false, error };
  const isRefused = (error instanceof NetworkError && !error.passing) || isTooLate(error);
  const type = error instanceof NetworkError || isTooLate(error) ? 'connection' : 'cut';
  const failure = { ...brokenOff, type, requestId: requestIdOf(response.headers), cause: error };
  return {
    ok: false,
    again: !isRefused,
    why: `${host} broke off its answer`,
    error: providerError(failure, api.context),
  };
}

function createTooLargeResult({ api, response }: ReadContext, limit: string): RequestResult<never> {
  return { ok: false, again: false, error: createTooLongError(api.context.host, response.status, limit) };
}

/** Whether a failure inside a response may be gone with the next request. */
function isTransient(failure: ApiFailure): boolean {
  // Gateways report a rate limit of the server behind them like this, with HTTP status 200.
  if (failure.status !== null)
    return failure.status >= 500 || failure.status === 429 || failure.status === 408;
  const words = ['overloaded_error', 'api_error', 'server_error', 'timeout_error'];
  return words.includes(failure.type ?? '') || words.includes(failure.code ?? '');
}

/** Google wraps errors in a list. */
function unwrapList(value: unknown): JsonObject {
  return objectOf(Array.isArray(value) ? value[0] : value);
}

function readSdkError(error: SdkError, lost: Lost): ApiFailure {
  const outer = objectOf(error.error);
  const inner = 'error' in outer ? objectOf(outer['error']) : outer;
  const code = inner['code'];
  return {
    status: error.status ?? (typeof code === 'number' && code >= 400 && code < 600 ? code : null),
    type: lost ?? (textOf(inner['type']) || null),
    code: textOf(code) || detailCode(inner['details']) || null,
    param: textOf(inner['param']) || null,
    message: messageOf(inner, error),
    requestId: requestIdOf(error.headers),
    cause: error.cause,
  };
}

/** Returns the code in the details of an error: Anthropic's, or the first of Google's, which are a list. */
function detailCode(details: unknown): string {
  const [first] = objectsOf(details);
  return textOf(objectOf(details)['error_code']) || textOf(first?.value['reason']);
}

function messageOf(inner: JsonObject, error: SdkError): string {
  const message = textOf(inner['message']) || textOf(inner['detail']);
  if (message !== '') return message;
  // Any other part of a body may quote the model's output.
  if (Object.keys(inner).length > 0) return '';
  // Without a readable body, the SDKs put the text after the status.
  const text = error.message.replace(/^\d{3} /, '');
  return text === 'status code (no body)' ? '' : text;
}

/** Returns the server's id of a request; null if it sent none. */
function requestIdOf(headers: Headers | undefined): string | null {
  return headers?.get('x-request-id') ?? headers?.get('request-id') ?? null;
}
