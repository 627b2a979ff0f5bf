/** Anthropic's Messages API, and endpoints that are compatible with it; always streamed. */
// Not Anthropic: its resources are most of the SDK, and this adapter uses none of them.
import { BaseAnthropic } from '@anthropic-ai/sdk';
import type { Stream } from '@anthropic-ai/sdk/core/streaming';
import type * as Api from '@anthropic-ai/sdk/resources/messages';
import type { Message, StopReason, ToolCall, ToolSpec } from '../types.ts';
import { clientOptions, createAdapter } from './call.ts';
import { BrokenAnswer } from './errors.ts';
import type { AdapterSettings, Completion, CompletionRequest, Provider } from './provider.ts';
import { replayableInput, replayableName, toolCalls } from './tool-calls.ts';
import { describedTool } from './wire-schema.ts';

/** A breakpoint of the prompt cache; the next request reads everything before it from the cache. */
const MARK = { cache_control: { type: 'ephemeral' } } as const;

export function createAnthropic(settings: AdapterSettings): Provider {
  return createAdapter(settings, {
    answer: 'text/event-stream',
    send: async (request, attempt) => {
      const options = { ...clientOptions(settings, attempt), authToken: null, openTelemetry: false } as const;
      const client = new BaseAnthropic(options);
      // `messages.stream` writes to the console about models that will be retired, and fails if arguments are not JSON.
      const events = await client.post<Stream<Api.RawMessageStreamEvent>>('/v1/messages', {
        body: bodyOf(settings, request),
        stream: true,
        signal: attempt.signal,
      });
      return joinEvents(events);
    },
    read: completionOf,
  });
}

/**
 * Builds the request body. What stays the same between turns is byte-identical, except for the cache marks: they move
 * with the end of the conversation and are not part of what the cache compares.
 */
function bodyOf(
  { model, maxOutputTokens, reasoningEffort }: AdapterSettings,
  { system, tools, messages, toolChoice }: CompletionRequest,
) {
  return {
    model,
    max_tokens: maxOutputTokens ?? 16_000,
    stream: true,
    ...(reasoningEffort === null ? {} : { output_config: { effort: reasoningEffort } }),
    ...(tools.length === 0 ? {} : { tools: tools.map(wireTool) }),
    system: [{ type: 'text', text: system, ...MARK }],
    messages: marked(messages.map(wireMessage)),
    ...(toolChoice === 'auto' ? {} : { tool_choice: { type: 'tool', name: toolChoice.tool } }),
  };
}

function wireTool(spec: ToolSpec) {
  const { description, parameters } = describedTool(spec, 'anthropic');
  return { name: spec.name, description, input_schema: parameters };
}

interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly object[];
}

function wireMessage(message: Message): WireMessage {
  if (message.role === 'user') return { role: 'user', content: [{ type: 'text', text: message.text }] };
  if (message.role === 'assistant') return { role: 'assistant', content: message.native as object[] };
  const content = message.results.map((result) => ({
    type: 'tool_result',
    tool_use_id: result.callId,
    content: result.content.toWellFormed(),
    ...(result.isError ? { is_error: true } : {}),
  }));
  return { role: 'user', content };
}

/** Marks the last two user messages: the end of this conversation, and the position of the last request's mark. */
function marked(messages: readonly WireMessage[]): readonly WireMessage[] {
  const ends = new Set(messages.filter(({ role }) => role === 'user').slice(-2));
  return messages.map((message) =>
    ends.has(message)
      ? { ...message, content: [...message.content.slice(0, -1), { ...message.content.at(-1), ...MARK }] }
      : message,
  );
}

/** A content block with the text of its input, as the model wrote it. */
interface Block {
  readonly native: Api.ContentBlock;
  rawInput: string;
}

interface JoinedMessage {
  readonly model: string;
  readonly stopReason: string;
  readonly usage: Partial<Api.Usage>;
  readonly blocks: readonly Block[];
}

/** Joins a stream. The input of a call stays text: a parsed one no longer shows duplicate keys. */
async function joinEvents(events: Stream<Api.RawMessageStreamEvent>): Promise<JoinedMessage> {
  const blocks = new Map<number, Block>();
  let [model, stopReason] = ['', ''];
  let usage: Partial<Api.Usage> = {};
  for await (const event of events) {
    if (event.type === 'message_start') {
      model = event.message.model;
      usage = event.message.usage;
    } else if (event.type === 'content_block_start') {
      blocks.set(event.index, { native: { ...event.content_block }, rawInput: '' });
    } else if (event.type === 'content_block_delta') {
      const block = blocks.get(event.index);
      if (block !== undefined) addDelta(block, event.delta);
    } else if (event.type === 'message_delta') {
      stopReason = event.delta.stop_reason ?? stopReason;
      // A count that is null is unknown.
      const counts = Object.entries(event.usage ?? {}).filter(([, count]) => count !== null);
      usage = { ...usage, ...Object.fromEntries(counts) };
    } else if (event.type === 'message_stop') {
      return { model, stopReason, usage, blocks: [...blocks.values()] };
    }
  }
  throw new BrokenAnswer();
}

function addDelta(block: Block, delta: Api.RawContentBlockDelta): void {
  const { native } = block;
  if (delta.type === 'input_json_delta') block.rawInput += delta.partial_json;
  if (native.type === 'text' && delta.type === 'text_delta') native.text += delta.text;
  if (native.type === 'text' && delta.type === 'citations_delta')
    native.citations = [...(native.citations ?? []), delta.citation];
  if (native.type === 'thinking' && delta.type === 'thinking_delta') native.thinking += delta.thinking;
  if (native.type === 'thinking' && delta.type === 'signature_delta') native.signature = delta.signature;
}

function completionOf(answer: JoinedMessage, messages: readonly Message[]): Completion {
  const { blocks } = answer;
  const uses = blocks.filter(({ native }) => native.type === 'tool_use');
  const stopReason = stop(answer.stopReason, uses.length > 0);
  const calls = toolCalls(uses.map(givenCall), stopReason, messages);
  return {
    message: {
      role: 'assistant',
      text: blocks.map(({ native }) => (native.type === 'text' ? native.text : '')).join(''),
      toolCalls: calls,
      native: replayed(blocks, new Map(uses.map((use, n) => [use, calls[n]])), stopReason),
    },
    stopReason,
    usage: usageOf(answer.usage),
    model: answer.model,
  };
}

function givenCall({ native, rawInput }: Block) {
  const { id, name, input }: Partial<Api.ToolUseBlock> = native.type === 'tool_use' ? native : {};
  // Some compatible servers send the whole input with the start of the block.
  return { id, name, arguments: rawInput || input };
}

function stop(reason: string, hasCalls: boolean): StopReason {
  if (reason === 'refusal') return 'refusal';
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  if (reason === 'pause_turn') return 'pause';
  return hasCalls ? 'tool_calls' : 'end';
}

/**
 * Returns the blocks of a turn for the history: unchanged, except that calls get their final ids and objects as input.
 * The API rejects blank text, thinking that was cut before it was signed, and a turn that is empty or ends with thinking.
 */
function replayed(
  blocks: readonly Block[],
  calls: ReadonlyMap<Block, ToolCall | undefined>,
  stopReason: StopReason,
): readonly object[] {
  const kept = blocks.filter(({ native }) => {
    if (native.type === 'text') return native.text.trim() !== '';
    return native.type !== 'thinking' || native.signature !== '' || stopReason !== 'length';
  });
  const content = kept.map((block) => {
    const call = calls.get(block);
    if (call === undefined) return block.native;
    const input = replayableInput(call.rawArguments);
    return { ...block.native, id: call.id, name: replayableName(call.name), input };
  });
  const last = kept.at(-1)?.native.type;
  const isSaid = last === 'text' || last === 'tool_use';
  return isSaid ? content : [...content, { type: 'text', text: '(empty)' }];
}

/** Returns token counts, where the API counts cached tokens apart from the other input; null if there are none. */
function usageOf(usage: Partial<Api.Usage> | undefined): Completion['usage'] {
  if (usage?.output_tokens === undefined) return null;
  const cachedInputTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (usage.input_tokens ?? 0) + cachedInputTokens + cacheWriteTokens,
    outputTokens: usage.output_tokens,
    cachedInputTokens,
    cacheWriteTokens,
  };
}
