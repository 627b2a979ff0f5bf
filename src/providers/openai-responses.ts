/** OpenAI's Responses API, at the vendor's endpoint and at gateways in front of it; always streamed. */
import OpenAI, { APIError } from 'openai';
import type * as Api from 'openai/resources/responses/responses';
import type { ReasoningEffort } from 'openai/resources/shared';
import type { Message, StopReason, ToolCall, ToolSpec } from '../types.ts';
import { clientOptions, createAdapter } from './call.ts';
import { BrokenAnswer } from './errors.ts';
import type { AdapterSettings, Completion, CompletionRequest, Provider } from './provider.ts';
import { replayableArguments, replayableName, toolCalls } from './tool-calls.ts';
import { describedTool } from './wire-schema.ts';

/** Models without reasoning, with or without the prefix of a gateway or of fine-tuning; they reject requests for it. */
const WITHOUT_REASONING = /(^|[/:])(gpt-(3|4)|chatgpt-|gpt-5(\.\d+)?-chat)/;

export function createOpenAiResponses(settings: AdapterSettings): Provider {
  return createAdapter(settings, {
    answer: 'text/event-stream',
    send: async (request, attempt) => {
      const { responses } = new OpenAI(clientOptions(settings, attempt));
      const { signal } = attempt;
      return lastResponse(await responses.create(bodyOf(settings, request), { signal }));
    },
    read: completionOf,
  });
}

/**
 * Builds the request body. What stays the same between turns comes first and is byte-identical, for prompt caches.
 * Nothing is stored on the server, so reasoning is returned encrypted, and replayed.
 */
function bodyOf(
  { model, maxOutputTokens, reasoningEffort }: AdapterSettings,
  { system, tools, messages, toolChoice }: CompletionRequest,
): Api.ResponseCreateParamsStreaming {
  return {
    model,
    stream: true,
    store: false,
    ...(WITHOUT_REASONING.test(model) ? {} : { include: ['reasoning.encrypted_content'] }),
    ...(maxOutputTokens === null ? {} : { max_output_tokens: maxOutputTokens }),
    ...(reasoningEffort === null ? {} : { reasoning: { effort: reasoningEffort as ReasoningEffort } }),
    ...(tools.length === 0 ? {} : { tools: tools.map(wireTool) }),
    instructions: system,
    input: messages.flatMap(wireItems),
    ...(toolChoice === 'auto' ? {} : { tool_choice: { type: 'function', name: toolChoice.tool } }),
  };
}

/** Sets `strict` to false: if it is omitted, the API tries strict mode and rejects schemas that do not allow it. */
function wireTool(spec: ToolSpec): Api.FunctionTool {
  return { type: 'function', name: spec.name, ...describedTool(spec, 'openai'), strict: false };
}

function wireItems(message: Message): Api.ResponseInputItem[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'assistant') return message.native as Api.ResponseInputItem[];
  return message.results.map((result) => ({
    type: 'function_call_output',
    call_id: result.callId,
    output: result.content.toWellFormed(),
  }));
}

/** Reads a stream up to its last event, which contains the whole response. */
async function lastResponse(events: AsyncIterable<Api.ResponseStreamEvent>): Promise<Api.Response> {
  for await (const event of events) {
    if (event.type === 'response.completed' || event.type === 'response.incomplete') return event.response;
    if (event.type === 'response.failed')
      throw new APIError(undefined, event.response.error ?? {}, undefined, undefined);
  }
  throw new BrokenAnswer();
}

function completionOf(response: Api.Response, messages: readonly Message[]): Completion {
  const { output = [] } = response;
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const refusal = parts.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('');
  const uses = output.filter((item) => item.type === 'function_call');
  const stopReason = stop(response, refusal, uses);
  const calls = toolCalls(
    uses.map((use) => ({ ...use, id: use.call_id })),
    stopReason,
    messages,
  );
  return {
    message: {
      role: 'assistant',
      text: refusal || parts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''),
      toolCalls: calls,
      native: replayed(output, new Map(uses.map((use, n) => [use, calls[n]]))),
    },
    stopReason,
    usage: usageOf(response.usage),
    model: response.model,
  };
}

function stop(
  { status, incomplete_details: details }: Api.Response,
  refusal: string,
  uses: readonly Api.ResponseFunctionToolCall[],
): StopReason {
  if (refusal !== '' || details?.reason === 'content_filter') return 'refusal';
  if (status === 'incomplete' || uses.some((use) => use.status === 'incomplete')) return 'length';
  return uses.length > 0 ? 'tool_calls' : 'end';
}

/**
 * Returns the items of a turn for the history: unchanged, except that calls get their final ids and parseable arguments.
 * The API rejects an empty turn, and reasoning without its content or without an item that it led to.
 */
function replayed(
  output: readonly Api.ResponseOutputItem[],
  calls: ReadonlyMap<Api.ResponseOutputItem, ToolCall | undefined>,
): readonly object[] {
  const end = output.findLastIndex((item) => item.type !== 'reasoning') + 1;
  const kept = output.slice(0, end).filter((item) => item.type !== 'reasoning' || item.encrypted_content);
  if (kept.length === 0) return [{ role: 'assistant', content: '(empty)' }];
  return kept.map((item) => {
    const call = calls.get(item);
    const called = call && {
      call_id: call.id,
      name: replayableName(call.name),
      arguments: replayableArguments(call.rawArguments),
    };
    // An id stands for an item together with the reasoning before it, and is rejected without that reasoning.
    const isAlone = kept.length < output.length && item.type !== 'reasoning';
    return { ...item, ...called, ...(isAlone ? { id: undefined } : {}) };
  });
}

/** Returns token counts, where cached tokens are part of the input; null if there are none. */
function usageOf(usage: Api.ResponseUsage | null | undefined): Completion['usage'] {
  if (usage === null || usage === undefined) return null;
  const details: Partial<Api.ResponseUsage.InputTokensDetails> = usage.input_tokens_details ?? {};
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cachedInputTokens: details.cached_tokens ?? 0,
    cacheWriteTokens: details.cache_write_tokens ?? 0,
  };
}
