/** The one way a request leaves for a model's API: exact headers, no redirects, waits that end. */
import type { Transformer } from 'node:stream/web';
import { NetworkError, ProviderError } from '../errors.ts';
import { isObject } from '../text/json.ts';
import type { Wording } from '../text/naming.ts';
import { isTooLate } from './causes.ts';
import { afterSilence } from './silence.ts';

/** The longest wait, in seconds, that a server's `Retry-After` may ask of one retry. */
export const maxRetryAfterSeconds = 60;

/** The longest answer that is read, stream or body, in decoded bytes. No model's is a hundredth of it. */
export const maxAnswerBytes = 64 * 1024 * 1024;

/** The longest body of a failed answer that is read, in decoded bytes. */
export const maxErrorBytes = 256 * 1024;

/** The longest silence in the body of a failed answer, in milliseconds; its status says enough without it. */
const errorIdleMs = 10_000;

/** A try that failed in a way that the SDK tries again, as long as it has tries left. */
export interface FailedTry {
  /** null when no answer came. */
  readonly status: number | null;
  /** Why no answer came; null when one did. */
  readonly cause: unknown;
  /** Seconds that the server asked to wait, uncapped; null when it said nothing usable. */
  readonly askedSeconds: number | null;
}

/** What one request asks of the transport; travels in the SDKs' own `fetchOptions`. */
export interface Watch {
  /** The longest silence that is waited for, in milliseconds. */
  readonly idleMs: number;
  /** Whether that holds before an answer and in it too; where it comes in one piece only the caller's signal ends it. */
  readonly isStream: boolean;
  /** What reading the answer fails with after such a silence. */
  readonly silence: ProviderError;
  readonly onFailedTry: (failed: FailedTry) => void;
}

/** `fetch` options that an SDK hands on. */
export interface WatchedInit extends RequestInit {
  readonly watch?: Watch;
}

/**
 * A `fetch` for an SDK client. What the SDK would send of its own accord is replaced whole: both SDKs add headers from
 * variables such as `OPENAI_CUSTOM_HEADERS`, facts about the machine, and the key they hold, which is a placeholder.
 * Redirects are answers, not followed: `x-api-key` would travel to whatever host they name. Whether a failed answer is
 * tried again is decided here and told to the SDK, which then waits and repeats.
 * Reading an answer that is too long, or silent for too long, rejects with a ProviderError, whatever its status was.
 */
export function createTransport(
  send: typeof fetch,
  headers: Readonly<Record<string, string>>,
): (input: string | URL | Request, init?: WatchedInit) => Promise<Response> {
  return async (input, { watch, ...init } = {}) => {
    const options: RequestInit = {
      ...init,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      redirect: 'manual',
    };
    const { host } = new URL(input instanceof Request ? input.url : input);
    try {
      const response = await begun((signal) => send(input, { ...options, signal }), options.signal, watch);
      return response.ok ? guarded(response, host, watch) : await mended(response, host, watch);
    } catch (cause) {
      if ((cause instanceof NetworkError && !cause.passing) || isTooLate(cause)) return unreadable(cause);
      // The SDKs take every rejection but an abort of their caller's for a lost connection.
      if (!options.signal?.aborted) watch?.onFailedTry({ status: null, cause, askedSeconds: null });
      throw cause;
    }
  };
}

/** The beginning of an answer. A server that is silent instead gives one that can only be failed to read. */
async function begun(
  send: (signal: AbortSignal | null) => Promise<Response>,
  signal: AbortSignal | null | undefined,
  watch: Watch | undefined,
): Promise<Response> {
  const caller = signal ?? null;
  if (!watch?.isStream) return send(caller);
  const silent = new AbortController();
  const heard = afterSilence(watch.idleMs, () => silent.abort());
  try {
    return await send(AbortSignal.any(caller === null ? [silent.signal] : [silent.signal, caller]));
  } catch (error) {
    if (silent.signal.aborted && !caller?.aborted) return unreadable(watch.silence);
    throw error;
  } finally {
    heard();
  }
}

/** The answer, whose body fails once it is too long or silent for too long; the connection is closed then. */
function guarded(response: Response, host: string, watch: Watch | undefined): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const limits = {
    maxBytes: maxAnswerBytes,
    tooLong: tooLong(host, status, '64 MiB'),
    idleMs: watch?.isStream ? watch.idleMs : null,
    silence: watch?.silence ?? null,
  };
  return new Response(within(limits, body), { status, statusText, headers });
}

/** What a body may be, and what reading it fails with otherwise. */
interface BodyLimits {
  readonly maxBytes: number;
  readonly tooLong: ProviderError;
  readonly idleMs: number | null;
  readonly silence: unknown;
}

function within(
  { maxBytes, tooLong, idleMs, silence }: BodyLimits,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let seen = 0;
  let heard = () => {};
  const listen = (controller: TransformStreamDefaultController) => {
    heard();
    if (idleMs !== null) heard = afterSilence(idleMs, () => controller.error(silence));
  };
  const guard: Transformer<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> = {
    start: listen,
    transform(chunk, controller) {
      seen += chunk.byteLength;
      if (seen > maxBytes) {
        heard();
        throw tooLong;
      }
      listen(controller);
      controller.enqueue(chunk);
    },
    flush: () => heard(),
    cancel: () => heard(),
  };
  return body.pipeThrough(new TransformStream(guard));
}

function tooLong(host: string, status: number, limit: string): ProviderError {
  const sentence: Wording = ({ name }) =>
    `${host} answered ${status} with more than ${limit}: that is no completion. Check \`${name('base-url')}\`, and what stands between this machine and the API.`;
  return new ProviderError('error', sentence, { status });
}

/** An answer that can only be failed to read: an SDK would take a rejected `fetch` for a lost connection, and retry. */
function unreadable(error: unknown): Response {
  const body = new ReadableStream({ start: (controller) => controller.error(error) });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

/** A failed answer with a capped wait, with whether to try again, and with its error where both SDKs look for it. */
async function mended(response: Response, host: string, watch: Watch | undefined): Promise<Response> {
  const headers = new Headers(response.headers);
  const { body, status } = response;
  const askedSeconds = retryAfterSeconds(response.headers);
  const again = isTriedAgain(status, response.headers);
  headers.delete('retry-after-ms');
  headers.delete('retry-after');
  if (askedSeconds !== null) headers.set('retry-after', String(Math.min(askedSeconds, maxRetryAfterSeconds)));
  headers.set('x-should-retry', String(again));
  // The body is decoded here: what described its encoding is no longer true.
  headers.delete('content-encoding');
  headers.delete('content-length');
  const idleMs = Math.min(errorIdleMs, watch?.idleMs ?? errorIdleMs);
  const text = body === null ? '' : await errorText(body, tooLong(host, status, '256 KiB'), idleMs);
  if (text instanceof ProviderError) return unreadable(text);
  if (again) watch?.onFailedTry({ status, cause: null, askedSeconds });
  // Servers send statuses that no Response may have, and 304 may have no body.
  return new Response(status === 304 ? null : nested(text), { status: Math.min(status, 599), headers });
}

/** The body of a failed answer; empty where it never came, an error where it is too long. */
async function errorText(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  tooLong: ProviderError,
  idleMs: number,
): Promise<string | ProviderError> {
  const silence = Symbol('silence');
  try {
    return await new Response(within({ maxBytes: maxErrorBytes, tooLong, idleMs, silence }, body)).text();
  } catch (error) {
    if (error === silence) return '';
    if (error === tooLong) return tooLong;
    throw error;
  }
}

/** What both SDKs try again by themselves, unless the server says otherwise. */
function isTriedAgain(status: number, headers: Headers): boolean {
  const said = headers.get('x-should-retry');
  if (said === 'true' || said === 'false') return said === 'true';
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Seconds to wait, from either header; dates count from the answer's own `Date`. null when there is nothing usable. */
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

/** Some servers send the error itself as the body; the SDKs read `body.error`. */
function nested(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    // Google's errors come in a list.
    const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    if (!isObject(body)) return text;
    if (typeof body['error'] === 'string')
      return JSON.stringify({ ...body, error: { message: body['error'] } });
    return JSON.stringify('error' in body ? body : { error: body });
  } catch {
    return text;
  }
}
