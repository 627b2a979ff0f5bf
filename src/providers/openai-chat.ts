/**
 * Chat completions: all OpenAI-compatible servers, including Gemini's endpoint, and Azure OpenAI. Never streamed: in a
 * stream of Gemini's endpoint all calls of a turn have one index.
 */
import OpenAI, { APIError } from 'openai';
import type * as Api from 'openai/resources/chat/completions';
import type { CompletionUsage } from 'openai/resources/completions';
import type { Message, StopReason, ToolCall, ToolSpec } from '../types.ts';
import { clientOptions, createAdapter, notACompletion } from './call.ts';
import { BrokenAnswer } from './errors.ts';
import type { AdapterSettings, Completion, CompletionRequest, Provider } from './provider.ts';
import { objectOf, replayableArguments, replayableName, toolCalls } from './tool-calls.ts';
import { describedTool } from './wire-schema.ts';

/** Finish reasons in lower case, of OpenAI and of other servers: for a cut answer, a filter, and a broken answer. */
const CUT = new Set(['length', 'max_tokens', 'model_length', 'incomplete']);
const FILTERED = new Set([
  'content_filter',
  'safety',
  'recitation',
  'blocklist',
  'prohibited_content',
  'spii',
]);
const BROKEN = new Set(['error', 'abort', 'insufficient_system_resource']);

export function createOpenAiChat(settings: AdapterSettings): Provider {
  return createAdapter(settings, {
    answer: 'application/json',
    send: async (request, attempt) => {
      const { chat } = new OpenAI(clientOptions(settings, attempt));
      const { signal } = attempt;
      return checked(await chat.completions.create(bodyOf(settings, request), { signal }), settings.host);
    },
    read: completionOf,
  });
}

/**
 * Builds the request body. What stays the same between turns comes first and is byte-identical, for prompt caches.
 * Optional fields are only sent if they were configured, because Gemini's endpoint rejects a request with any unknown
 * field.
 */
function bodyOf(
  { model, maxOutputTokens, maxTokensField, reasoningEffort, dialect }: AdapterSettings,
  { system, tools, messages, toolChoice }: CompletionRequest,
): Api.ChatCompletionCreateParamsNonStreaming {
  return {
    model,
    ...(maxOutputTokens === null ? {} : { [maxTokensField]: maxOutputTokens }),
    ...(reasoningEffort === null
      ? {}
      : { reasoning_effort: reasoningEffort as Api.ChatCompletionReasoningEffort }),
    ...(tools.length === 0 ? {} : { tools: tools.map((spec) => wireTool(spec, dialect)) }),
    messages: [{ role: 'system', content: system }, ...messages.flatMap(wireMessages)],
    ...(toolChoice === 'auto'
      ? {}
      : { tool_choice: { type: 'function', function: { name: toolChoice.tool } } }),
  };
}

function wireTool(spec: ToolSpec, dialect: AdapterSettings['dialect']): Api.ChatCompletionTool {
  return { type: 'function', function: { name: spec.name, ...describedTool(spec, dialect) } };
}

function wireMessages(message: Message): Api.ChatCompletionMessageParam[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'assistant') return [message.native as Api.ChatCompletionAssistantMessageParam];
  return message.results.map((result) => ({
    role: 'tool',
    tool_call_id: result.callId,
    content: result.content.toWellFormed(),
  }));
}

type Called = Api.ChatCompletionMessageFunctionToolCall.Function;

/** The first choice of an answer, and what belongs to all of it. */
interface Answer {
  readonly message: Api.ChatCompletionMessage;
  readonly finishReason: string;
  readonly usage: CompletionUsage | null;
  readonly model: string;
}

/** Refuses what is not a completion: the types are those of OpenAI, and the server may be any. */
function checked(answer: Api.ChatCompletion, host: string): Answer {
  // Gateways report an error of the server behind them like this, with status 200.
  const { error } = objectOf(answer);
  if (error) throw new APIError(undefined, error, undefined, undefined);
  const choice = answer?.choices?.[0];
  if (!choice?.message) throw notACompletion(host, 'something else');
  // Gemini's endpoint sends `content_filter: OTHER`, and `function_call_filter: …` for a call that it dropped.
  const [finishReason = ''] = (choice.finish_reason ?? '').toLowerCase().split(':');
  if (BROKEN.has(finishReason)) throw new BrokenAnswer();
  return { message: choice.message, finishReason, usage: answer.usage ?? null, model: answer.model };
}

function completionOf(answer: Answer, messages: readonly Message[]): Completion {
  const { message, finishReason } = answer;
  const uses = message.tool_calls ?? [];
  const stopReason = stop(finishReason, message, uses.length > 0);
  const calls = toolCalls(uses.map(givenCall), stopReason, messages);
  return {
    message: {
      role: 'assistant',
      text: message.refusal || textOf(message.content),
      toolCalls: calls,
      native: replayed(message, calls),
    },
    stopReason,
    usage: usageOf(answer.usage),
    model: answer.model,
  };
}

function givenCall(call: Api.ChatCompletionMessageToolCall) {
  return { ...functionOf(call), id: call.id };
}

function functionOf(call: Api.ChatCompletionMessageToolCall | undefined): Partial<Called> {
  return call === undefined || call.type === 'custom' ? {} : (call.function ?? {});
}

/** Servers use many words for a normal end, and mix up `stop` and `tool_calls`. */
function stop(finishReason: string, { refusal }: Api.ChatCompletionMessage, hasCalls: boolean): StopReason {
  if (FILTERED.has(finishReason) || refusal) return 'refusal';
  if (CUT.has(finishReason)) return 'length';
  return hasCalls ? 'tool_calls' : 'end';
}

/** Returns the text of the content; some servers send it in parts. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content.map((part: unknown) => textOf(objectOf(part)['text'])).join('');
}

/**
 * Returns the message for the history: unknown fields unchanged (thought signatures), and calls with their final ids and
 * parseable arguments. Several servers reject an empty list of calls, and a message without content.
 */
function replayed(message: Api.ChatCompletionMessage, calls: readonly ToolCall[]): object {
  const { tool_calls: uses = [], content, ...rest } = message;
  if (calls.length === 0) return { ...rest, role: 'assistant', content: content || '(empty)' };
  const tool_calls = calls.map(({ id, name, rawArguments }, n) => {
    const use = uses?.[n];
    const called = { name: replayableName(name), arguments: replayableArguments(rawArguments) };
    return { ...use, id, type: 'function', function: { ...functionOf(use), ...called } };
  });
  return { ...rest, role: 'assistant', content: content ?? null, tool_calls };
}

/**
 * Returns token counts, where cached tokens are part of the input; null if there are none. Gemini and xAI leave reasoning
 * tokens, which they bill, out of the completion tokens: only the total includes them.
 */
function usageOf(usage: Partial<CompletionUsage> | null): Completion['usage'] {
  if (usage?.prompt_tokens === undefined) return null;
  const { prompt_tokens: inputTokens, completion_tokens = 0, total_tokens = 0 } = usage;
  return {
    inputTokens,
    outputTokens: Math.max(completion_tokens, total_tokens - inputTokens),
    cachedInputTokens: Math.min(usage.prompt_tokens_details?.cached_tokens ?? 0, inputTokens),
    cacheWriteTokens: usage.prompt_tokens_details?.cache_write_tokens ?? 0,
  };
}
