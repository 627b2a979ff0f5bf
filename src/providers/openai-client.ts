/** The openai SDK's client as every adapter of its family uses it: nothing in the environment decides anything. */
import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import type { AdapterSettings } from './provider.ts';
import { type Lost, maxRetries, type SdkError } from './request.ts';
import { createTransport } from './transport.ts';

/** Error codes of a prompt that was not answered because of what it says. */
const blockedCodes = new Set(['content_filter', 'content_policy_violation', 'bio_policy', 'cyber_policy']);

/** Options for any client of the SDK. Null and placeholders keep it from looking into the environment. */
export function clientOptions(settings: AdapterSettings) {
  return {
    // The transport sends the real headers.
    apiKey: 'unused',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries,
    fetch: createTransport(settings.fetch, settings.headers),
  } as const;
}

/** A client for the endpoint of the settings. */
export function createClient(settings: AdapterSettings): OpenAI {
  return new OpenAI({ ...clientOptions(settings), baseURL: settings.baseUrl });
}

/** The SDK's errors of one request, and what the last of them says that only these adapters can act on. */
export interface SdkErrors {
  readonly read: (error: unknown) => { readonly error: SdkError; readonly lost: Lost } | null;
  /** Whether a content filter refused the prompt: an answer, in another form. */
  readonly isBlocked: () => boolean;
  /** Whether the server refused the named field of the request. */
  readonly refuses: (param: string) => boolean;
}

/** Reads the SDK's errors and remembers the last. */
export function createSdkErrors(): SdkErrors {
  let last: APIError | null = null;
  return {
    read: (error) => {
      if (!(error instanceof APIError)) return null;
      // Without a status it was thrown by a stream, and is read with the other events.
      if (error.status !== undefined) last = error;
      return { error, lost: lost(error) };
    },
    isBlocked: () => isBlockedCode(last?.code),
    refuses: (param) => last?.status === 400 && last.param === param,
  };
}

/** Whether an error's code is that of a content filter. */
export function isBlockedCode(code: unknown): boolean {
  return typeof code === 'string' && blockedCodes.has(code);
}

function lost(error: APIError): Lost {
  if (error instanceof APIConnectionTimeoutError) return 'timeout';
  return error instanceof APIConnectionError ? 'connection' : null;
}
