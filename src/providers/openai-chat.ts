/** Chat completions: at every OpenAI-compatible server, Gemini's endpoint among them, and at Azure OpenAI. */
import { attempt } from './attempt.ts';
import { exchange } from './exchange.ts';
import { createChatBody } from './openai-chat-request.ts';
import { blockedChat, chatCompletion, isChatAnswer, isWholeChat } from './openai-chat-response.ts';
import { createClient, createSdkErrors } from './openai-client.ts';
import type { Provider } from './provider.ts';
import type { SdkClient } from './sdk.ts';
import type { AdapterSettings } from './settings.ts';

const chatApi = { path: '/chat/completions', isWhole: isWholeChat, isAnswer: isChatAnswer };

/** A provider that speaks chat completions, through a client of the openai SDK. */
export function createOpenAiChat(
  settings: AdapterSettings,
  client: SdkClient = createClient(settings),
): Provider {
  const { provider: name, model } = settings;
  const bodyOf = createChatBody(settings);
  return {
    name,
    model,
    complete: async (request) => {
      const body = bodyOf(request);
      const errors = createSdkErrors();
      const context = { ...settings.failureContext, forced: request.toolChoice !== 'auto' };
      const api = { ...chatApi, client, context, asSdkError: errors.read };
      const answer = await attempt(request, settings.retryPauseMs, async (signal) => {
        const result = await exchange(api, body, settings, { ...request, signal });
        return !result.ok && errors.isBlocked() ? { ok: true, value: blockedChat } : result;
      });
      return chatCompletion(answer, request, model);
    },
  };
}
