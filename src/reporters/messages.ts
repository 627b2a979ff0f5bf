/**
 * A run as messages in the format of Anthropic's Messages API: the lines of the transcript, and of `json` and
 * `stream-json` output before the envelope.
 */
import { openPrivateLog } from '../files/private-file.ts';
import { isArray, isObject, parseStrictJson } from '../text/json.ts';
import type { Json, JsonObject, StopReason, ToolCall, Usage } from '../types.ts';
import type { Reporter, RunEvent } from './report-types.ts';

export interface MessagesOptions {
  readonly version: string;
  readonly cwd: string;
  readonly mask: (text: string) => string;
}

/**
 * Returns a function that maps each event of one run, in order, to its messages. The first message is the only `system`
 * message; each turn gives one `assistant` message and each tool result one `user` message. All strings and property
 * names are masked. Arguments of `structured_output` and of tools that were not offered are the placeholder that the
 * events contain.
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
        const message = assistantMessage(event, `msg_${session}_${event.turn}`, model);
        return [{ type: 'assistant', message, session_id: session, duration_ms: event.durationMs }];
      }
      case 'tool_finished': {
        const { callId, content, isError } = event.result;
        const line = user([{ type: 'tool_result', tool_use_id: callId, content, is_error: isError }]);
        // An error result is a call that ran: `is_error` says what became of it.
        const decision = event.decision === 'error' ? 'ok' : event.decision;
        return [{ ...line, duration_ms: event.durationMs, decision }];
      }
      case 'user_message':
        return [user([{ type: 'text', text: event.text }])];
      default:
        return [];
    }
  };
  return (event) => messages(event).map((message) => mapFields(message, mask));
}

/**
 * Writes each message as a line when it occurs. After a failed write it writes nothing more, and `report` rejects.
 * @param file an absolute path; the file is created, or truncated, at the first event
 */
export function createTranscript(file: string, options: MessagesOptions): Reporter {
  const messages = createMessages(options);
  let append: ((line: string) => void) | null = null;
  let failure: unknown = null;
  return {
    name: 'transcript',
    event(event) {
      if (failure !== null) return;
      try {
        append ??= openPrivateLog(file);
        for (const message of messages(event)) append(JSON.stringify(message));
      } catch (error) {
        failure = error;
      }
    },
    async report() {
      if (failure !== null) throw failure;
    },
  };
}

function assistantMessage(
  { message, stopReason, usage }: Extract<RunEvent, { type: 'turn_completed' }>,
  id: string,
  model: string,
): JsonObject {
  const { text, toolCalls } = message;
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [...(text === '' ? [] : [{ type: 'text', text }]), ...toolCalls.map(toolUse)],
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

/** `input` must be an object in the Messages API: if the arguments are not one, `raw_input` holds their text. */
function toolUse({ id, name, rawArguments, status }: ToolCall): JsonObject {
  const read = status === 'complete' ? parseStrictJson(rawArguments === '' ? '{}' : rawArguments) : null;
  const call = { type: 'tool_use', id, name };
  return read?.ok && isObject(read.value)
    ? { ...call, input: read.value }
    : { ...call, input: {}, raw_input: rawArguments };
}

/** In the Messages API `input_tokens` excludes tokens read from or written to the cache. */
function usageOf(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedInputTokens,
    output_tokens: outputTokens,
  };
}

/** Changes every string and property name in a value, for example to mask it. The strict parser has bounded its depth. */
export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (isArray(value)) return value.map((child) => mapTexts(child, change));
  return isObject(value) ? mapFields(value, change) : value;
}

/** The same for an object. */
export function mapFields(value: JsonObject, change: (text: string) => string): JsonObject {
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, child]) => [change(key), mapTexts(child, change)]));
}
