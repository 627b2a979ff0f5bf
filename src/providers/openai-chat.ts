/** Chat completions: at every OpenAI-compatible server, Gemini's endpoint among them, and at Azure OpenAI. */
import type { Answer } from './answer.ts';
import { type Attempt, attempt } from './attempt.ts';
import { exchange } from './exchange.ts';
import { type FailureContext, providerError } from './failures.ts';
import { createChatBody } from './openai-chat-request.ts';
import {
  blockedChat,
  chatCompletion,
  isBrokenChat,
  isChatAnswer,
  isWholeChat,
} from './openai-chat-response.ts';
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
        if (result.ok) return judged(result.value, context);
        return errors.isBlocked() ? { ok: true, value: blockedChat } : result;
      });
      return chatCompletion(answer, request, model);
    },
  };
}

/** An answer whose server gave up midway is one that broke off, in one piece too. */
function judged(answer: Answer, context: FailureContext): Attempt<Answer> {
  if (!isBrokenChat(answer)) return { ok: true, value: answer };
  const failure = {
    status: null,
    type: 'cut',
    code: null,
    param: null,
    message: '',
    requestId: null,
    cause: null,
  };
  const why = `${context.host} broke off its answer`;
  return { ok: false, again: true, why, error: providerError(failure, context) };
}
