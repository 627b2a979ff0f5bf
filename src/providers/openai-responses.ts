/** OpenAI's Responses API, at the vendor's endpoint and at gateways in front of it; always streamed. */
import OpenAI, { APIError } from 'openai';
import type * as Api from 'openai/resources/responses/responses';
import type { ReasoningEffort } from 'openai/resources/shared';
import type { Message, ToolSpec, Usage } from '../types.ts';
import { type Answer, createAdapter, type ReplayableCall } from './call.ts';
import { BrokenAnswer } from './errors.ts';
import type { AdapterSettings, CompletionRequest, Provider } from './provider.ts';
import { describedTool } from './wire-schema.ts';

/** Models without reasoning, with or without the prefix of a gateway or of fine-tuning; they reject requests for it. */
const WITHOUT_REASONING = /(^|[/:])(gpt-(3|4)|chatgpt-|gpt-5(\.\d+)?-chat)/;

export function createOpenAiResponses(settings: AdapterSettings): Provider {
  return createAdapter(settings, 'text/event-stream', async (request, { client, signal }) => {
    const events = await new OpenAI(client).responses.create(bodyOf(settings, request), { signal });
    return answerOf(await lastResponse(events));
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
    output: result.content,
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

function answerOf(response: Api.Response): Answer {
  const { output = [], status, incomplete_details: details } = response;
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const refusal = parts.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('');
  const isRefused = refusal !== '' || details?.reason === 'content_filter';
  const uses = output.filter((item) => item.type === 'function_call');
  return {
    text: refusal || parts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''),
    calls: uses.map((use) => ({ ...use, id: use.call_id })),
    stopReason: isRefused ? 'refusal' : status === 'incomplete' ? 'length' : null,
    replay: (calls) => replayed(output, calls),
    usage: usageOf(response.usage),
    model: response.model,
  };
}

/**
 * Returns the items of a turn for the history: unchanged, except that calls get their final ids and parseable arguments.
 * The API rejects an empty turn, and reasoning without its content or without an item that it led to.
 */
function replayed(output: readonly Api.ResponseOutputItem[], calls: readonly ReplayableCall[]) {
  const end = output.findLastIndex((item) => item.type !== 'reasoning') + 1;
  const kept = output.slice(0, end).filter((item) => item.type !== 'reasoning' || item.encrypted_content);
  if (kept.length === 0) return [{ role: 'assistant', content: '(empty)' }];
  const next = calls.values();
  return kept.map((item) => {
    const call = item.type === 'function_call' ? next.next().value : undefined;
    const called = call && { call_id: call.id, name: call.name, arguments: call.arguments };
    // An id stands for an item together with the reasoning before it, and is rejected without that reasoning.
    const isAlone = kept.length < output.length && item.type !== 'reasoning';
    return { ...item, ...called, ...(isAlone ? { id: undefined } : {}) };
  });
}

/** Returns token counts, where cached tokens are part of the input; null if the server does not give them. */
function usageOf(usage: Partial<Api.ResponseUsage> | null | undefined): Usage | null {
  if (usage?.input_tokens == null || usage.output_tokens == null) return null;
  const details: Partial<Api.ResponseUsage.InputTokensDetails> = usage.input_tokens_details ?? {};
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cachedInputTokens: details.cached_tokens ?? 0,
    cacheWriteTokens: details.cache_write_tokens ?? 0,
  };
}
