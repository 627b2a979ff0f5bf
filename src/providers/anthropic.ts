/** Anthropic's Messages API, and endpoints that are compatible with it; always streamed. */
// Not Anthropic: its resources are most of the SDK, and this adapter uses none of them.
import { BaseAnthropic } from '@anthropic-ai/sdk';
import type { Stream } from '@anthropic-ai/sdk/core/streaming';
import type * as Api from '@anthropic-ai/sdk/resources/messages';
import type { Message, ToolSpec, Usage } from '../types.ts';
import { type Answer, createAdapter, type ReplayableCall } from './call.ts';
import { BrokenAnswer } from './errors.ts';
import type { AdapterSettings, CompletionRequest, Provider } from './provider.ts';
import { describedTool } from './wire-schema.ts';

/** A breakpoint of the prompt cache; the next request reads everything before it from the cache. */
const MARK = { cache_control: { type: 'ephemeral' } } as const;

export function createAnthropic(settings: AdapterSettings): Provider {
  return createAdapter(settings, 'text/event-stream', async (request, { client, signal }) => {
    const sdk = new BaseAnthropic({ ...client, authToken: null, openTelemetry: false });
    // `messages.stream` writes to the console about models that will be retired, and fails if arguments are not JSON.
    const options = { body: bodyOf(settings, request), stream: true, signal };
    return joinEvents(await sdk.post<Stream<Api.RawMessageStreamEvent>>('/v1/messages', options));
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

function wireMessage(message: Message): Readonly<{ role: string; content: readonly object[] }> {
  if (message.role === 'user') return { role: 'user', content: [{ type: 'text', text: message.text }] };
  if (message.role === 'assistant') return { role: 'assistant', content: message.native as object[] };
  const content = message.results.map((result) => ({
    type: 'tool_result',
    tool_use_id: result.callId,
    content: result.content,
    ...(result.isError ? { is_error: true } : {}),
  }));
  return { role: 'user', content };
}

/** Marks the last two user messages: the end of this conversation, and the position of the last request's mark. */
function marked(messages: readonly ReturnType<typeof wireMessage>[]) {
  const ends = new Set(messages.filter(({ role }) => role === 'user').slice(-2));
  return messages.map((message) =>
    ends.has(message)
      ? { ...message, content: [...message.content.slice(0, -1), { ...message.content.at(-1), ...MARK }] }
      : message,
  );
}

/** A content block; the pieces of a call's input are joined as `partial_json`. */
type Block = Record<string, unknown>;

/** Joins a stream. The input of a call stays text: a parsed one no longer shows duplicate keys. */
async function joinEvents(events: Stream<Api.RawMessageStreamEvent>): Promise<Answer> {
  const blocks: Block[] = [];
  let message: Partial<Api.Message> = {};
  for await (const event of events) {
    if (event.type === 'message_start') {
      message = event.message;
    } else if (event.type === 'content_block_start') {
      blocks[event.index] = { ...event.content_block };
    } else if (event.type === 'content_block_delta') {
      const block = blocks[event.index] ?? {};
      for (const [field, piece] of Object.entries(event.delta))
        if (field !== 'type' && typeof piece === 'string') block[field] = `${block[field] ?? ''}${piece}`;
    } else if (event.type === 'message_delta') {
      // A count that is null is unknown.
      const counts = Object.entries(event.usage ?? {}).filter(([, count]) => count !== null);
      const usage = Object.assign({}, message.usage, Object.fromEntries(counts));
      message = { ...message, stop_reason: event.delta.stop_reason ?? null, usage };
    } else if (event.type === 'message_stop') {
      return answerOf(blocks, message);
    }
  }
  throw new BrokenAnswer();
}

function stopOf(reason: string | null): Answer['stopReason'] {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  if (reason === 'pause_turn') return 'pause';
  return reason === 'refusal' ? 'refusal' : null;
}

function answerOf(blocks: readonly Block[], message: Partial<Api.Message>): Answer {
  const stopReason = stopOf(message.stop_reason ?? null);
  const uses = blocks.filter(({ type }) => type === 'tool_use');
  return {
    text: blocks.map(({ type, text }) => (type === 'text' ? text : '')).join(''),
    // Some compatible servers send the whole input with the start of the block.
    calls: uses.map(({ id, name, input, partial_json }) => ({ id, name, arguments: partial_json ?? input })),
    stopReason,
    replay: (calls) => replayed(blocks, calls, stopReason === 'length'),
    usage: usageOf(message.usage),
    model: message.model ?? '',
  };
}

/**
 * Returns the blocks of a turn for the history: unchanged, except that calls get their final ids and objects as input.
 * The API rejects blank text, thinking that was cut before it was signed, and a turn that is empty or ends with thinking.
 */
function replayed(blocks: readonly Block[], calls: readonly ReplayableCall[], isCut: boolean) {
  const kept = blocks.filter(({ type, text, signature }) => {
    if (type === 'text') return String(text).trim() !== '';
    return type !== 'thinking' || signature !== '' || !isCut;
  });
  const next = calls.values();
  const content = kept.map(({ partial_json: _, ...block }) => {
    const call = block['type'] === 'tool_use' ? next.next().value : undefined;
    return call === undefined ? block : { ...block, id: call.id, name: call.name, input: call.input };
  });
  const last = kept.at(-1)?.['type'];
  const isSaid = last === 'text' || last === 'tool_use';
  return isSaid ? content : [...content, { type: 'text', text: '(empty)' }];
}

/** Returns token counts, where the API counts cached tokens apart from the other input; null if there are none. */
function usageOf(usage: Partial<Api.Usage> | undefined): Usage | null {
  if (usage?.output_tokens == null) return null;
  const cachedInputTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (usage.input_tokens ?? 0) + cachedInputTokens + cacheWriteTokens,
    outputTokens: usage.output_tokens,
    cachedInputTokens,
    cacheWriteTokens,
  };
}
