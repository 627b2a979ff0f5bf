/** Configures the openai SDK's client for all adapters that use it, independent of the environment. */
import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import type { AdapterSettings } from './provider.ts';
import { type Lost, maxRetries, type SdkError } from './request.ts';
import { createTransport } from './transport.ts';

/** Error codes for a prompt that was rejected because of its content. */
const blockedCodes = new Set(['content_filter', 'content_policy_violation', 'bio_policy', 'cyber_policy']);

/** Returns options for any client of the SDK. null and placeholders keep it from reading the environment. */
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

export function createClient(settings: AdapterSettings): OpenAI {
  return new OpenAI({ ...clientOptions(settings), baseURL: settings.baseUrl });
}

/** Reads the SDK errors of one request, and details of the last one that only these adapters use. */
export interface SdkErrors {
  readonly read: (error: unknown) => { readonly error: SdkError; readonly lost: Lost } | null;
  /** Whether a content filter rejected the prompt, which counts as a response in another form. */
  readonly isBlocked: () => boolean;
  /** Whether the server rejected the named field of the request. */
  readonly refuses: (param: string) => boolean;
}

export function createSdkErrors(): SdkErrors {
  let last: APIError | null = null;
  return {
    read: (error) => {
      if (!(error instanceof APIError)) return null;
      // An error without a status was thrown by a stream, and is read with the other events.
      if (error.status !== undefined) last = error;
      return { error, lost: lost(error) };
    },
    isBlocked: () => isBlockedCode(last?.code),
    refuses: (param) => last?.status === 400 && last.param === param,
  };
}

export function isBlockedCode(code: unknown): boolean {
  return typeof code === 'string' && blockedCodes.has(code);
}

function lost(error: APIError): Lost {
  if (error instanceof APIConnectionTimeoutError) return 'timeout';
  return error instanceof APIConnectionError ? 'connection' : null;
}
