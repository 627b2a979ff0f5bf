/** Adapter for OpenAI's Responses API, at the vendor's endpoint and at gateways in front of it. */
import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { isObject } from '../text/json.ts';
import type { AssistantMessage, JsonObject, Message, StopReason, ToolSpec, Usage } from '../types.ts';
import { type ApiFailure, brokenOff, type FailureContext, providerError } from './errors.ts';
import { createClient, createSdkErrors, isBlockedCode } from './openai-client.ts';
import type { AdapterSettings, Completion, CompletionRequest, Provider } from './provider.ts';
import { type Api, type ApiResponse, type RequestResult, retryRequest, sendRequest } from './request.ts';
import { describedTool } from './schema/project.ts';
import {
  countOf,
  objectOf,
  objectsOf,
  once,
  replayableArguments,
  replayableInput,
  replayableName,
  saysError,
  textOf,
  toolCalls,
  wellFormed,
} from './tool-calls.ts';

/** Models without reasoning, with or without the prefix of a gateway or of fine-tuning; they reject requests for it. */
const withoutReasoning = /(^|[/:])(gpt-(3|4)|chatgpt-|gpt-5(\.\d+)?-chat)/;

const responsesApi = { isWhole: isWholeResponse, isResponse: isResponse };

export function createOpenAiResponses(settings: AdapterSettings): Provider {
  const { provider: name, model } = settings;
  const client = createClient(settings);
  const bodyOf = createResponsesBody(settings);
  /** Whether to request reasoning; false once the server has rejected it. */
  let encrypted = !withoutReasoning.test(model);
  const tried = async (request: CompletionRequest): Promise<RequestResult<ApiResponse>> => {
    const errors = createSdkErrors();
    const context = { ...settings.failureContext, forced: request.toolChoice !== 'auto' };
    const body = bodyOf(request, encrypted);
    const api: Api = {
      ...responsesApi,
      // The body contains parts that the server itself sent, which the SDK's types do not describe.
      send: (options) => client.responses.create(body as unknown as ResponseCreateParams, options),
      context,
      asSdkError: errors.read,
    };
    const result = await sendRequest(api, settings, request);
    if (result.ok) return acceptResponse(result.value, context);
    if (errors.isBlocked()) return { ok: true, value: blockedResponse };
    if (!encrypted || !errors.refuses('include')) return result;
    encrypted = false;
    request.notify(`${context.host} has no encrypted reasoning for ${model}: asking again without`);
    return tried(request);
  };
  return {
    name,
    model,
    host: settings.failureContext.host,
    complete: async (request) => {
      const answer = await retryRequest(request, settings.retryPauseMs, (signal) =>
        tried({ ...request, signal }),
      );
      return responsesCompletion(answer, request, model);
    },
  };
}

/** Detects a failure that is reported as a response with a status of its own. */
function acceptResponse(answer: ApiResponse, context: FailureContext): RequestResult<ApiResponse> {
  const failed = readFailure(answer);
  if (failed === null) return { ok: true, value: answer };
  if (failed.isBlocked) return { ok: true, value: blockedResponse };
  const why = `${context.host} ended its answer with an error`;
  return { ok: false, again: failed.again, why, error: providerError(failed.failure, context) };
}

/** Replaces an assistant turn without content. */
const emptyTurn: JsonObject = { role: 'assistant', content: '(empty)' };

/**
 * Returns a function that builds the request bodies of a run. What stays the same between turns comes first and is
 * byte-identical, for prompt caches. Nothing is stored on the server, so reasoning is returned encrypted, if requested,
 * and replayed.
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

/** Sets `strict` to false: if it is omitted, the API tries strict mode and rejects schemas that do not allow it. */
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
      const items = isResponsesNative(message.native)
        ? message.native.responsesOutput
        : rebuildMessage(message);
      return items.length === 0 ? [emptyTurn] : items;
    }
  }
}

/** Converts an assistant message created by another adapter. */
function rebuildMessage(message: AssistantMessage): readonly JsonObject[] {
  const text = wellFormed(message.text);
  const calls = message.toolCalls.map((call) => ({
    type: 'function_call',
    call_id: call.id,
    name: replayableName(call.name),
    arguments: JSON.stringify(replayableInput(call.rawArguments)),
  }));
  return text.trim() === '' ? calls : [{ role: 'assistant', content: text }, ...calls];
}

/** Replaces the response if the server refused to give one because of the content of the prompt. */
export const blockedResponse: ApiResponse = {
  kind: 'body',
  body: { output: [], status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
  raw: () => null,
};

/** Codes of an error inside a response that may not recur in another attempt. */
const passingCodes = new Set(['server_error', 'server_is_overloaded', 'slow_down', 'vector_store_timeout']);

/** The names of these codes in other APIs. */
const failureTypes: ReadonlyMap<string, string> = new Map([
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['insufficient_quota', 'rate_limit_error'],
  ['server_is_overloaded', 'overloaded_error'],
  ['slow_down', 'overloaded_error'],
]);

/** Whether a body is a response, including a failed one. */
export function isResponse(body: JsonObject): boolean {
  return Array.isArray(body['output']) || body['object'] === 'response';
}

/** Whether the events of a stream reached the end, including an error. */
export function isWholeResponse(events: readonly JsonObject[]): boolean {
  return lastEvent(events) !== null;
}

/** Returns the failure that a response reports, and whether another attempt may succeed; null if it reports none. */
export function readFailure(
  answer: ApiResponse,
): { readonly failure: ApiFailure; readonly again: boolean; readonly isBlocked: boolean } | null {
  const last = answer.kind === 'events' ? lastEvent(answer.events) : null;
  const response = answer.kind === 'events' ? objectOf(last?.['response']) : answer.body;
  const status = textOf(response['status']);
  const isError = last?.['type'] === 'error' || last?.['type'] === 'response.failed';
  if (!isError && !saysError(response) && ['', 'completed', 'incomplete'].includes(status)) return null;
  const error = last?.['type'] === 'error' ? last : objectOf(response['error']);
  const code = textOf(error['code']);
  const failure = {
    ...brokenOff,
    type: failureTypes.get(code) ?? null,
    code: code || null,
    param: textOf(error['param']) || null,
    message: textOf(error['message']) || (isError ? '' : `status ${status}`),
  };
  return { failure, again: passingCodes.has(code), isBlocked: isBlockedCode(code) };
}

/** Converts the response to a completion, with ids and a replay that are valid for the rest of the conversation. */
export function responsesCompletion(
  answer: ApiResponse,
  request: CompletionRequest,
  model: string,
): Completion {
  const { response, items } = answer.kind === 'events' ? joinedResponse(answer.events) : bodyResponse(answer);
  const uses = items.filter((item) => item.native['type'] === 'function_call');
  const parts = items.flatMap((item) =>
    item.native['type'] === 'message' ? objectsOf(item.native['content']).map((part) => part.value) : [],
  );
  const refusal = parts.map((part) => textOf(part['refusal'])).join('');
  const stopReason = stop(response, refusal, uses);
  const calls = toolCalls(uses.map(rawCall), stopReason, request.messages);
  const ids = new Map(uses.map((use, n) => [use, calls[n]?.id ?? '']));
  const native: ResponsesNative = { responsesOutput: replayed(items, ids) };
  const text = refusal === '' ? parts.map((part) => textOf(part['text'])).join('') : refusal;
  return {
    message: { role: 'assistant', text, toolCalls: calls, native },
    stopReason,
    usage: responseUsage(response['usage']),
    model: textOf(response['model']) || model,
  };
}

function bodyResponse({ body, raw }: Extract<ApiResponse, { kind: 'body' }>): {
  readonly response: JsonObject;
  readonly items: readonly Item[];
} {
  const items = objectsOf(body['output']).map(({ at, value }): Item => {
    const given = value['arguments'];
    if (typeof given === 'string') return { native: value, rawArguments: given, isRaw: true };
    // The format requires a string. For an object, its text in the body is used, which still shows duplicate keys.
    const isNone = given === undefined || given === null;
    const slice = isNone ? '' : raw(['output', at, 'arguments']);
    return { native: value, rawArguments: slice ?? '', isRaw: slice !== null };
  });
  return { response: body, items };
}

function rawCall({ native, rawArguments, isRaw }: Item) {
  return { id: textOf(native['call_id']), name: textOf(native['name']), rawArguments, isRaw };
}

function stop(response: JsonObject, refusal: string, calls: readonly Item[]): StopReason {
  const reason = textOf(objectOf(response['incomplete_details'])['reason']);
  if (refusal !== '' || reason === 'content_filter') return 'refusal';
  const isCut = calls.some((call) => call.native['status'] === 'incomplete');
  if (response['status'] === 'incomplete' || isCut) return 'length';
  return calls.length > 0 ? 'tool_calls' : 'end';
}

/** Returns token counts, where cached tokens are part of the input; null if there are none. */
function responseUsage(value: unknown): Usage | null {
  const usage = objectOf(value);
  const input = countOf(usage['input_tokens']);
  const output = countOf(usage['output_tokens']);
  if (input === null && output === null) return null;
  const details = objectOf(usage['input_tokens_details']);
  const inputTokens = input ?? 0;
  const cachedInputTokens = Math.min(countOf(details['cached_tokens']) ?? 0, inputTokens);
  const cacheWriteTokens = Math.min(
    countOf(details['cache_write_tokens']) ?? 0,
    inputTokens - cachedInputTokens,
  );
  return { inputTokens, outputTokens: output ?? 0, cachedInputTokens, cacheWriteTokens };
}

/** The native part of a completion's message, for its replay. */
export interface ResponsesNative {
  readonly responsesOutput: readonly JsonObject[];
}

/** Whether an opaque native part was created by this adapter. */
export function isResponsesNative(native: unknown): native is ResponsesNative {
  return isObject(native) && Array.isArray(native['responsesOutput']);
}

/**
 * Returns the items of a turn for the history: unchanged, except that calls get their final ids and parseable
 * arguments. Items of other kinds belong to tools that were not offered, and may require a result that does not exist.
 */
export function replayed(items: readonly Item[], ids: ReadonlyMap<Item, string>): readonly JsonObject[] {
  const kept: JsonObject[] = [];
  let hasLost = false;
  // From the end: reasoning precedes the items that it led to, and is rejected on its own.
  for (const item of items.toReversed()) {
    const isKept = isReplayable(item.native, kept.length > 0);
    if (isKept) kept.unshift(replayedItem(item, ids.get(item)));
    hasLost ||= !isKept && item.native['type'] === 'reasoning';
  }
  // An id refers to an item together with the reasoning before it, and is rejected without that reasoning.
  return hasLost ? kept.map(withoutId) : kept;
}

function isReplayable(native: JsonObject, hasFollower: boolean): boolean {
  switch (native['type']) {
    case 'function_call':
      return true;
    case 'message':
      return objectsOf(native['content']).length > 0;
    case 'reasoning': {
      // Without content it only refers to something that the server did not store.
      const hasContent =
        textOf(native['encrypted_content']) !== '' || objectsOf(native['content']).length > 0;
      return hasContent && hasFollower;
    }
    default:
      return false;
  }
}

function replayedItem({ native, rawArguments }: Item, id: string | undefined): JsonObject {
  if (id === undefined) return native;
  const name = replayableName(textOf(native['name']));
  return { ...native, call_id: id, name, arguments: replayableArguments(rawArguments) };
}

function withoutId(native: JsonObject): JsonObject {
  if (native['type'] === 'reasoning') return native;
  const { id: _, ...rest } = native;
  return rest;
}

/** An output item; if it is a call, with the text of its arguments. */
export interface Item {
  readonly native: JsonObject;
  /** The arguments as the model wrote them; empty if there are none. */
  readonly rawArguments: string;
  /** Whether `rawArguments` is the complete text. */
  readonly isRaw: boolean;
}

interface OpenItem {
  native: JsonObject;
  isDone: boolean;
  /** Text that arrived in pieces: the arguments of a call, otherwise prose. */
  pieces: string;
  /** The arguments as repeated by the events that end them. */
  readonly stated: Set<string>;
}

const lastEvents = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

const errorEvents = new Set(['response.failed', 'error']);

/** Returns the event that ended a stream, or that reported an error before its end; null if the stream was cut. */
export function lastEvent(events: readonly JsonObject[]): JsonObject | null {
  const findLast = (types: ReadonlySet<string>) =>
    events.findLast((event) => types.has(textOf(event['type'])));
  return findLast(errorEvents) ?? findLast(lastEvents) ?? null;
}

/** Combines the events of a whole stream. The SDK's own helper would parse the arguments leniently. */
export function joinedResponse(events: readonly JsonObject[]): {
  readonly response: JsonObject;
  readonly items: readonly Item[];
} {
  const open = new Map<number, OpenItem>();
  for (const event of events) addEvent(open, event);
  const response = objectOf(lastEvent(events)?.['response']);
  for (const { at, value } of objectsOf(response['output'])) {
    // Some servers do not send an end event for an item; the last event of the stream contains it.
    if (open.get(at)?.isDone !== true) end(itemAt(open, at), value);
  }
  const inOrder = [...open].sort(([a], [b]) => a - b);
  return { response, items: inOrder.map(([, item]) => closed(item)) };
}

function itemAt(open: Map<number, OpenItem>, at: number): OpenItem {
  const known = open.get(at);
  if (known !== undefined) return known;
  const item = { native: {}, isDone: false, pieces: '', stated: new Set<string>() };
  open.set(at, item);
  return item;
}

function addEvent(open: Map<number, OpenItem>, event: JsonObject): void {
  const at = event['output_index'];
  if (typeof at !== 'number') return;
  switch (event['type']) {
    case 'response.output_item.added':
      itemAt(open, at).native = objectOf(event['item']);
      break;
    case 'response.output_text.delta':
    case 'response.function_call_arguments.delta':
      itemAt(open, at).pieces += textOf(event['delta']);
      break;
    case 'response.function_call_arguments.done':
      itemAt(open, at).stated.add(textOf(event['arguments']));
      break;
    case 'response.output_item.done':
      end(itemAt(open, at), objectOf(event['item']));
      break;
  }
}

function end(item: OpenItem, native: JsonObject): void {
  item.native = native;
  item.isDone = true;
  item.stated.add(textOf(native['arguments']));
}

function closed({ native, isDone, pieces, stated }: OpenItem): Item {
  if (native['type'] === 'function_call') {
    const given = native['arguments'];
    const said = new Set([pieces, ...stated].filter((text) => text !== ''));
    const [rawArguments = ''] = said;
    // The arguments are unknown if there are two versions of them, no event ended them, or they are not text.
    const isText = typeof given === 'string' || given === undefined || given === null;
    return { native, rawArguments, isRaw: said.size < 2 && stated.size > 0 && isText };
  }
  if (isDone || pieces === '') return { native, rawArguments: '', isRaw: true };
  const content = [{ type: 'output_text', text: pieces, annotations: [] }];
  return { native: { ...native, content }, rawArguments: '', isRaw: true };
}
