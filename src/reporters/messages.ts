/**
 * A run as messages in the format of Anthropic's Messages API: the lines of the transcript, and of `json` and
 * `stream-json` output before the envelope.
 */
import { messageOf, ReportError } from '../errors.ts';
import { openPrivateLog } from '../files/private-file.ts';
import { isObject, parseStrictJson } from '../text/json.ts';
import type { AssistantMessage, Json, JsonObject, StopReason, ToolCall, Usage } from '../types.ts';
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
        const id = `msg_${session}_${event.turn}`;
        const message = assistant(event, id, model);
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
      case 'turn_started':
      case 'tool_started':
      case 'notice':
        return [];
    }
  };
  return (event) => messages(event).map((message) => maskObject(message, mask));
}

export interface TranscriptOptions extends MessagesOptions {
  /** Absolute path; the file is created, or truncated, at the first event. */
  readonly file: string;
}

/**
 * Writes each message as a line when it occurs. After a failed write it writes nothing more, so that the run continues,
 * and `report` rejects with a ReportError.
 */
export function createTranscript({ file, ...options }: TranscriptOptions): Reporter {
  const messages = createMessages(options);
  let append: ((line: string) => void) | null = null;
  let failure: ReportError | null = null;
  return {
    name: 'transcript',
    event(event) {
      if (failure !== null) return;
      try {
        append ??= openPrivateLog(file);
        for (const message of messages(event)) append(JSON.stringify(message));
      } catch (cause) {
        failure = new ReportError(`The transcript is not complete: ${messageOf(cause)}`, { cause });
      }
    },
    async report() {
      if (failure !== null) throw failure;
    },
  };
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

function maskObject(value: JsonObject, mask: (text: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [mask(key), masked(child, mask)]));
}

/** Masks every string and property name in a value. The depth of arguments is bounded by the strict JSON parser. */
export function masked(value: Json, mask: (text: string) => string): Json {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((child: Json) => masked(child, mask));
  return isObject(value) ? maskObject(value, mask) : value;
}
