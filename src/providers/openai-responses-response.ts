/** An answer of OpenAI's Responses API, streamed or not, as a completion or as the failure that it tells. */
import type { JsonObject, StopReason, Usage } from '../types.ts';
import type { Answer } from './answer.ts';
import type { ApiFailure } from './failures.ts';
import { isBlockedCode } from './openai-client.ts';
import { type ResponsesNative, replayed } from './openai-responses-replay.ts';
import { type Item, joinedResponse, lastEvent } from './openai-responses-stream.ts';
import type { Completion, CompletionRequest } from './provider.ts';
import { countOf, objectOf, objectsOf, saysError, textOf, toolCalls } from './reading.ts';

/** What an answer would have been that the server refused to give for the content of the prompt. */
export const blockedResponse: Answer = {
  kind: 'body',
  body: { output: [], status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
  raw: () => null,
};

/** Codes of an error inside an answer that another try may not meet. */
const passingCodes = new Set(['server_error', 'server_is_overloaded', 'slow_down', 'vector_store_timeout']);

/** What the codes are called elsewhere. */
const failureTypes: ReadonlyMap<string, string> = new Map([
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['insufficient_quota', 'rate_limit_error'],
  ['server_is_overloaded', 'overloaded_error'],
  ['slow_down', 'overloaded_error'],
]);

/** Whether a body is a response, a failed one too. */
export function isResponse(body: JsonObject): boolean {
  return Array.isArray(body['output']) || body['object'] === 'response';
}

/** Whether a stream's events reached the end, be it an error. */
export function isWholeResponse(events: readonly JsonObject[]): boolean {
  return lastEvent(events) !== null;
}

/** The failure that an answer tells, and whether another try may be better; null where it is none. */
export function toldFailure(
  answer: Answer,
): { readonly failure: ApiFailure; readonly again: boolean; readonly isBlocked: boolean } | null {
  const last = answer.kind === 'events' ? lastEvent(answer.events) : null;
  const response = answer.kind === 'events' ? objectOf(last?.['response']) : answer.body;
  const status = textOf(response['status']);
  const isError = last?.['type'] === 'error' || last?.['type'] === 'response.failed';
  if (!isError && !saysError(response) && ['', 'completed', 'incomplete'].includes(status)) return null;
  const error = last?.['type'] === 'error' ? last : objectOf(response['error']);
  const code = textOf(error['code']);
  const failure = {
    status: null,
    type: failureTypes.get(code) ?? null,
    code: code || null,
    param: textOf(error['param']) || null,
    message: textOf(error['message']) || (isError ? '' : `status ${status}`),
    requestId: null,
    cause: null,
  };
  return { failure, again: passingCodes.has(code), isBlocked: isBlockedCode(code) };
}

/** The answer as a completion, with ids and a replay that hold for the rest of the conversation. */
export function responsesCompletion(answer: Answer, request: CompletionRequest, model: string): Completion {
  const { response, items } = answer.kind === 'events' ? joinedResponse(answer.events) : bodyResponse(answer);
  const uses = items.filter((item) => item.native['type'] === 'function_call');
  const parts = items.flatMap((item) =>
    item.native['type'] === 'message' ? objectsOf(item.native['content']).map((part) => part.value) : [],
  );
  const refusal = parts.map((part) => textOf(part['refusal'])).join('');
  const stopReason = stop(response, refusal, uses);
  const calls = toolCalls(uses.map(rawCall), stopReason, request.messages);
  const ids = new Map(uses.map((use, n) => [use, calls[n]?.id ?? '']));
  const native: ResponsesNative = { responsesOutput: replayed(items, ids) };
  const text = refusal === '' ? parts.map((part) => textOf(part['text'])).join('') : refusal;
  return {
    message: { role: 'assistant', text, toolCalls: calls, native },
    stopReason,
    usage: responseUsage(response['usage']),
    model: textOf(response['model']) || model,
  };
}

function bodyResponse({ body, raw }: Extract<Answer, { kind: 'body' }>): {
  readonly response: JsonObject;
  readonly items: readonly Item[];
} {
  const items = objectsOf(body['output']).map(({ at, value }): Item => {
    const given = value['arguments'];
    if (typeof given === 'string') return { native: value, rawArguments: given, isRaw: true };
    // The format wants a string; of an object, what counts is its text in the body, where equal keys still show.
    const isNone = given === undefined || given === null;
    const slice = isNone ? '' : raw(['output', at, 'arguments']);
    return { native: value, rawArguments: slice ?? '', isRaw: slice !== null };
  });
  return { response: body, items };
}

function rawCall({ native, rawArguments, isRaw }: Item) {
  return { id: textOf(native['call_id']), name: textOf(native['name']), rawArguments, isRaw };
}

function stop(response: JsonObject, refusal: string, calls: readonly Item[]): StopReason {
  const reason = textOf(objectOf(response['incomplete_details'])['reason']);
  if (refusal !== '' || reason === 'content_filter') return 'refusal';
  const isCut = calls.some((call) => call.native['status'] === 'incomplete');
  if (response['status'] === 'incomplete' || isCut) return 'length';
  return calls.length > 0 ? 'tool_calls' : 'end';
}

/** Token counts, where cached tokens are a part of the input's; null where there are none. */
function responseUsage(value: unknown): Usage | null {
  const usage = objectOf(value);
  const input = countOf(usage['input_tokens']);
  const output = countOf(usage['output_tokens']);
  if (input === null && output === null) return null;
  const details = objectOf(usage['input_tokens_details']);
  const inputTokens = input ?? 0;
  const cachedInputTokens = Math.min(countOf(details['cached_tokens']) ?? 0, inputTokens);
  const cacheWriteTokens = Math.min(
    countOf(details['cache_write_tokens']) ?? 0,
    inputTokens - cachedInputTokens,
  );
  return { inputTokens, outputTokens: output ?? 0, cachedInputTokens, cacheWriteTokens };
}
