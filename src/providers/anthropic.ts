/** Adapter for Anthropic's Messages API and compatible endpoints. */

import type Anthropic from '@anthropic-ai/sdk';
// Not Anthropic: its resources are most of the SDK, and this adapter uses none of them.
import { APIConnectionError, APIConnectionTimeoutError, APIError, BaseAnthropic } from '@anthropic-ai/sdk';
import type { Stream } from '@anthropic-ai/sdk/core/streaming';
import { isArray, isObject } from '../text/json.ts';
import type { AssistantMessage, Json, JsonObject, Message, StopReason, ToolSpec, Usage } from '../types.ts';
import type { AdapterSettings, Completion, CompletionRequest, Provider } from './provider.ts';
import { type Api, type ApiResponse, maxRetries, retryRequest, sendRequest } from './request.ts';
import { describedTool } from './schema/project.ts';
import {
  countOf,
  objectOf,
  objectsOf,
  once,
  replayableInput,
  replayableName,
  saysError,
  textOf,
  toolCalls,
  wellFormed,
} from './tool-calls.ts';
import { createTransport } from './transport.ts';

/** The API version that the SDK's types describe; a test compares it with what the SDK itself sends. */
const apiVersion = '2026-10-21';

export function createAnthropic(settings: AdapterSettings): Provider {
  const { provider: name, model, baseUrl } = settings;
  const client = new BaseAnthropic({
    // null and placeholders keep the SDK from reading the environment and credential files; the transport sends the
    // real headers.
    apiKey: 'unused',
    webhookKey: null,
    baseURL: baseUrl,
    logLevel: 'off',
    openTelemetry: { traces: false, propagation: false },
    maxRetries,
    fetch: createTransport(settings.fetch, { 'anthropic-version': apiVersion, ...settings.headers }),
  });
  const api = (body: JsonObject, forced: boolean): Api => ({
    // `messages.create` writes to the console on each request for a model that will be retired.
    send: (options) =>
      client.post<Stream<Anthropic.RawMessageStreamEvent>>('/v1/messages', {
        ...options,
        body,
        stream: settings.stream,
      }),
    context: { ...settings.failureContext, forced },
    asSdkError: (error) => (error instanceof APIError ? { error, lost: lost(error) } : null),
    isWhole: isWholeMessage,
    isResponse: isMessage,
  });
  return {
    name,
    model,
    host: settings.failureContext.host,
    complete: async (request) => {
      const body = anthropicRequest(settings, request);
      const forced = request.toolChoice !== 'auto';
      const answer = await retryRequest(request, settings.retryPauseMs, (signal) =>
        sendRequest(api(body, forced), settings, { ...request, signal }),
      );
      return anthropicCompletion(answer, request, model);
    },
  };
}

function lost(error: APIError): 'timeout' | 'connection' | null {
  if (error instanceof APIConnectionTimeoutError) return 'timeout';
  return error instanceof APIConnectionError ? 'connection' : null;
}

/** A breakpoint of the prompt cache; the next request reads everything before it from the cache. */
const cacheMark: JsonObject = { cache_control: { type: 'ephemeral' } };

/** Replaces a missing end of an assistant turn: the API rejects a turn that is empty or ends with thinking. */
const EMPTY_TURN = '(empty)';

const wireTools = new WeakMap<readonly ToolSpec[], readonly JsonObject[]>();
const wireMessages = new WeakMap<Message, WireMessage>();

type WireMessage = { readonly role: 'user' | 'assistant'; readonly content: readonly JsonObject[] };

/**
 * Builds the request body. What stays the same between turns is byte-identical, except for the cache marks: they move
 * with the end of the conversation and are not part of what the cache compares.
 */
export function anthropicRequest(settings: AdapterSettings, request: CompletionRequest): JsonObject {
  const { system, toolChoice } = request;
  const tools = once(wireTools, request.tools, (specs) => specs.map(wireTool));
  const messages = request.messages.map((message) => once(wireMessages, message, wireMessage));
  return {
    model: settings.model,
    max_tokens: settings.maxOutputTokens ?? defaultMaxTokens(settings.model),
    ...(settings.stream ? { stream: true } : {}),
    ...(settings.reasoningEffort === null ? {} : { output_config: { effort: settings.reasoningEffort } }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(system === '' ? {} : { system: [{ type: 'text', text: wellFormed(system), ...cacheMark }] }),
    messages: marked(messages),
    ...(toolChoice === 'auto' ? {} : { tool_choice: { type: 'tool', name: toolChoice.tool } }),
  };
}

/**
 * Returns the required `max_tokens`. The API rejects more than a model can write: 4,096 and 8,192 for the oldest
 * models.
 */
function defaultMaxTokens(model: string): number {
  if (/claude-3-(opus|sonnet|haiku)/.test(model)) return 4096;
  return /claude-3-5/.test(model) ? 8192 : 16_000;
}

function wireTool(spec: ToolSpec): JsonObject {
  const { description, parameters } = describedTool(spec, 'anthropic');
  return { name: spec.name, description, input_schema: parameters };
}

function wireMessage(message: Message): WireMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: wellFormed(message.text) }] };
    case 'tool': {
      const content = message.results.map((result) => ({
        type: 'tool_result',
        tool_use_id: result.callId,
        content: wellFormed(result.content),
        ...(result.isError ? { is_error: true } : {}),
      }));
      return { role: 'user', content };
    }
    case 'assistant': {
      const blocks = isAnthropicNative(message.native)
        ? message.native.anthropicContent
        : rebuildMessage(message);
      const { type } = blocks.at(-1) ?? {};
      const isSaid = type !== undefined && type !== 'thinking' && type !== 'redacted_thinking';
      return {
        role: 'assistant',
        content: isSaid ? blocks : [...blocks, { type: 'text', text: EMPTY_TURN }],
      };
    }
  }
}

/** Converts an assistant message created by another adapter. */
function rebuildMessage(message: AssistantMessage): readonly JsonObject[] {
  const text = wellFormed(message.text);
  const calls = message.toolCalls.map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: replayableName(call.name),
    input: replayableInput(call.rawArguments),
  }));
  return text.trim() === '' ? calls : [{ type: 'text', text }, ...calls];
}

/** Marks the last two user messages: the end of this conversation, and the position of the last request's mark. */
function marked(messages: readonly WireMessage[]): readonly JsonObject[] {
  const ours = messages.flatMap((message, at) => (message.role === 'user' ? [at] : []));
  const ends = new Set(ours.slice(-2));
  return messages.map((message, at) => {
    const last = message.content.at(-1);
    if (!ends.has(at) || last === undefined) return message;
    return { ...message, content: [...message.content.slice(0, -1), { ...last, ...cacheMark }] };
  });
}

/** The native part of a completion's message, for its replay. */
export interface AnthropicNative {
  readonly anthropicContent: readonly JsonObject[];
}

/** Whether an opaque native part was created by this adapter. */
export function isAnthropicNative(native: unknown): native is AnthropicNative {
  return isObject(native) && Array.isArray(native['anthropicContent']);
}

export function isMessage(body: JsonObject): boolean {
  return Array.isArray(body['content']) && !saysError(body);
}

/**
 * Whether the events of a stream are one complete message. Rejects what no well-behaved server sends: a second message,
 * contradicting stop reasons, and parts of a block after the end.
 */
export function isWholeMessage(events: readonly JsonObject[]): boolean {
  let [isBegun, isEnded] = [false, false];
  let reason = '';
  for (const event of events) {
    const type = textOf(event['type']);
    if (type === 'message_start') {
      if (isBegun) return false;
      isBegun = true;
    }
    if (isEnded && (type === 'content_block_start' || type === 'content_block_delta')) return false;
    const stopReason = textOf(objectOf(event['delta'])['stop_reason']);
    if (stopReason !== '' && reason !== '' && stopReason !== reason) return false;
    reason = stopReason || reason;
    isEnded ||= stopReason !== '' || type === 'message_stop';
  }
  return isEnded;
}

/** Converts the response to a completion, with ids and a replay that are valid for the rest of the conversation. */
export function anthropicCompletion(
  answer: ApiResponse,
  request: CompletionRequest,
  model: string,
): Completion {
  const { message, blocks } =
    answer.kind === 'events' ? joinedMessage(answer.events, answer.raw) : bodyMessage(answer);
  const uses = blocks.filter((block) => block.native['type'] === 'tool_use');
  const stopReason = stop(textOf(message['stop_reason']), uses.length > 0);
  const calls = toolCalls(uses.map(rawCall), stopReason, request.messages);
  const ids = new Map(uses.map((use, n) => [use, calls[n]?.id ?? '']));
  const native: AnthropicNative = {
    anthropicContent: blocks
      .filter((block) => isReplayable(block, stopReason))
      .map((block) => replayed(block, ids)),
  };
  const text = blocks
    .map(({ native: block }) => (block['type'] === 'text' ? textOf(block['text']) : ''))
    .join('');
  return {
    message: { role: 'assistant', text, toolCalls: calls, native },
    stopReason,
    usage: messageUsage(message['usage']),
    model: textOf(message['model']) || model,
  };
}

function bodyMessage(answer: Extract<ApiResponse, { kind: 'body' }>): {
  message: JsonObject;
  blocks: readonly Block[];
} {
  const { body, raw } = answer;
  const blocks = objectsOf(body['content']).map(({ at, value }) => {
    // The text in the body is what the model wrote; it still shows duplicate keys, which parsing would merge.
    const input = value['type'] === 'tool_use' ? raw(['content', at, 'input']) : null;
    return { native: value, rawInput: input ?? '', isRaw: input !== null || value['input'] === undefined };
  });
  return { message: body, blocks };
}

function rawCall({ native, rawInput, isRaw }: Block) {
  return { id: textOf(native['id']), name: textOf(native['name']), rawArguments: rawInput, isRaw };
}

function stop(reason: string, hasCalls: boolean): StopReason {
  if (reason === 'refusal') return 'refusal';
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  if (reason === 'pause_turn') return 'pause';
  return hasCalls ? 'tool_calls' : 'end';
}

/**
 * Whether the API accepts a block that it sent. It rejects blank text, and thinking that was cut before it was signed.
 */
function isReplayable({ native }: Block, stopReason: StopReason): boolean {
  if (native['type'] === 'text') return textOf(native['text']).trim() !== '';
  return !(native['type'] === 'thinking' && stopReason === 'length' && textOf(native['signature']) === '');
}

/**
 * Returns a block unchanged, or a call with its final id and an object as input, the only type that the API accepts
 * there.
 */
function replayed(block: Block, ids: ReadonlyMap<Block, string>): JsonObject {
  const id = ids.get(block);
  if (id === undefined) return block.native;
  const input = replayableInput(block.rawInput);
  return { ...block.native, id, name: replayableName(textOf(block.native['name'])), input };
}

/** Returns token counts, where cached tokens are separate from the other input; null if there are none. */
function messageUsage(value: unknown): Usage | null {
  const usage = objectOf(value);
  const input = countOf(usage['input_tokens']);
  const output = countOf(usage['output_tokens']);
  if (input === null && output === null) return null;
  const cachedInputTokens = countOf(usage['cache_read_input_tokens']) ?? 0;
  const cacheWriteTokens = countOf(usage['cache_creation_input_tokens']) ?? 0;
  const inputTokens = (input ?? 0) + cachedInputTokens + cacheWriteTokens;
  return { inputTokens, outputTokens: output ?? 0, cachedInputTokens, cacheWriteTokens };
}

/** A content block with the text of its input, if it has one. */
export interface Block {
  readonly native: JsonObject;
  /** The input as the model wrote it; empty if there is none. */
  readonly rawInput: string;
  /** Whether `rawInput` is the complete input. */
  readonly isRaw: boolean;
}

interface OpenBlock {
  readonly fields: Map<string, Json>;
  readonly citations: Json[];
  /** The event that started it. */
  readonly start: JsonObject;
  rawInput: string;
}

/** Returns the text at a path of an event, or null. */
type RawText = (event: JsonObject, path: readonly (string | number)[]) => string | null;

/** Combines the events of a whole stream. The SDK's own helper would complete cut JSON and merge duplicate keys. */
export function joinedMessage(
  events: readonly JsonObject[],
  raw: RawText = () => null,
): {
  readonly message: JsonObject;
  readonly blocks: readonly Block[];
} {
  const blocks = new Map<Json | undefined, OpenBlock>();
  let message = new Map<string, Json>();
  let usage = new Map<string, Json>();
  for (const event of events) {
    const delta = objectOf(event['delta']);
    if (event['type'] === 'message_start') {
      message = new Map(Object.entries(objectOf(event['message'])));
      usage = new Map(Object.entries(objectOf(message.get('usage'))));
    }
    if (event['type'] === 'content_block_start') {
      const fields = new Map(Object.entries(objectOf(event['content_block'])));
      blocks.set(event['index'], { fields, citations: [], start: event, rawInput: '' });
    }
    if (event['type'] === 'content_block_delta') {
      const block = blocks.get(event['index']);
      if (block !== undefined) addDelta(block, delta);
    }
    if (event['type'] === 'message_delta') {
      for (const [key, value] of known(delta)) message.set(key, value);
      for (const [key, value] of known(objectOf(event['usage']))) usage.set(key, value);
    }
  }
  message.set('usage', Object.fromEntries(usage));
  return {
    message: Object.fromEntries(message),
    blocks: [...blocks.values()].map((block) => closed(block, raw)),
  };
}

/** Returns the known counts of a delta, which are cumulative; leaves out unknown ones, which are null. */
function known(fields: JsonObject): readonly (readonly [string, Json])[] {
  return Object.entries(fields).filter(([, value]) => value !== null);
}

function addDelta(block: OpenBlock, delta: JsonObject): void {
  const append = (key: string, value: Json | undefined) =>
    block.fields.set(key, textOf(block.fields.get(key)) + textOf(value));
  switch (delta['type']) {
    case 'text_delta':
      append('text', delta['text']);
      break;
    case 'thinking_delta':
      append('thinking', delta['thinking']);
      break;
    case 'signature_delta':
      append('signature', delta['signature']);
      break;
    case 'input_json_delta':
      block.rawInput += textOf(delta['partial_json']);
      break;
    case 'citations_delta':
      block.citations.push(delta['citation'] ?? null);
      break;
  }
}

function closed({ fields, citations, start, rawInput }: OpenBlock, raw: RawText): Block {
  if (citations.length > 0) {
    const before = fields.get('citations');
    fields.set('citations', [...(before !== undefined && isArray(before) ? before : []), ...citations]);
  }
  const native = Object.fromEntries(fields);
  if (rawInput !== '')
    return { native: { ...native, input: replayableInput(rawInput) }, rawInput, isRaw: true };
  if (Object.keys(objectOf(native['input'])).length === 0) return { native, rawInput, isRaw: true };
  // Some compatible servers send the whole input with the start of the block; its text there is used.
  const whole = raw(start, ['content_block', 'input']);
  return { native, rawInput: whole ?? '', isRaw: whole !== null };
}
