/** One request and its whole answer, streamed or not, through an SDK's client. */
import { ProviderError } from '../errors.ts';
import { rawSlice } from '../json.ts';
import type { JsonObject } from '../types.ts';
import type { Attempt } from './attempt.ts';
import { type ApiFailure, type FailureContext, providerError } from './failures.ts';
import { objectOf, textOf } from './reading.ts';

/** Tries after the first, made by the SDK when no answer came or its status asks for it. */
export const maxRetries = 3;

/** What an SDK's client is used for. Its typed methods print warnings, refuse long answers, and know no foreign fields. */
export interface SdkClient {
  post<T>(
    path: string,
    options: { readonly body: unknown; readonly stream: boolean; readonly signal: AbortSignal },
  ): { asResponse(): Promise<Response>; withResponse(): Promise<{ data: T; response: Response }> };
}

/** How an SDK's error says that no answer came; null where one did. */
export type Lost = 'timeout' | 'connection' | null;

/** An SDK's error, read structurally: both SDKs' classes have these fields. */
export interface SdkError {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly error: unknown;
  readonly message: string;
  readonly cause?: unknown;
}

/** A whole answer: the events of a stream, or a body with its text. */
export type Answer =
  | { readonly kind: 'events'; readonly events: readonly JsonObject[] }
  | {
      readonly kind: 'body';
      readonly body: JsonObject;
      readonly raw: (path: readonly (string | number)[]) => string | null;
    };

/** How to talk to one API. */
export interface Api {
  readonly client: SdkClient;
  readonly path: string;
  readonly context: FailureContext;
  /** The SDK's own error class, or null for anything else. */
  readonly asSdkError: (error: unknown) => { readonly error: SdkError; readonly lost: Lost } | null;
  /** Whether a stream said that it is done. */
  readonly isWhole: (events: readonly JsonObject[]) => boolean;
  /** Whether a body is an answer of this API at all. */
  readonly isAnswer: (body: JsonObject) => boolean;
}

/** Sends a request and reads its answer to the end. What is thrown besides is a bug. */
export async function exchange(
  api: Api,
  body: JsonObject,
  stream: boolean,
  signal: AbortSignal,
): Promise<Attempt<Answer>> {
  try {
    if (!stream)
      return await readBody(api, await api.client.post(api.path, { body, stream, signal }).asResponse());
    const sent = await api.client
      .post<AsyncIterable<unknown>>(api.path, { body, stream, signal })
      .withResponse();
    const type = sent.response.headers.get('content-type') ?? '';
    // A server that does not stream answers all the same.
    if (/json|html/.test(type)) return await readBody(api, sent.response);
    return await readEvents(api, sent.data, sent.response);
  } catch (error) {
    const known = api.asSdkError(error);
    if (known === null) throw error;
    return failed(api, apiFailure(known.error, known.lost), false);
  }
}

async function readBody(api: Api, response: Response): Promise<Attempt<Answer>> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    return error instanceof ProviderError ? refused(error) : failed(api, cut(response, error), true);
  }
  const body = objectOf(parsed(text));
  if (api.isAnswer(body))
    return { ok: true, value: { kind: 'body', body, raw: (path) => rawSlice(text, path) } };
  const headers = response.headers;
  const isJson = Object.keys(body).length > 0;
  const error = body['error'] === undefined ? undefined : body;
  // An answer that broke off in the middle: it may hold what must not be told, and another try may be whole.
  if (!isJson && text.trimStart().startsWith('{')) return failed(api, cut(response, null), true);
  const isMarkup = text.trimStart().startsWith('<');
  const message = isMarkup ? text : '';
  const failure = apiFailure({ status: undefined, headers, error, message }, null);
  return failed(api, { ...failure, status: failure.status ?? response.status }, isPassing(failure));
}

async function readEvents(
  api: Api,
  data: AsyncIterable<unknown>,
  response: Response,
): Promise<Attempt<Answer>> {
  const events: JsonObject[] = [];
  let error: unknown = null;
  try {
    for await (const event of data) events.push(objectOf(event));
  } catch (thrown) {
    error = thrown;
  }
  // What breaks after the end (a usage chunk that never came) does not undo an answer.
  if (api.isWhole(events)) return { ok: true, value: { kind: 'events', events } };
  if (error instanceof ProviderError) return refused(error);
  const known = api.asSdkError(error);
  if (known === null) return failed(api, cut(response, error), true);
  const failure = apiFailure(known.error, known.lost);
  return failed(api, failure, isPassing(failure));
}

function failed(api: Api, failure: ApiFailure, again: boolean): Attempt<never> {
  return { ok: false, again, error: providerError(failure, api.context) };
}

/** The transport would not read on: another try would be the same. */
function refused(error: ProviderError): Attempt<never> {
  return { ok: false, again: false, error };
}

function cut(response: Response, cause: unknown): ApiFailure {
  const requestId = requestIdOf(response.headers);
  return { status: null, type: 'cut', code: null, param: null, message: '', requestId, cause };
}

/** Failures inside an answer that an SDK no longer retries, and that another try may not meet. */
function isPassing(failure: ApiFailure): boolean {
  if (failure.status !== null) return failure.status >= 500;
  return ['overloaded_error', 'api_error', 'server_error', 'timeout_error'].includes(failure.type ?? '');
}

/** An SDK's error in this project's words. */
function apiFailure(error: SdkError, lost: Lost): ApiFailure {
  const outer = objectOf(error.error);
  const inner = 'error' in outer ? objectOf(outer['error']) : outer;
  const code = inner['code'];
  return {
    status: error.status ?? (typeof code === 'number' && code >= 400 && code < 600 ? code : null),
    type: lost ?? (textOf(inner['type']) || null),
    code: textOf(code) || textOf(objectOf(inner['details'])['error_code']) || null,
    param: textOf(inner['param']) || null,
    message: messageOf(inner, error),
    requestId: requestIdOf(error.headers),
    cause: error.cause,
  };
}

function messageOf(inner: JsonObject, error: SdkError): string {
  const said = textOf(inner['message']) || textOf(inner['detail']);
  if (said !== '') return said;
  // Anything else of a body may quote what the model said.
  if (Object.keys(inner).length > 0) return '';
  // Without a readable body the SDKs put the text behind the status.
  const text = error.message.replace(/^\d{3} /, '');
  return text === 'status code (no body)' ? '' : text;
}

function requestIdOf(headers: Headers | undefined): string | null {
  return headers?.get('x-request-id') ?? headers?.get('request-id') ?? null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
