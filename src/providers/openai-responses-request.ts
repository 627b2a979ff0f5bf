/** A request to OpenAI's Responses API. */
import type { AssistantMessage, JsonObject, Message, ToolSpec } from '../types.ts';
import { isResponsesNative } from './openai-responses-replay.ts';
import type { CompletionRequest } from './provider.ts';
import { once, replayableInput, replayableName, wellFormed } from './reading.ts';
import { describedTool } from './schema/projection.ts';
import type { AdapterSettings } from './settings.ts';

/** What stands for an assistant turn without any content. */
const emptyTurn: JsonObject = { role: 'assistant', content: '(empty)' };

/**
 * Makes the bodies of a run's requests; what is the same from turn to turn comes first and byte-identical, for prompt
 * caches. Nothing is stored at the server, so reasoning comes back encrypted, where that is asked for, and is replayed.
 */
export function createResponsesBody(
  settings: AdapterSettings,
): (request: CompletionRequest, encrypted: boolean) => JsonObject {
  const { model, stream, maxOutputTokens, reasoningEffort } = settings;
  const wireTools = new WeakMap<readonly ToolSpec[], readonly JsonObject[]>();
  const wireMessages = new WeakMap<Message, readonly JsonObject[]>();
  return ({ system, toolChoice, ...request }, encrypted) => {
    const tools = once(wireTools, request.tools, (specs) => specs.map(wireTool));
    return {
      model,
      ...(stream ? { stream: true } : {}),
      store: false,
      ...(encrypted ? { include: ['reasoning.encrypted_content'] } : {}),
      ...(maxOutputTokens === null ? {} : { max_output_tokens: maxOutputTokens }),
      ...(reasoningEffort === null ? {} : { reasoning: { effort: reasoningEffort } }),
      ...(tools.length === 0 ? {} : { tools }),
      ...(system === '' ? {} : { instructions: wellFormed(system) }),
      input: request.messages.flatMap((message) => once(wireMessages, message, wireItems)),
      ...(toolChoice === 'auto' ? {} : { tool_choice: { type: 'function', name: toolChoice.tool } }),
    };
  };
}

/** Left out, `strict` means that the API tries to be strict, and refuses schemas that cannot be. */
function wireTool(spec: ToolSpec): JsonObject {
  const { description, parameters } = describedTool(spec, 'openai');
  return { type: 'function', name: spec.name, description, parameters, strict: false };
}

function wireItems(message: Message): readonly JsonObject[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: wellFormed(message.text) }];
    case 'tool':
      return message.results.map((result) => ({
        type: 'function_call_output',
        call_id: result.callId,
        output: wellFormed(result.content),
      }));
    case 'assistant': {
      const items = isResponsesNative(message.native) ? message.native.responsesOutput : rebuilt(message);
      return items.length === 0 ? [emptyTurn] : items;
    }
  }
}

/** An assistant message that this adapter did not make. */
function rebuilt(message: AssistantMessage): readonly JsonObject[] {
  const text = wellFormed(message.text);
  const calls = message.toolCalls.map((call) => ({
    type: 'function_call',
    call_id: call.id,
    name: replayableName(call.name),
    arguments: JSON.stringify(replayableInput(call.rawArguments)),
  }));
  return text.trim() === '' ? calls : [{ role: 'assistant', content: text }, ...calls];
}
