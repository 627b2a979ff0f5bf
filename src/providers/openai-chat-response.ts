/** An answer of chat completions, streamed or not, as a completion. */
import { isArray, isObject } from '../text/json.ts';
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
  saysError,
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
  return !saysError(body) && objectsOf(body['choices']).some(({ value }) => isObject(value['message']));
}

/**
 * Whether a stream's chunks are one answer with one end, which is not the server's own failure. What no server sends that means
 * well is none: another choice than the one asked for, ends that contradict each other, and parts of a call behind the end.
 */
export function isWholeChat(chunks: readonly JsonObject[]): boolean {
  let end: StopReason | 'broken' | null = null;
  for (const chunk of chunks) {
    if (hasOtherChoice(chunk) || objectsOf(chunk['choices']).length > 1) return false;
    const choice = firstChoice(chunk);
    const reason = textOf(choice['finish_reason']);
    // Gemini's endpoint has said `stop` with every chunk, and a call is whole in its own there.
    if (end !== null && hasCallPart(choice, reason !== '')) return false;
    if (saysError(choice)) return false;
    if (reason === '') continue;
    const meant = meaningOf(reason);
    if (end !== null && end !== meant) return false;
    end = meant;
  }
  return end !== null && end !== 'broken';
}

/** Whether a body is an answer of which nobody knows whether it is whole: its server gave up midway, or it is another choice's. */
export function isBrokenChat(answer: Answer): boolean {
  if (answer.kind === 'events') return false;
  const choice = firstChoice(answer.body);
  const { index } = choice;
  const isOther = typeof index === 'number' && index !== 0;
  return isOther || saysError(choice) || meaningOf(textOf(choice['finish_reason'])) === 'broken';
}

/** Some servers leave the number out. */
function hasOtherChoice(chunk: JsonObject): boolean {
  return objectsOf(chunk['choices']).some(({ value: { index } }) => typeof index === 'number' && index !== 0);
}

/** Whether a chunk holds a part of a call; with `isEnd`, one that is not its beginning. */
function hasCallPart(choice: JsonObject, isEnd: boolean): boolean {
  const parts = objectsOf(objectOf(choice['delta'] ?? choice['message'])['tool_calls']);
  return parts.some(({ value }) => !isEnd || called(value).name === '');
}

/** What a finish reason says of the calls; servers have many words for an end, and mix `stop` with `tool_calls`. */
function meaningOf(finishReason: string): StopReason | 'broken' {
  // Gemini's endpoint says `content_filter: OTHER`, and `function_call_filter: …` of a call that it dropped.
  const [reason = ''] = finishReason.toLowerCase().split(':');
  if (brokenReasons.has(reason)) return 'broken';
  if (filterReasons.has(reason)) return 'refusal';
  return lengthReasons.has(reason) ? 'length' : 'end';
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
  const meant = meaningOf(whole.finishReason);
  if (refusal !== '' || meant === 'refusal') return 'refusal';
  if (meant === 'length') return 'length';
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
