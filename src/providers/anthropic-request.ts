/** A request to Anthropic's Messages API. */
import type { AssistantMessage, JsonObject, Message, ToolSpec } from '../types.ts';
import { isAnthropicNative } from './anthropic-response.ts';
import type { CompletionRequest } from './provider.ts';
import { once, replayableInput, replayableName, wellFormed } from './reading.ts';
import { describedTool } from './schema/projection.ts';
import type { AdapterSettings } from './settings.ts';

/** A breakpoint of the prompt cache; what comes before it is read from the cache by the next request. */
const cacheMark: JsonObject = { cache_control: { type: 'ephemeral' } };

/** What stands for what an assistant turn did not say: the API refuses one that is empty, or ends with thinking. */
const EMPTY_TURN = '(empty)';

const wireTools = new WeakMap<readonly ToolSpec[], readonly JsonObject[]>();
const wireMessages = new WeakMap<Message, WireMessage>();

type WireMessage = { readonly role: 'user' | 'assistant'; readonly content: readonly JsonObject[] };

/**
 * The body; what is the same from turn to turn is byte-identical, the cache marks aside: they move with the end of the
 * conversation and are no part of what the cache compares.
 */
export function anthropicRequest(settings: AdapterSettings, request: CompletionRequest): JsonObject {
  const { system, toolChoice } = request;
  const tools = once(wireTools, request.tools, (specs) => specs.map(wireTool));
  const messages = request.messages.map((message) => once(wireMessages, message, wireMessage));
  return {
    model: settings.model,
    max_tokens: settings.maxOutputTokens ?? defaultMaxTokens(settings.model),
    ...(settings.stream ? { stream: true } : {}),
    ...(settings.reasoningEffort === null ? {} : { output_config: { effort: settings.reasoningEffort } }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(system === '' ? {} : { system: [{ type: 'text', text: wellFormed(system), ...cacheMark }] }),
    messages: marked(messages),
    ...(toolChoice === 'auto' ? {} : { tool_choice: { type: 'tool', name: toolChoice.tool } }),
  };
}

/** The API wants a number, and refuses more than a model can write: 4,096 and 8,192 for the oldest ones. */
function defaultMaxTokens(model: string): number {
  if (/claude-3-(opus|sonnet|haiku)/.test(model)) return 4096;
  return /claude-3-5/.test(model) ? 8192 : 16_000;
}

function wireTool(spec: ToolSpec): JsonObject {
  const { description, parameters } = describedTool(spec, 'anthropic');
  return { name: spec.name, description, input_schema: parameters };
}

function wireMessage(message: Message): WireMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: wellFormed(message.text) }] };
    case 'tool': {
      const content = message.results.map((result) => ({
        type: 'tool_result',
        tool_use_id: result.callId,
        content: wellFormed(result.content),
        ...(result.isError ? { is_error: true } : {}),
      }));
      return { role: 'user', content };
    }
    case 'assistant': {
      const blocks = isAnthropicNative(message.native) ? message.native.anthropicContent : rebuilt(message);
      const { type } = blocks.at(-1) ?? {};
      const isSaid = type !== undefined && type !== 'thinking' && type !== 'redacted_thinking';
      return {
        role: 'assistant',
        content: isSaid ? blocks : [...blocks, { type: 'text', text: EMPTY_TURN }],
      };
    }
  }
}

/** An assistant message that this adapter did not make. */
function rebuilt(message: AssistantMessage): readonly JsonObject[] {
  const text = wellFormed(message.text);
  const calls = message.toolCalls.map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: replayableName(call.name),
    input: replayableInput(call.rawArguments),
  }));
  return text.trim() === '' ? calls : [{ type: 'text', text }, ...calls];
}

/** Marks the last two messages of ours: the end of this conversation, and where the last request's mark stood. */
function marked(messages: readonly WireMessage[]): readonly JsonObject[] {
  const ours = messages.flatMap((message, at) => (message.role === 'user' ? [at] : []));
  const ends = new Set(ours.slice(-2));
  return messages.map((message, at) => {
    const last = message.content.at(-1);
    if (!ends.has(at) || last === undefined) return message;
    return { ...message, content: [...message.content.slice(0, -1), { ...last, ...cacheMark }] };
  });
}
