/** A request for a chat completion. */
import type { AssistantMessage, JsonObject, Message, ToolSpec } from '../types.ts';
import { isChatNative } from './openai-chat-response.ts';
import type { CompletionRequest } from './provider.ts';
import { once, replayableInput, replayableName, wellFormed } from './reading.ts';
import type { AdapterSettings } from './settings.ts';
import { describedTool } from './wire-schema.ts';

/** What stands for an assistant turn without any content: several servers refuse an empty one. */
const EMPTY_TURN = '(empty)';

const wireTools = new WeakMap<readonly ToolSpec[], readonly JsonObject[]>();
const wireMessages = new WeakMap<Message, readonly JsonObject[]>();

/** The body; what is the same from turn to turn comes first and byte-identical, for prompt caches. */
export function chatRequest(settings: AdapterSettings, request: CompletionRequest): JsonObject {
  const { model, maxOutputTokens, stream, isVendor } = settings;
  const { system, toolChoice } = request;
  const tools = once(wireTools, request.tools, (specs) => specs.map(wireTool));
  return {
    model,
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    // The vendor's newer models refuse `max_tokens`; most compatible servers know nothing else.
    ...(maxOutputTokens === null
      ? {}
      : { [isVendor ? 'max_completion_tokens' : 'max_tokens']: maxOutputTokens }),
    ...(tools.length === 0 ? {} : { tools }),
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: wellFormed(system) }]),
      ...request.messages.flatMap((message) => once(wireMessages, message, wireMessage)),
    ],
    ...(toolChoice === 'auto'
      ? {}
      : { tool_choice: { type: 'function', function: { name: toolChoice.tool } } }),
  };
}

function wireTool(spec: ToolSpec): JsonObject {
  const { description, parameters } = describedTool(spec, 'openai');
  return { type: 'function', function: { name: spec.name, description, parameters } };
}

function wireMessage(message: Message): readonly JsonObject[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: wellFormed(message.text) }];
    case 'tool':
      return message.results.map((result) => ({
        role: 'tool',
        tool_call_id: result.callId,
        content: wellFormed(result.content),
      }));
    case 'assistant':
      return [isChatNative(message.native) ? message.native.chatMessage : rebuilt(message)];
  }
}

/** An assistant message that this adapter did not make. */
function rebuilt(message: AssistantMessage): JsonObject {
  const calls = message.toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: {
      name: replayableName(call.name),
      arguments: JSON.stringify(replayableInput(call.rawArguments)),
    },
  }));
  const text = wellFormed(message.text);
  if (calls.length === 0) return { role: 'assistant', content: text === '' ? EMPTY_TURN : text };
  return { role: 'assistant', content: text === '' ? null : text, tool_calls: calls };
}
