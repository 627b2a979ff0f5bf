/** A run as messages: what `json` and `stream-json` tell before the envelope, in the shape of Anthropic's Messages API. */
import { isObject, parseStrictJson } from '../text/json.ts';
import type { AssistantMessage, Json, JsonObject, StopReason, ToolCall, Usage } from '../types.ts';
import type { RunEvent } from './report-types.ts';

/** What messages are made with. */
export interface MessagesOptions {
  readonly version: string;
  /** The folder that the agent works on. */
  readonly cwd: string;
  readonly mask: (text: string) => string;
}

/**
 * Gives a function from each event of one run, in order, to the messages that it makes. The first one is the only
 * `system` message; one `assistant` message for each turn, one `user` message for each tool result. Every string and
 * name in them is masked. Arguments of `structured_output` and of tools that were not offered are the
 * placeholder that the events carry.
 */
export function createMessages({ version, cwd, mask }: MessagesOptions): (event: RunEvent) => JsonObject[] {
  let session = '';
  let model = '';
  const user = (content: readonly Json[]) => ({
    type: 'user',
    message: { role: 'user', content },
    session_id: session,
  });
  const messages = (event: RunEvent): JsonObject[] => {
    switch (event.type) {
      case 'run_started': {
        const { provider, sessionId, tools, prompt } = event;
        session = sessionId;
        model = event.model;
        const init = { session_id: session, cwd, model, provider, tools, version };
        return [{ type: 'system', subtype: 'init', ...init }, user([{ type: 'text', text: prompt }])];
      }
      case 'turn_completed': {
        const id = `msg_${session}_${event.turn}`;
        return [{ type: 'assistant', message: assistant(event, id, model), session_id: session }];
      }
      case 'tool_finished': {
        const { callId, content, isError } = event.result;
        return [user([{ type: 'tool_result', tool_use_id: callId, content, is_error: isError }])];
      }
      case 'user_message':
        return [user([{ type: 'text', text: event.text }])];
      case 'turn_started':
      case 'tool_started':
      case 'notice':
        return [];
    }
  };
  return (event) => messages(event).map((message) => maskObject(message, mask));
}

function assistant(
  { message, stopReason, usage }: Extract<RunEvent, { type: 'turn_completed' }>,
  id: string,
  model: string,
): JsonObject {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: blocks(message),
    stop_reason: STOP_REASONS[stopReason],
    stop_sequence: null,
    usage: usage === null ? null : usageOf(usage),
  };
}

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
  pause: 'pause_turn',
};

function blocks({ text, toolCalls }: AssistantMessage): readonly JsonObject[] {
  return [...(text === '' ? [] : [{ type: 'text', text }]), ...toolCalls.map(toolUse)];
}

/** `input` must be an object there: where the text of the arguments is none, `raw_input` holds it. */
function toolUse({ id, name, rawArguments, status }: ToolCall): JsonObject {
  const read = status === 'complete' ? parseStrictJson(rawArguments === '' ? '{}' : rawArguments) : null;
  const call = { type: 'tool_use', id, name };
  return read?.ok && isObject(read.value)
    ? { ...call, input: read.value }
    : { ...call, input: {}, raw_input: rawArguments };
}

/** Their `input_tokens` are those that no cache had a part in. */
function usageOf(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedInputTokens,
    output_tokens: outputTokens,
  };
}

function maskObject(value: JsonObject, mask: (text: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [mask(key), masked(child, mask)]));
}

/** A value with every string and name in it masked. The depth of arguments is bounded by the reader of strict JSON. */
export function masked(value: Json, mask: (text: string) => string): Json {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((child: Json) => masked(child, mask));
  return isObject(value) ? maskObject(value, mask) : value;
}
