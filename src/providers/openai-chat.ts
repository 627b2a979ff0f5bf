/**
 * Chat completions: all OpenAI-compatible servers, including Gemini's endpoint, and Azure OpenAI. Never streamed: in a
 * stream of Gemini's endpoint all calls of a turn have one index.
 */
import OpenAI, { APIError } from 'openai';
import type * as Api from 'openai/resources/chat/completions';
import type { CompletionUsage } from 'openai/resources/completions';
import type { ReasoningEffort } from 'openai/resources/shared';
import { objectOf } from '../text/json.ts';
import type { Message, ToolSpec, Usage } from '../types.ts';
import { type Answer, createAdapter, notACompletion, type ReplayableCall } from './call.ts';
import { BrokenAnswer } from './errors.ts';
import type { AdapterSettings, CompletionRequest, Provider } from './provider.ts';
import { describedTool } from './wire-schema.ts';

/** Finish reasons of OpenAI and of other servers, for a cut answer, a filter, and a broken answer. */
const CUT = /^(length|max_tokens|model_length|incomplete)/i;
const FILTERED = /^(content_filter|safety|recitation|blocklist|prohibited_content|spii)/i;
const BROKEN = /^(error|abort|insufficient_system_resource)/i;

export function createOpenAiChat(settings: AdapterSettings): Provider {
  return createAdapter(settings, 'application/json', async (request, { client, signal }) => {
    const { completions } = new OpenAI(client).chat;
    return answerOf(await completions.create(bodyOf(settings, request), { signal }), settings.host);
  });
}

/**
 * Builds the request body. What stays the same between turns comes first and is byte-identical, for prompt caches.
 * Optional fields are only sent if they were configured, because Gemini's endpoint rejects a request with any unknown
 * field.
 */
function bodyOf(
  { model, maxOutputTokens, reasoningEffort, dialect }: AdapterSettings,
  { system, tools, messages, toolChoice }: CompletionRequest,
): Api.ChatCompletionCreateParamsNonStreaming {
  // OpenAI's models reject the older name.
  const limit = dialect === 'openai' ? 'max_completion_tokens' : 'max_tokens';
  return {
    model,
    ...(maxOutputTokens === null ? {} : { [limit]: maxOutputTokens }),
    ...(reasoningEffort === null ? {} : { reasoning_effort: reasoningEffort as ReasoningEffort }),
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
    content: result.content,
  }));
}

/** The calls of a message; tools of other kinds are not offered. */
type Uses = readonly Api.ChatCompletionMessageFunctionToolCall[];

/** Reads a completion. The types are those of OpenAI, and the server may be any. */
function answerOf(completion: Api.ChatCompletion, host: string): Answer {
  // Gateways report an error of the server behind them like this, with status 200.
  const { error } = objectOf(completion);
  if (error) throw new APIError(undefined, error, undefined, undefined);
  const choice = completion?.choices?.[0];
  if (!choice?.message) throw notACompletion(host, 'something else');
  const { message, finish_reason: reason } = choice;
  const uses = (message.tool_calls ?? []) as Uses;
  if (BROKEN.test(reason)) throw new BrokenAnswer();
  const isRefused = FILTERED.test(reason) || Boolean(message.refusal);
  return {
    text: message.refusal || (typeof message.content === 'string' ? message.content : ''),
    calls: uses.map((use) => ({ ...use.function, id: use.id })),
    stopReason: isRefused ? 'refusal' : CUT.test(reason) ? 'length' : null,
    replay: (calls) => replayed(message, uses, calls),
    usage: usageOf(completion.usage),
    model: completion.model,
  };
}

/**
 * Returns the message for the history: unknown fields unchanged (thought signatures), and calls with their final ids and
 * parseable arguments. Several servers reject an empty list of calls, and a message without content.
 */
function replayed(message: Api.ChatCompletionMessage, uses: Uses, calls: readonly ReplayableCall[]): object {
  const { tool_calls: _, content, ...rest } = message;
  if (calls.length === 0) return { ...rest, role: 'assistant', content: content || '(empty)' };
  const tool_calls = calls.map(({ id, name, arguments: text }, n) => {
    const use = uses[n];
    return { ...use, id, type: 'function', function: { ...use?.function, name, arguments: text } };
  });
  return { ...rest, role: 'assistant', content: content ?? null, tool_calls };
}

/**
 * Returns token counts, where cached tokens are part of the input; null if there are none. Gemini and xAI leave reasoning
 * tokens, which they bill, out of the completion tokens: only the total includes them.
 */
function usageOf(usage: Partial<CompletionUsage> | null | undefined): Usage | null {
  const { prompt_tokens: inputTokens, completion_tokens: output, total_tokens: total } = usage ?? {};
  if (inputTokens == null || (output ?? total) == null) return null;
  return {
    inputTokens,
    outputTokens: Math.max(output ?? 0, (total ?? 0) - inputTokens),
    cachedInputTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: usage?.prompt_tokens_details?.cache_write_tokens ?? 0,
  };
}
