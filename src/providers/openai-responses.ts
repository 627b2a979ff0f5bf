/** OpenAI's Responses API, at the vendor's endpoint and at gateways in front of it. */

import type { Answer } from './answer.ts';
import { type Attempt, attempt } from './attempt.ts';
import { exchange } from './exchange.ts';
import { type FailureContext, providerError } from './failures.ts';
import { createClient, createSdkErrors } from './openai-client.ts';
import { createResponsesBody } from './openai-responses-request.ts';
import {
  blockedResponse,
  isResponse,
  isWholeResponse,
  responsesCompletion,
  toldFailure,
} from './openai-responses-response.ts';
import type { CompletionRequest, Provider } from './provider.ts';
import type { AdapterSettings } from './settings.ts';

/** Models without reasoning, with or without a prefix of a gateway or of a fine-tuning: they refuse to be asked for it. */
const withoutReasoning = /(^|[/:])(gpt-(3|4)|chatgpt-|gpt-5(\.\d+)?-chat)/;

const responsesApi = { path: '/responses', isWhole: isWholeResponse, isAnswer: isResponse };

/** A provider that speaks the Responses API. */
export function createOpenAiResponses(settings: AdapterSettings): Provider {
  const { provider: name, model } = settings;
  const client = createClient(settings);
  const bodyOf = createResponsesBody(settings);
  /** Whether reasoning is asked for; what the server once refused is not asked again. */
  let encrypted = !withoutReasoning.test(model);
  const tried = async (request: CompletionRequest): Promise<Attempt<Answer>> => {
    const errors = createSdkErrors();
    const context = { ...settings.failureContext, forced: request.toolChoice !== 'auto' };
    const api = { ...responsesApi, client, context, asSdkError: errors.read };
    const result = await exchange(api, bodyOf(request, encrypted), settings, request);
    if (result.ok) return judged(result.value, context);
    if (errors.isBlocked()) return { ok: true, value: blockedResponse };
    if (!encrypted || !errors.refuses('include')) return result;
    encrypted = false;
    request.notify(`${context.host} has no encrypted reasoning for ${model}: asking again without`);
    return tried(request);
  };
  return {
    name,
    model,
    complete: async (request) => {
      const answer = await attempt(request, settings.retryPauseMs, (signal) => tried({ ...request, signal }));
      return responsesCompletion(answer, request, model);
    },
  };
}

/** A failure may come as an answer with a status of its own. */
function judged(answer: Answer, context: FailureContext): Attempt<Answer> {
  const told = toldFailure(answer);
  if (told === null) return { ok: true, value: answer };
  if (told.isBlocked) return { ok: true, value: blockedResponse };
  const why = `${context.host} ended its answer with an error`;
  return { ok: false, again: told.again, why, error: providerError(told.failure, context) };
}
