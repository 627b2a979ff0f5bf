/** A request for a chat completion. */
import type { AssistantMessage, JsonObject, Message, ToolSpec } from '../types.ts';
import { isChatNative } from './openai-chat-response.ts';
import type { CompletionRequest, ProviderName } from './provider.ts';
import { once, replayableInput, replayableName, wellFormed } from './reading.ts';
import { type Dialect, describedTool } from './schema/projection.ts';
import type { AdapterSettings } from './settings.ts';

/** What stands for an assistant turn without any content: several servers refuse an empty one. */
const EMPTY_TURN = '(empty)';

/** Whose rules the tools' schemas follow. */
const dialects: Readonly<Record<ProviderName, Dialect>> = {
  openai: 'openai',
  'azure-openai': 'openai',
  gemini: 'gemini',
  'openai-compatible': 'compatible',
  anthropic: 'anthropic',
};

/**
 * Makes the bodies of a run's requests; what is the same from turn to turn comes first and byte-identical, for prompt
 * caches. Gemini's endpoint refuses a request for one field that it does not know: none goes out unasked.
 */
export function createChatBody(settings: AdapterSettings): (request: CompletionRequest) => JsonObject {
  const { provider, model, maxOutputTokens, reasoningEffort, stream } = settings;
  const dialect = dialects[provider];
  // OpenAI's newer models refuse `max_tokens`, and Azure serves them; most other servers know nothing else.
  const limit = provider === 'azure-openai' ? 'max_completion_tokens' : 'max_tokens';
  const wireTools = new WeakMap<readonly ToolSpec[], readonly JsonObject[]>();
  const wireMessages = new WeakMap<Message, readonly JsonObject[]>();
  return ({ system, toolChoice, ...request }) => {
    const tools = once(wireTools, request.tools, (specs) => specs.map((spec) => wireTool(spec, dialect)));
    return {
      model,
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
      ...(maxOutputTokens === null ? {} : { [limit]: maxOutputTokens }),
      ...(reasoningEffort === null ? {} : { reasoning_effort: reasoningEffort }),
      ...(tools.length === 0 ? {} : { tools }),
      messages: [
        ...(system === '' ? [] : [{ role: 'system', content: wellFormed(system) }]),
        ...request.messages.flatMap((message) => once(wireMessages, message, wireMessage)),
      ],
      ...(toolChoice === 'auto'
        ? {}
        : { tool_choice: { type: 'function', function: { name: toolChoice.tool } } }),
    };
  };
}

function wireTool(spec: ToolSpec, dialect: Dialect): JsonObject {
  const { description, parameters } = describedTool(spec, dialect);
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
