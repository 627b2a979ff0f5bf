/** OpenAI chat completions, at the vendor's endpoint and at every compatible one. */
import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { attempt } from './attempt.ts';
import { type Api, exchange, maxRetries } from './exchange.ts';
import { chatRequest } from './openai-chat-request.ts';
import { chatCompletion, isChatAnswer, isWholeChat } from './openai-chat-response.ts';
import type { Provider } from './provider.ts';
import type { AdapterSettings } from './settings.ts';
import { createTransport } from './transport.ts';

/** A provider that speaks chat completions. */
export function createOpenAiChat(settings: AdapterSettings): Provider {
  const { provider: name, model, baseUrl } = settings;
  const client = new OpenAI({
    // Null and placeholders keep the SDK from looking into the environment; the transport sends the real headers.
    apiKey: 'unused',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: baseUrl,
    logLevel: 'off',
    maxRetries,
    fetch: createTransport(settings.fetch, settings.headers),
  });
  const api = (forced: boolean): Api => ({
    client,
    path: '/chat/completions',
    context: { ...settings.failureContext, forced },
    asSdkError: (error) => (error instanceof APIError ? { error, lost: lost(error) } : null),
    isWhole: isWholeChat,
    isAnswer: isChatAnswer,
  });
  return {
    name,
    model,
    complete: async (request) => {
      const body = chatRequest(settings, request);
      const forced = request.toolChoice !== 'auto';
      const answer = await attempt(request.signal, (signal) =>
        exchange(api(forced), body, settings.stream, signal),
      );
      return chatCompletion(answer, request, model);
    },
  };
}

function lost(error: APIError): 'timeout' | 'connection' | null {
  if (error instanceof APIConnectionTimeoutError) return 'timeout';
  return error instanceof APIConnectionError ? 'connection' : null;
}
