/** An answer of chat completions, streamed or not, as a completion. */
import { isArray, isObject } from '../json.ts';
import type { Json, JsonObject, StopReason } from '../types.ts';
import type { Answer } from './answer.ts';
import { called, chatUsage, firstChoice, type WholeChat } from './openai-chat-parts.ts';
import { joinedChat } from './openai-chat-stream.ts';
import type { Completion, CompletionRequest } from './provider.ts';
import {
  objectOf,
  objectsOf,
  type RawCall,
  replayableArguments,
  replayableName,
  textOf,
  toolCalls,
  wellFormed,
} from './reading.ts';

/** What a completion's message carries for its own replay. */
export interface ChatNative {
  readonly chatMessage: JsonObject;
}

/** Whether an opaque native part was made here. */
export function isChatNative(native: unknown): native is ChatNative {
  return isObject(native) && isObject(native['chatMessage']);
}

/** Finish reasons that mean a cut answer, in lower case; not all servers use OpenAI's word. */
const lengthReasons = new Set(['length', 'max_tokens', 'model_length', 'incomplete']);

/** Finish reasons that mean a content filter, in lower case: OpenAI's word, and Gemini's own where it hands them on. */
const filterReasons = new Set([
  'content_filter',
  'safety',
  'recitation',
  'blocklist',
  'prohibited_content',
  'spii',
]);

/** Finish reasons of a server that gave up midway. */
const brokenReasons = new Set(['error', 'abort', 'insufficient_system_resource']);

/** What an answer would have been that a server refused to give for the content of the prompt. */
export const blockedChat: Answer = {
  kind: 'body',
  body: { choices: [{ message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' }] },
  raw: () => null,
};

/** Whether a body holds a choice. */
export function isChatAnswer(body: JsonObject): boolean {
  return objectsOf(body['choices']).some(({ value }) => isObject(value['message']));
}

/** Whether a stream's chunks reached a finish reason that is not the server's own failure. */
export function isWholeChat(chunks: readonly JsonObject[]): boolean {
  const reason = chunks
    .map((chunk) => textOf(firstChoice(chunk)['finish_reason']))
    .findLast((each) => each !== '');
  return reason !== undefined && !brokenReasons.has(reason);
}

/** Whether a server says of its whole body that it gave up midway: what it calls may be cut. */
export function isBrokenChat(answer: Answer): boolean {
  return answer.kind === 'body' && brokenReasons.has(textOf(firstChoice(answer.body)['finish_reason']));
}

/** The answer as a completion, with ids and a replay that hold for the rest of the conversation. */
export function chatCompletion(answer: Answer, request: CompletionRequest, model: string): Completion {
  const whole = answer.kind === 'events' ? joinedChat(answer.events) : bodyChat(answer);
  const refusal = textOf(whole.message['refusal']);
  const stopReason = stop(whole, refusal);
  const calls = toolCalls(whole.calls, stopReason, request.messages);
  const text = refusal === '' ? contentText(whole.message['content']) : refusal;
  const native = whole.calls.map((call, n) => replayedCall(call, calls[n]?.id ?? call.id));
  const chatNative: ChatNative = { chatMessage: replayed(whole.message, native) };
  return {
    message: { role: 'assistant', text, toolCalls: calls, native: chatNative },
    stopReason,
    usage: whole.usage,
    model: whole.model || model,
  };
}

function bodyChat(answer: Extract<Answer, { kind: 'body' }>): WholeChat {
  const { body, raw } = answer;
  const at = objectsOf(body['choices'])[0]?.at ?? 0;
  const message = objectOf(firstChoice(body)['message']);
  const calls = objectsOf(message['tool_calls']).map(({ at: n, value }) => {
    const given = objectOf(value['function'])['arguments'];
    // The format wants a string; of an object, what counts is its text in the body, where equal keys still show.
    const slice =
      typeof given === 'string'
        ? null
        : raw(['choices', at, 'message', 'tool_calls', n, 'function', 'arguments']);
    const rawArguments = typeof given === 'string' ? given : given === null ? '' : (slice ?? '');
    const isRaw = typeof given === 'string' || given === null || given === undefined || slice !== null;
    return { ...called(value), rawArguments, isRaw, native: value };
  });
  return {
    message,
    calls,
    finishReason: textOf(firstChoice(body)['finish_reason']),
    usage: chatUsage(body['usage']),
    model: textOf(body['model']),
  };
}

function stop(whole: WholeChat, refusal: string): StopReason {
  // Gemini's endpoint says `content_filter: OTHER`, and `function_call_filter: …` of a call that it dropped.
  const [reason = ''] = whole.finishReason.toLowerCase().split(':');
  if (refusal !== '' || filterReasons.has(reason)) return 'refusal';
  if (lengthReasons.has(reason)) return 'length';
  return whole.calls.length > 0 ? 'tool_calls' : 'end';
}

/** Prose; some servers send it in parts. */
function contentText(content: Json | undefined): string {
  if (content === undefined || !isArray(content)) return textOf(content);
  return objectsOf(content)
    .map(({ value }) => textOf(value['text']))
    .join('');
}

/** A call for the history: unknown fields as they came (thought signatures), arguments that every server can read. */
function replayedCall(call: RawCall & { readonly native: JsonObject }, id: string): JsonObject {
  return {
    ...call.native,
    id,
    type: 'function',
    function: {
      ...objectOf(call.native['function']),
      name: replayableName(call.name),
      arguments: replayableArguments(call.rawArguments),
    },
  };
}

/** The message for the history; empty lists of calls and messages without content are refused by several servers. */
function replayed(message: JsonObject, calls: readonly JsonObject[]): JsonObject {
  const { tool_calls: _, content, ...rest } = message;
  const text = typeof content === 'string' ? wellFormed(content) : (content ?? null);
  if (calls.length > 0) return { ...rest, role: 'assistant', content: text, tool_calls: calls };
  return { ...rest, role: 'assistant', content: text === null || text === '' ? '(empty)' : text };
}
