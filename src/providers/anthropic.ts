/** Anthropic's Messages API, at the vendor's endpoint and at compatible ones. */
import Anthropic, { APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { anthropicRequest } from './anthropic-request.ts';
import { anthropicCompletion, isMessage, isWholeMessage } from './anthropic-response.ts';
import { attempt } from './attempt.ts';
import { exchange, maxRetries } from './exchange.ts';
import type { Provider } from './provider.ts';
import type { Api } from './sdk.ts';
import type { AdapterSettings } from './settings.ts';
import { createTransport } from './transport.ts';

/** The API's version that the SDK's types describe; a test holds it against what the SDK itself sends. */
const apiVersion = '2026-10-21';

/** A provider that speaks Anthropic's Messages API. */
export function createAnthropic(settings: AdapterSettings): Provider {
  const { provider: name, model, baseUrl } = settings;
  const client = new Anthropic({
    // Null and placeholders keep the SDK from looking into the environment and into credential files; the transport
    // sends the real headers.
    apiKey: 'unused',
    webhookKey: null,
    baseURL: baseUrl,
    logLevel: 'off',
    openTelemetry: { traces: false, propagation: false },
    maxRetries,
    fetch: createTransport(settings.fetch, { 'anthropic-version': apiVersion, ...settings.headers }),
  });
  const api = (forced: boolean): Api => ({
    client,
    path: '/v1/messages',
    context: { ...settings.failureContext, forced },
    asSdkError: (error) => (error instanceof APIError ? { error, lost: lost(error) } : null),
    isWhole: isWholeMessage,
    isAnswer: isMessage,
  });
  return {
    name,
    model,
    complete: async (request) => {
      const body = anthropicRequest(settings, request);
      const forced = request.toolChoice !== 'auto';
      const answer = await attempt(request, settings.retryPauseMs, (signal) =>
        exchange(api(forced), body, settings, { ...request, signal }),
      );
      return anthropicCompletion(answer, request, model);
    },
  };
}

function lost(error: APIError): 'timeout' | 'connection' | null {
  if (error instanceof APIConnectionTimeoutError) return 'timeout';
  return error instanceof APIConnectionError ? 'connection' : null;
}
