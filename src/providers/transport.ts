/**
 * The only way requests are sent to a model's API: with exact headers, without redirects, and with a limit on every
 * wait.
 */
import type { Transformer } from 'node:stream/web';
import { createParser } from 'eventsource-parser';
import { causeCode, NetworkError, ProviderError } from '../errors.ts';
import { isObject } from '../text/json.ts';
import { READ, WAIT } from '../text/limits.ts';
import { type FailureContext, isTooLate } from './errors.ts';

/** The longest wait that a server's `Retry-After` may impose on one retry. */
export const maxRetryAfterSeconds = WAIT.retryAfter / 1_000;

/**
 * Maximum number of lines in a stream that are not fields of an event: servers send none, and each creates an error
 * object.
 */
const maxUnknownLines = 10_000;

/** A failed attempt that the SDK retries if it has attempts left. */
export interface FailedTry {
  /** null if there was no response. */
  readonly status: number | null;
  /** Why there was no response; null if there was one. */
  readonly cause: unknown;
  /** The wait in seconds that the server requested, uncapped; null if it sent no usable value. */
  readonly askedSeconds: number | null;
}

/** How one request is sent; passed through the SDKs' own `fetchOptions`. */
export interface TransportOptions {
  /** Maximum silence in milliseconds. */
  readonly idleMs: number;
  /**
   * Whether that limit applies, before and within the response; without a stream, only the caller's signal ends the
   * wait.
   */
  readonly isStream: boolean;
  /** The error with which reading the response fails after such a silence. */
  readonly silence: ProviderError;
  readonly onFailedTry: (failed: FailedTry) => void;
  /** Called with the URL of each attempt. */
  readonly onRequest: (url: URL) => void;
  /** Called with the data of each event of a stream before the SDK reads it, once for each event that it yields. */
  readonly onEventText: (text: string) => void;
}

/** `fetch` options that an SDK passes on. */
export interface TransportInit extends RequestInit {
  readonly transport?: TransportOptions;
}

/**
 * Returns a `fetch` for an SDK client. Replaces the headers of the SDK: both SDKs add some from variables such as
 * `OPENAI_CUSTOM_HEADERS`, facts about the machine, and their key, which is a placeholder. Does not follow redirects,
 * which would send `x-api-key` to any host that they name. Decides whether a failed request is retried and passes the
 * decision to the SDK in a header; the SDK waits and repeats the request. Reading a response that is too long, or
 * silent for too long, rejects with a ProviderError, whatever its status was.
 */
export function createTransport(
  send: typeof fetch,
  headers: Readonly<Record<string, string>>,
): (input: string | URL | Request, init?: TransportInit) => Promise<Response> {
  return async (input, { transport, ...init } = {}) => {
    const options: RequestInit = {
      ...init,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      redirect: 'manual',
    };
    const url = new URL(input instanceof Request ? input.url : input);
    const { host } = url;
    transport?.onRequest(url);
    try {
      const response = await fetchWithIdleTimeout(
        (signal) => send(input, { ...options, signal }),
        options.signal,
        transport,
      );
      return response.ok
        ? limitBody(response, host, transport)
        : await normalizeError(response, host, transport);
    } catch (cause) {
      if ((cause instanceof NetworkError && !cause.passing) || isTooLate(cause))
        return createFailingResponse(cause);
      // The SDKs treat every rejection as a lost connection, except for an abort by their caller.
      if (!options.signal?.aborted) transport?.onFailedTry({ status: null, cause, askedSeconds: null });
      throw cause;
    }
  };
}

/** Waits for the headers of a response. After too long a silence, returns a response that fails when it is read. */
async function fetchWithIdleTimeout(
  send: (signal: AbortSignal | null) => Promise<Response>,
  signal: AbortSignal | null | undefined,
  transport: TransportOptions | undefined,
): Promise<Response> {
  const caller = signal ?? null;
  if (!transport?.isStream) return send(caller);
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), transport.idleMs);
  try {
    return await send(AbortSignal.any(caller === null ? [silent.signal] : [silent.signal, caller]));
  } catch (error) {
    if (silent.signal.aborted && !caller?.aborted) return createFailingResponse(transport.silence);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the response with a body that fails, and closes its connection, once it is too long or silent for too long.
 */
function limitBody(response: Response, host: string, transport: TransportOptions | undefined): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const limits = {
    maxBytes: READ.modelResponse,
    tooLong: createTooLongError(host, status, '64 MiB'),
    idleMs: transport?.isStream ? transport.idleMs : null,
    silence: transport?.silence ?? null,
  };
  const limited = applyLimits(limits, body);
  const isEvents = transport !== undefined && isEventStream(response, transport.isStream);
  const content = isEvents ? limited.pipeThrough(normalizeEvents(transport.onEventText)) : limited;
  return new Response(content, { status, statusText, headers });
}

/** Whether a response is a stream of events; `isStream` is what was requested, but some servers send a body anyway. */
export function isEventStream({ headers, body }: Response, isStream: boolean): boolean {
  return isStream && body !== null && !/json|html/.test(headers.get('content-type') ?? '');
}

/** The event type into which `[DONE]` is converted. */
export const doneType = 'structured_agent.done';

/**
 * Rewrites a stream of events for the decoders of the SDKs, with each event as one chunk and under one name:
 * - openai's copies an event for each of its chunks (4 MiB in chunks of 1 KiB take 40 s of CPU time), and prints events
 *   named `thread.…` that are not JSON to the console, where a runner looks for commands;
 * - Anthropic's drops events without a name, and a last event that is not followed by a blank line;
 * - after `[DONE]`, openai's waits for as long as the server keeps the connection open.
 *
 * The data of an event is not changed.
 */
export function normalizeEvents(
  onText: (text: string) => void,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let events: string[] = [];
  let unknownLines = 0;
  const parser = createParser({
    onError() {
      unknownLines += 1;
      if (unknownLines > maxUnknownLines) throw new Error('This is not an event stream.');
    },
    onEvent: ({ data }) => {
      if (data !== '') events.push(data.startsWith('[DONE]') ? `{"type":"${doneType}"}` : data);
    },
  });
  const feed = (text: string, controller: TransformStreamDefaultController) => {
    parser.feed(text);
    for (const data of events) {
      onText(data);
      controller.enqueue(encoder.encode(`event: message\ndata: ${data.replaceAll('\n', '\ndata: ')}\n\n`));
    }
    events = [];
  };
  return new TransformStream({
    transform: (chunk, controller) => feed(decoder.decode(chunk, { stream: true }), controller),
    flush: (controller) => feed(`${decoder.decode()}\n\n`, controller),
  });
}

/** The limits of a body, and the error with which reading it fails beyond them. */
interface BodyLimits {
  readonly maxBytes: number;
  readonly tooLong: ProviderError;
  readonly idleMs: number | null;
  readonly silence: unknown;
}

function applyLimits(
  { maxBytes, tooLong, idleMs, silence }: BodyLimits,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let seen = 0;
  let timer: NodeJS.Timeout | undefined;
  const restartTimer = (controller: TransformStreamDefaultController) => {
    clearTimeout(timer);
    if (idleMs !== null) timer = setTimeout(() => controller.error(silence), idleMs);
  };
  const guard: Transformer<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> = {
    start: restartTimer,
    transform(chunk, controller) {
      seen += chunk.byteLength;
      if (seen > maxBytes) {
        clearTimeout(timer);
        throw tooLong;
      }
      restartTimer(controller);
      controller.enqueue(chunk);
    },
    flush: () => clearTimeout(timer),
    cancel: () => clearTimeout(timer),
  };
  return body.pipeThrough(new TransformStream(guard));
}

export function createTooLongError(host: string, status: number, limit: string): ProviderError {
  const sentence = `${host} answered ${status} with more than ${limit}: that is no completion. Check \`base-url\`, and any proxy or gateway between this machine and the API.`;
  return new ProviderError('error', sentence, { status });
}

/**
 * Creates a response that fails when it is read: an SDK would treat a rejected `fetch` as a lost connection, and retry.
 */
function createFailingResponse(error: unknown): Response {
  const body = new ReadableStream({ start: (controller) => controller.error(error) });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

/** Returns a failed response with a capped wait, the retry decision, and its error in the form that both SDKs read. */
async function normalizeError(
  response: Response,
  host: string,
  transport: TransportOptions | undefined,
): Promise<Response> {
  const headers = new Headers(response.headers);
  const { body, status } = response;
  const askedSeconds = retryAfterSeconds(response.headers);
  const again = isRetried(status, response.headers);
  headers.delete('retry-after-ms');
  headers.delete('retry-after');
  if (askedSeconds !== null) headers.set('retry-after', String(Math.min(askedSeconds, maxRetryAfterSeconds)));
  headers.set('x-should-retry', String(again));
  // The body is decoded here, so the headers about its encoding no longer apply.
  headers.delete('content-encoding');
  headers.delete('content-length');
  const idleMs = Math.min(WAIT.errorPause, transport?.idleMs ?? WAIT.errorPause);
  const text =
    body === null ? '' : await readErrorText(body, createTooLongError(host, status, '256 KiB'), idleMs);
  if (text instanceof ProviderError) return createFailingResponse(text);
  if (again) transport?.onFailedTry({ status, cause: null, askedSeconds });
  // Servers send statuses that the Response constructor rejects, and 304 must not have a body.
  return new Response(status === 304 ? null : nestError(text), { status: Math.min(status, 599), headers });
}

/** Reads the body of a failed response; empty if it does not arrive, an error if it is too long. */
async function readErrorText(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  tooLong: ProviderError,
  idleMs: number,
): Promise<string | ProviderError> {
  const silence = Symbol('silence');
  try {
    return await new Response(
      applyLimits({ maxBytes: READ.modelError, tooLong, idleMs, silence }, body),
    ).text();
  } catch (error) {
    if (error === silence) return '';
    if (error === tooLong) return tooLong;
    throw error;
  }
}

/** Whether both SDKs retry by default, unless the server says otherwise. */
function isRetried(status: number, headers: Headers): boolean {
  const decision = headers.get('x-should-retry');
  if (decision === 'true' || decision === 'false') return decision === 'true';
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/**
 * Returns the wait in seconds from either header; dates are relative to the response's own `Date`. null if there is no
 * usable value.
 */
function retryAfterSeconds(headers: Headers): number | null {
  const value = headers.get('retry-after');
  const date = Date.parse(value ?? '') - Date.parse(headers.get('date') ?? '');
  const candidates = [
    Number.parseFloat(headers.get('retry-after-ms') ?? '') / 1000,
    Number(value ?? Number.NaN),
    date / 1000,
  ];
  return candidates.find((seconds) => Number.isFinite(seconds) && seconds > 0) ?? null;
}

/** Wraps the error in `error`, which the SDKs read; some servers send the error itself as the body. */
function nestError(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    // Google's errors are in a list.
    const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    if (!isObject(body)) return text;
    if (typeof body['error'] === 'string')
      return JSON.stringify({ ...body, error: { message: body['error'] } });
    return JSON.stringify('error' in body ? body : { error: body });
  } catch {
    return text;
  }
}

/**
 * Describes a failed attempt for the log: a status or a local error code, and how long the SDK waits; no server text.
 */
export function retrySentence(
  { status, cause, askedSeconds }: FailedTry,
  { host }: Pick<FailureContext, 'host'>,
): string {
  if (status === null) {
    const code = causeCode(cause);
    return `no answer from ${host}${code === null ? '' : ` (${code})`}`;
  }
  const answered = `${host} answered ${status}`;
  if (askedSeconds === null) return answered;
  const capped = askedSeconds > maxRetryAfterSeconds ? `, waiting ${maxRetryAfterSeconds} s` : '';
  return `${answered} and asked to wait ${seconds(askedSeconds)}${capped}`;
}

/** Formats a wait in whole seconds; a server may request fractions or absurdly long waits. */
function seconds(asked: number): string {
  return asked < 1 ? 'less than 1 s' : `${Math.round(Math.min(asked, 1e9))} s`;
}
