/** Adapter for chat completions: all OpenAI-compatible servers, including Gemini's endpoint, and Azure OpenAI. */
import OpenAI, { AzureOpenAI } from 'openai';
import type { ChatCompletionCreateParams as ChatParams } from 'openai/resources/chat/completions';
import { isArray, isObject } from '../text/json.ts';
import type { AssistantMessage, Json, JsonObject, Message, StopReason, ToolSpec, Usage } from '../types.ts';
import { brokenOff, type FailureContext, providerError } from './errors.ts';
import { clientOptions, createClient, createSdkErrors } from './openai-client.ts';
import type { AdapterSettings, Completion, CompletionRequest, Provider } from './provider.ts';
import { type Api, type ApiResponse, type RequestResult, retryRequest, sendRequest } from './request.ts';
import { type Dialect, describedTool } from './schema/project.ts';
import {
  countOf,
  objectOf,
  objectsOf,
  once,
  type RawCall,
  replayableArguments,
  replayableInput,
  replayableName,
  saysError,
  textOf,
  toolCalls,
  wellFormed,
} from './tool-calls.ts';

const chatApi = { isWhole: isWholeChat, isResponse: isChatAnswer };

export function createOpenAiChat(
  settings: AdapterSettings,
  client: OpenAI = createClient(settings),
): Provider {
  const { provider: name, model } = settings;
  const bodyOf = createChatBody(settings);
  return {
    name,
    model,
    host: settings.failureContext.host,
    complete: async (request) => {
      const body = bodyOf(request);
      const errors = createSdkErrors();
      const context = { ...settings.failureContext, forced: request.toolChoice !== 'auto' };
      const api: Api = {
        ...chatApi,
        // The body contains parts that the server itself sent, which the SDK's types do not describe.
        send: (options) => client.chat.completions.create(body as unknown as ChatParams, options),
        context,
        asSdkError: errors.read,
      };
      const answer = await retryRequest(request, settings.retryPauseMs, async (signal) => {
        const result = await sendRequest(api, settings, { ...request, signal });
        if (result.ok) return acceptResponse(result.value, context);
        return errors.isBlocked() ? { ok: true, value: blockedChat } : result;
      });
      return chatCompletion(answer, request, model);
    },
  };
}

/** Treats a response whose server gave up midway as broken off, even if it is not a stream. */
function acceptResponse(answer: ApiResponse, context: FailureContext): RequestResult<ApiResponse> {
  if (!isBrokenChat(answer)) return { ok: true, value: answer };
  const why = `${context.host} broke off its answer`;
  return { ok: false, again: true, why, error: providerError(brokenOff, context) };
}

/**
 * The newest dated version that is not a preview; later features are at `/openai/v1`, which needs no version.
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
 */
const defaultApiVersion = '2024-10-21';

/**
 * Creates a provider for one deployment, whose name is the model. The base URL is the endpoint of the resource, or any
 * longer URL of it that people copy: with `/openai`, with `/openai/v1`, or the whole target URI of a deployment.
 */
export function createAzureOpenAi(settings: AdapterSettings): Provider {
  const url = new URL(settings.baseUrl);
  const version = url.searchParams.get('api-version');
  url.search = '';
  url.pathname = url.pathname.replace(/(?<!\/)\/+$/, '').replace(/\/chat\/completions$/, '');
  const options = clientOptions(settings);
  if (url.pathname.endsWith('/openai/v1')) {
    const defaultQuery = version === null ? {} : { 'api-version': version };
    return createOpenAiChat(settings, new OpenAI({ ...options, baseURL: url.href, defaultQuery }));
  }
  if (!/\/openai(\/|$)/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, '')}/openai`;
  const client = new AzureOpenAI({
    ...options,
    baseURL: url.href,
    apiVersion: version ?? defaultApiVersion,
    deployment: encodeURIComponent(settings.model),
  });
  return createOpenAiChat(settings, client);
}

/** Replaces an assistant turn without content, which several servers reject. */
const EMPTY_TURN = '(empty)';

/**
 * Returns a function that builds the request bodies of a run. What stays the same between turns comes first and is
 * byte-identical, for prompt caches. Optional fields are only sent if they were configured, because Gemini's endpoint
 * rejects a request with any unknown field.
 */
export function createChatBody(settings: AdapterSettings): (request: CompletionRequest) => JsonObject {
  const { model, maxOutputTokens, maxTokensField, reasoningEffort, stream, dialect } = settings;
  const wireTools = new WeakMap<readonly ToolSpec[], readonly JsonObject[]>();
  const wireMessages = new WeakMap<Message, readonly JsonObject[]>();
  return ({ system, toolChoice, ...request }) => {
    const tools = once(wireTools, request.tools, (specs) => specs.map((spec) => wireTool(spec, dialect)));
    return {
      model,
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
      ...(maxOutputTokens === null ? {} : { [maxTokensField]: maxOutputTokens }),
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
      return [isChatNative(message.native) ? message.native.chatMessage : rebuildMessage(message)];
  }
}

/** Converts an assistant message created by another adapter. */
function rebuildMessage(message: AssistantMessage): JsonObject {
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

/** The native part of a completion's message, for its replay. */
export interface ChatNative {
  readonly chatMessage: JsonObject;
}

/** Whether an opaque native part was created by this adapter. */
export function isChatNative(native: unknown): native is ChatNative {
  return isObject(native) && isObject(native['chatMessage']);
}

/** Finish reasons for a cut response, in lower case; not all servers use OpenAI's value. */
const lengthReasons = new Set(['length', 'max_tokens', 'model_length', 'incomplete']);

/**
 * Finish reasons for a content filter, in lower case: OpenAI's value, and Gemini's own values where its endpoint passes
 * them on.
 */
const filterReasons = new Set([
  'content_filter',
  'safety',
  'recitation',
  'blocklist',
  'prohibited_content',
  'spii',
]);

/** Finish reasons of a server that gave up midway. */
const brokenReasons = new Set(['error', 'abort', 'insufficient_system_resource']);

/** Replaces the response if the server refused to give one because of the content of the prompt. */
export const blockedChat: ApiResponse = {
  kind: 'body',
  body: { choices: [{ message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' }] },
  raw: () => null,
};

export function isChatAnswer(body: JsonObject): boolean {
  return !saysError(body) && objectsOf(body['choices']).some(({ value }) => isObject(value['message']));
}

/**
 * Whether the chunks of a stream are one complete response that does not report a failure of the server. Rejects what
 * no well-behaved server sends: a choice other than the requested one, contradicting finish reasons, and parts of a
 * call after the end.
 */
export function isWholeChat(chunks: readonly JsonObject[]): boolean {
  let end: StopReason | 'broken' | null = null;
  for (const chunk of chunks) {
    if (hasOtherChoice(chunk) || objectsOf(chunk['choices']).length > 1) return false;
    const choice = firstChoice(chunk);
    const reason = textOf(choice['finish_reason']);
    // Gemini's endpoint has sent `stop` with every chunk; each call there is complete in its own chunk.
    if (end !== null && hasCallPart(choice, reason !== '')) return false;
    if (saysError(choice)) return false;
    if (reason === '') continue;
    const meant = meaningOf(reason);
    if (end !== null && end !== meant) return false;
    end = meant;
  }
  return end !== null && end !== 'broken';
}

/** Whether a body is a response that may be incomplete: its server gave up midway, or it belongs to another choice. */
export function isBrokenChat(answer: ApiResponse): boolean {
  if (answer.kind === 'events') return false;
  const choice = firstChoice(answer.body);
  const { index } = choice;
  const isOther = typeof index === 'number' && index !== 0;
  return isOther || saysError(choice) || meaningOf(textOf(choice['finish_reason'])) === 'broken';
}

/** Some servers omit the index. */
function hasOtherChoice(chunk: JsonObject): boolean {
  return objectsOf(chunk['choices']).some(({ value: { index } }) => typeof index === 'number' && index !== 0);
}

/** Whether a chunk contains a part of a call; with `isEnd`, a part other than its start. */
function hasCallPart(choice: JsonObject, isEnd: boolean): boolean {
  const parts = objectsOf(objectOf(choice['delta'] ?? choice['message'])['tool_calls']);
  return parts.some(({ value }) => !isEnd || called(value).name === '');
}

/** Maps a finish reason; servers use many values for a normal end, and mix up `stop` and `tool_calls`. */
function meaningOf(finishReason: string): StopReason | 'broken' {
  // Gemini's endpoint sends `content_filter: OTHER`, and `function_call_filter: …` for a call that it dropped.
  const [reason = ''] = finishReason.toLowerCase().split(':');
  if (brokenReasons.has(reason)) return 'broken';
  if (filterReasons.has(reason)) return 'refusal';
  return lengthReasons.has(reason) ? 'length' : 'end';
}

/** Converts the response to a completion, with ids and a replay that are valid for the rest of the conversation. */
export function chatCompletion(answer: ApiResponse, request: CompletionRequest, model: string): Completion {
  const whole = answer.kind === 'events' ? joinedChat(answer.events) : bodyChat(answer);
  const refusal = textOf(whole.message['refusal']);
  const stopReason = stop(whole, refusal);
  const calls = toolCalls(whole.calls, stopReason, request.messages);
  const text = refusal === '' ? contentText(whole.message['content']) : refusal;
  const native = whole.calls.map((call, n) => replayedCall(call, calls[n]?.id ?? call.id));
  const chatNative: ChatNative = { chatMessage: replayed(whole.message, native) };
  return {
    message: { role: 'assistant', text, toolCalls: calls, native: chatNative },
    stopReason,
    usage: whole.usage,
    model: whole.model || model,
  };
}

function bodyChat(answer: Extract<ApiResponse, { kind: 'body' }>): WholeChat {
  const { body, raw } = answer;
  const at = objectsOf(body['choices'])[0]?.at ?? 0;
  const message = objectOf(firstChoice(body)['message']);
  const calls = objectsOf(message['tool_calls']).map(({ at: n, value }) => {
    const given = objectOf(value['function'])['arguments'];
    // The format requires a string. For an object, its text in the body is used, which still shows duplicate keys.
    const slice =
      typeof given === 'string'
        ? null
        : raw(['choices', at, 'message', 'tool_calls', n, 'function', 'arguments']);
    const rawArguments = typeof given === 'string' ? given : given === null ? '' : (slice ?? '');
    const isRaw = typeof given === 'string' || given === null || given === undefined || slice !== null;
    return { ...called(value), rawArguments, isRaw, native: value };
  });
  return {
    message,
    calls,
    finishReason: textOf(firstChoice(body)['finish_reason']),
    usage: chatUsage(body['usage']),
    model: textOf(body['model']),
  };
}

function stop(whole: WholeChat, refusal: string): StopReason {
  const meant = meaningOf(whole.finishReason);
  if (refusal !== '' || meant === 'refusal') return 'refusal';
  if (meant === 'length') return 'length';
  return whole.calls.length > 0 ? 'tool_calls' : 'end';
}

/** Returns the text of the content; some servers send it in parts. */
function contentText(content: Json | undefined): string {
  if (content === undefined || !isArray(content)) return textOf(content);
  return objectsOf(content)
    .map(({ value }) => textOf(value['text']))
    .join('');
}

/**
 * Returns a call for the history: unknown fields unchanged (thought signatures), arguments in a form that every server
 * can parse.
 */
function replayedCall(call: RawCall & { readonly native: JsonObject }, id: string): JsonObject {
  return {
    ...call.native,
    id,
    type: 'function',
    function: {
      ...objectOf(call.native['function']),
      name: replayableName(call.name),
      arguments: replayableArguments(call.rawArguments),
    },
  };
}

/** Returns the message for the history; several servers reject empty lists of calls and messages without content. */
function replayed(message: JsonObject, calls: readonly JsonObject[]): JsonObject {
  const { tool_calls: _, content, ...rest } = message;
  const text = typeof content === 'string' ? wellFormed(content) : (content ?? null);
  if (calls.length > 0) return { ...rest, role: 'assistant', content: text, tool_calls: calls };
  return { ...rest, role: 'assistant', content: text === null || text === '' ? EMPTY_TURN : text };
}

/** Fields of a delta that arrive in pieces; of any other text field, the last value counts. */
const pieces = new Set(['content', 'refusal', 'reasoning_content', 'reasoning', 'thinking']);

interface OpenCall {
  id: string;
  name: string;
  rawArguments: string;
  isRaw: boolean;
  native: Map<string, Json>;
  /** The contents of `function` in `native`. */
  fields: Map<string, Json>;
}

/**
 * The calls of a stream so far, indexed by how later chunks refer to them: the last call with an index, the first with
 * an id.
 */
interface OpenCalls {
  readonly all: OpenCall[];
  readonly byIndex: Map<number, OpenCall>;
  readonly byId: Map<string, OpenCall>;
}

/** A message so far; its lists are also in `lists`, where they can grow. */
interface OpenMessage {
  readonly fields: Map<string, Json>;
  readonly lists: Map<string, Json[]>;
}

/** Combines the chunks of a whole stream, in linear time. */
export function joinedChat(chunks: readonly JsonObject[]): WholeChat {
  const message: OpenMessage = { fields: new Map(), lists: new Map() };
  const calls: OpenCalls = { all: [], byIndex: new Map(), byId: new Map() };
  const last = { finishReason: '', usage: chatUsage(null), model: '' };
  for (const chunk of chunks) {
    const choice = firstChoice(chunk);
    last.finishReason = textOf(choice['finish_reason']) || last.finishReason;
    last.usage = chatUsage(chunk['usage']) ?? last.usage;
    last.model = textOf(chunk['model']) || last.model;
    const { tool_calls, ...delta } = objectOf(choice['delta'] ?? choice['message']);
    for (const [key, value] of Object.entries(delta)) merge(message, key, value);
    for (const { value } of objectsOf(tool_calls)) addCall(calls, value);
  }
  return {
    message: Object.fromEntries(message.fields),
    calls: calls.all.map(({ fields, native, ...call }) => ({
      ...call,
      native: { ...Object.fromEntries(native), function: Object.fromEntries(fields) },
    })),
    ...last,
  };
}

/** Joins text in pieces and extends lists; of anything else, the last value counts. Ignores null. */
function merge({ fields, lists }: OpenMessage, key: string, value: Json): void {
  const before = fields.get(key);
  if (value === null && before !== undefined) return;
  const list = lists.get(key);
  if (isArray(value) && list !== undefined && list === before) {
    for (const each of value) list.push(each);
  } else if (isArray(value)) {
    const opened = [...value];
    lists.set(key, opened);
    fields.set(key, opened);
  } else if (typeof before === 'string' && typeof value === 'string' && pieces.has(key)) {
    fields.set(key, before + value);
  } else fields.set(key, value);
}

function addCall(calls: OpenCalls, delta: JsonObject): void {
  const { function: given, index, ...rest } = delta;
  const { id, name } = called(delta);
  const call = openCall(calls, typeof index === 'number' ? index : null, id, name);
  for (const [key, value] of Object.entries(rest)) if (value !== null) call.native.set(key, value);
  const { arguments: piece, ...others } = objectOf(given);
  for (const [key, value] of Object.entries(others)) call.fields.set(key, value);
  if (typeof piece === 'string') call.rawArguments += piece;
  else if (piece !== undefined && piece !== null) call.isRaw = false;
}

/**
 * Returns the call that a delta continues, or a new one. Servers omit `index`, omit `id` on later deltas, or use index
 * 0 for every call: a different id with a name of its own is a different call.
 */
function openCall(calls: OpenCalls, index: number | null, id: string, name: string): OpenCall {
  const known = knownCall(calls, index, id, name);
  const another = id !== '' && known !== undefined && known.id !== '' && id !== known.id && name !== '';
  if (known !== undefined && !another) {
    if (known.id === '') identify(calls, known, id);
    known.name ||= name;
    return known;
  }
  const opened: OpenCall = {
    id: '',
    name,
    rawArguments: '',
    isRaw: true,
    native: new Map(),
    fields: new Map(),
  };
  calls.all.push(opened);
  if (index !== null) calls.byIndex.set(index, opened);
  identify(calls, opened, id);
  return opened;
}

function identify(calls: OpenCalls, call: OpenCall, id: string): void {
  call.id = id;
  if (id !== '' && !calls.byId.has(id)) calls.byId.set(id, call);
}

function knownCall(calls: OpenCalls, index: number | null, id: string, name: string): OpenCall | undefined {
  if (index !== null) return calls.byIndex.get(index);
  if (id !== '') return calls.byId.get(id);
  return name === '' ? calls.all.at(-1) : undefined;
}

/** The whole response, from a body or from the chunks of a stream. */
export interface WholeChat {
  readonly message: JsonObject;
  readonly calls: readonly (RawCall & { readonly native: JsonObject })[];
  readonly finishReason: string;
  readonly usage: Usage | null;
  readonly model: string;
}

/** Returns the first choice; only one is ever requested. */
export function firstChoice(chunk: JsonObject): JsonObject {
  return objectsOf(chunk['choices'])[0]?.value ?? {};
}

export function called(call: JsonObject): { readonly id: string; readonly name: string } {
  return { id: textOf(call['id']), name: textOf(objectOf(call['function'])['name']) };
}

/**
 * Returns token counts of chat completions, where cached tokens are part of the prompt tokens; null if there are none.
 */
export function chatUsage(value: unknown): Usage | null {
  const usage = objectOf(value);
  const inputTokens = countOf(usage['prompt_tokens']);
  const outputTokens = countOf(usage['completion_tokens']);
  if (inputTokens === null && outputTokens === null) return null;
  const details = objectOf(usage['prompt_tokens_details']);
  // DeepSeek reports cache hits in a separate field; only OpenRouter reports cache writes.
  const read = countOf(details['cached_tokens']) ?? countOf(usage['prompt_cache_hit_tokens']) ?? 0;
  const input = inputTokens ?? 0;
  // Gemini and xAI leave reasoning tokens, which they bill, out of the completion tokens: only the total includes them.
  const output = Math.max(outputTokens ?? 0, (countOf(usage['total_tokens']) ?? 0) - input);
  const cachedInputTokens = Math.min(read, input);
  const cacheWriteTokens = Math.min(countOf(details['cache_write_tokens']) ?? 0, input - cachedInputTokens);
  return { inputTokens: input, outputTokens: output, cachedInputTokens, cacheWriteTokens };
}
