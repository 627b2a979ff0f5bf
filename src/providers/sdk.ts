/** What the SDKs are used for, and their errors, read structurally: both have the same shape. */
import type { JsonObject } from '../types.ts';
import type { ApiFailure, FailureContext } from './failures.ts';
import { objectOf, objectsOf, textOf } from './reading.ts';
import type { Watch } from './transport.ts';

/** What an SDK's client is used for. Its typed methods print warnings, refuse long answers, and know no foreign fields. */
export interface SdkClient {
  post(path: string, options: PostOptions): { asResponse(): Promise<Response> };
}

/** Part of the SDKs' own `RequestInit`, with what only the transport reads. */
type SdkFetchOptions = Partial<Record<'headers' | 'signal' | 'body' | 'method', never>> & {
  readonly watch: Watch;
};

interface PostOptions {
  readonly body: unknown;
  readonly stream: boolean;
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly fetchOptions: SdkFetchOptions;
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

/** An SDK's error in this project's words. */
export function apiFailure(error: SdkError, lost: Lost): ApiFailure {
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

/** The code in an error's details: Anthropic's, or the first of Google's, which are a list. */
function detailCode(details: unknown): string {
  const [first] = objectsOf(details);
  return textOf(objectOf(details)['error_code']) || textOf(first?.value['reason']);
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

/** The server's id for a request; null where it gave none. */
export function requestIdOf(headers: Headers | undefined): string | null {
  return headers?.get('x-request-id') ?? headers?.get('request-id') ?? null;
}
