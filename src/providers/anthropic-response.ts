/** An answer of Anthropic's Messages API, streamed or not, as a completion. */
import { isObject } from '../text/json.ts';
import type { JsonObject, StopReason, Usage } from '../types.ts';
import type { Answer } from './answer.ts';
import { type Block, joinedMessage } from './anthropic-stream.ts';
import type { Completion, CompletionRequest } from './provider.ts';
import {
  countOf,
  objectOf,
  objectsOf,
  replayableInput,
  replayableName,
  saysError,
  textOf,
  toolCalls,
} from './reading.ts';

/** What a completion's message carries for its own replay. */
export interface AnthropicNative {
  readonly anthropicContent: readonly JsonObject[];
}

/** Whether an opaque native part was made here. */
export function isAnthropicNative(native: unknown): native is AnthropicNative {
  return isObject(native) && Array.isArray(native['anthropicContent']);
}

/** Whether a body is a message. */
export function isMessage(body: JsonObject): boolean {
  return Array.isArray(body['content']) && !saysError(body);
}

/**
 * Whether a stream's events are one message and reached its end. What no server sends that means well is none: a second message,
 * stop reasons that contradict each other, and parts of a block behind the end.
 */
export function isWholeMessage(events: readonly JsonObject[]): boolean {
  let [isBegun, isEnded] = [false, false];
  let reason = '';
  for (const event of events) {
    const type = textOf(event['type']);
    if (type === 'message_start') {
      if (isBegun) return false;
      isBegun = true;
    }
    if (isEnded && (type === 'content_block_start' || type === 'content_block_delta')) return false;
    const stopReason = textOf(objectOf(event['delta'])['stop_reason']);
    if (stopReason !== '' && reason !== '' && stopReason !== reason) return false;
    reason = stopReason || reason;
    isEnded ||= stopReason !== '' || type === 'message_stop';
  }
  return isEnded;
}

/** The answer as a completion, with ids and a replay that hold for the rest of the conversation. */
export function anthropicCompletion(answer: Answer, request: CompletionRequest, model: string): Completion {
  const { message, blocks } =
    answer.kind === 'events' ? joinedMessage(answer.events, answer.raw) : bodyMessage(answer);
  const uses = blocks.filter((block) => block.native['type'] === 'tool_use');
  const stopReason = stop(textOf(message['stop_reason']), uses.length > 0);
  const calls = toolCalls(uses.map(rawCall), stopReason, request.messages);
  const ids = new Map(uses.map((use, n) => [use, calls[n]?.id ?? '']));
  const native: AnthropicNative = {
    anthropicContent: blocks
      .filter((block) => isReplayable(block, stopReason))
      .map((block) => replayed(block, ids)),
  };
  const text = blocks
    .map(({ native: block }) => (block['type'] === 'text' ? textOf(block['text']) : ''))
    .join('');
  return {
    message: { role: 'assistant', text, toolCalls: calls, native },
    stopReason,
    usage: messageUsage(message['usage']),
    model: textOf(message['model']) || model,
  };
}

function bodyMessage(answer: Extract<Answer, { kind: 'body' }>): {
  message: JsonObject;
  blocks: readonly Block[];
} {
  const { body, raw } = answer;
  const blocks = objectsOf(body['content']).map(({ at, value }) => {
    // The text in the body is what the model wrote: equal keys, which parsing would merge, still show there.
    const input = value['type'] === 'tool_use' ? raw(['content', at, 'input']) : null;
    return { native: value, rawInput: input ?? '', isRaw: input !== null || value['input'] === undefined };
  });
  return { message: body, blocks };
}

function rawCall({ native, rawInput, isRaw }: Block) {
  return { id: textOf(native['id']), name: textOf(native['name']), rawArguments: rawInput, isRaw };
}

function stop(reason: string, hasCalls: boolean): StopReason {
  if (reason === 'refusal') return 'refusal';
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  if (reason === 'pause_turn') return 'pause';
  return hasCalls ? 'tool_calls' : 'end';
}

/** Blocks that the API itself sends and refuses to read: blank text, and thinking that was cut before it was signed. */
function isReplayable({ native }: Block, stopReason: StopReason): boolean {
  if (native['type'] === 'text') return textOf(native['text']).trim() !== '';
  return !(native['type'] === 'thinking' && stopReason === 'length' && textOf(native['signature']) === '');
}

/** A block as it came; a call with its final id, and an object as its input, which is all the API reads there. */
function replayed(block: Block, ids: ReadonlyMap<Block, string>): JsonObject {
  const id = ids.get(block);
  if (id === undefined) return block.native;
  const input = replayableInput(block.rawInput);
  return { ...block.native, id, name: replayableName(textOf(block.native['name'])), input };
}

/** Token counts, where cached tokens stand beside the rest of the input; null where there are none. */
function messageUsage(value: unknown): Usage | null {
  const usage = objectOf(value);
  const input = countOf(usage['input_tokens']);
  const output = countOf(usage['output_tokens']);
  if (input === null && output === null) return null;
  const cachedInputTokens = countOf(usage['cache_read_input_tokens']) ?? 0;
  const cacheWriteTokens = countOf(usage['cache_creation_input_tokens']) ?? 0;
  const inputTokens = (input ?? 0) + cachedInputTokens + cacheWriteTokens;
  return { inputTokens, outputTokens: output ?? 0, cachedInputTokens, cacheWriteTokens };
}
