/** The wire formats of the adapters, written by hand, so that one test suite can cover every adapter. */
import type { ServerResponse } from 'node:http';
import type { Completion, CompletionRequest, Provider } from '../../../../src/providers/provider.ts';
import type { ProviderName, ProviderSettings } from '../../../../src/providers/registry.ts';
import { createProvider } from '../../../../src/providers/registry.ts';
import { objectsOf } from '../../../../src/providers/tool-calls.ts';
import type { JsonObject, Message, ToolSpec } from '../../../../src/types.ts';
import { sendEvents, sendJson, startRawServer } from '../raw-server.ts';

/** A call; `asObject` sends its arguments as a JSON value where the format requires a string. */
export interface WireCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: string;
  readonly asObject?: boolean;
}

/** A response independent of the wire format; `arguments` and `stop` are sent unchanged. */
export interface WireAnswer {
  readonly text?: string;
  readonly calls?: readonly WireCall[];
  readonly stop?: string;
  readonly usage?: JsonObject | null;
}

/** One API of a model, streamed or not. */
export interface Wire {
  readonly name: string;
  readonly provider: ProviderSettings['provider'];
  readonly stream: boolean;
  /** The path of the base URL. */
  readonly basePath: string;
  /** The path of requests for a model. */
  readonly path: (model: string) => string;
  /** The request field with the conversation. */
  readonly conversation: 'messages' | 'input';
  /** The headers of this API in addition to those of every request. */
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  readonly words: { readonly length: string; readonly refusal: string };
  answer(response: ServerResponse, answer: WireAnswer): void;
  /** Starts a response and then breaks off or stays open. */
  begin(response: ServerResponse, end: 'cut' | 'open'): void;
  error(response: ServerResponse, status: number, error: JsonObject, headers?: Record<string, string>): void;
}

const pieces = (text: string): string[] => text.match(/[\s\S]{1,3}/g) ?? [];

/** The JSON text of a value that contains the arguments marked by `argumentsOf` unchanged. */
function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(/"<raw>((?:[^"\\]|\\.)*)"/g, (_, raw: string) =>
    JSON.parse(`"${raw}"`),
  );
}

const argumentsOf = (call: WireCall): string =>
  call.asObject === true ? `<raw>${call.arguments}` : call.arguments;

function chatBody({ text, calls = [], stop, usage }: WireAnswer): JsonObject {
  const tool_calls = calls.map((call) => ({
    ...(call.id === undefined ? {} : { id: call.id }),
    type: 'function',
    function: { name: call.name, arguments: argumentsOf(call) },
  }));
  const message = { role: 'assistant', content: text ?? null, ...(calls.length === 0 ? {} : { tool_calls }) };
  const finish_reason = stop ?? (calls.length === 0 ? 'stop' : 'tool_calls');
  return {
    id: 'c',
    model: 'served',
    choices: [{ index: 0, message, finish_reason }],
    ...(usage ? { usage } : {}),
  };
}

function chatChunks({ text, calls = [], stop, usage }: WireAnswer): unknown[] {
  const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
    model: 'served',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks: unknown[] = [chunk({ role: 'assistant', content: '' })];
  for (const content of pieces(text ?? '')) chunks.push(chunk({ content }));
  for (const [index, call] of calls.entries()) {
    const { id, name, arguments: raw, asObject } = call;
    const start = {
      index,
      ...(id === undefined ? {} : { id }),
      type: 'function',
      function: { name, arguments: asObject === true ? argumentsOf(call) : '' },
    };
    chunks.push(chunk({ tool_calls: [start] }));
    for (const piece of asObject === true ? [] : pieces(raw))
      chunks.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  chunks.push(chunk({}, stop ?? (calls.length === 0 ? 'stop' : 'tool_calls')));
  if (usage) chunks.push({ model: 'served', choices: [], usage });
  return [...chunks, '[DONE]'];
}

const defaultUsage = { input_tokens: 1, output_tokens: 1 };

function messageText({ text, calls = [], stop, usage }: WireAnswer): string {
  const blocks = [
    ...(text === undefined ? [] : [JSON.stringify({ type: 'text', text })]),
    // The raw text must arrive, not a re-serialization of it.
    ...calls.map(
      ({ id, name, arguments: raw }) =>
        `{"type":"tool_use",${id === undefined ? '' : `"id":${JSON.stringify(id)},`}"name":${JSON.stringify(name)},"input":${raw}}`,
    ),
  ];
  const stop_reason = stop ?? (calls.length === 0 ? 'end_turn' : 'tool_use');
  const rest = JSON.stringify({
    type: 'message',
    role: 'assistant',
    model: 'served',
    stop_reason,
    usage: usage === undefined ? defaultUsage : usage,
  });
  return `{"content":[${blocks.join(',')}],${rest.slice(1)}`;
}

function messageEvents({ text, calls = [], stop, usage }: WireAnswer): unknown[] {
  const counted = usage === undefined ? defaultUsage : usage;
  const message = {
    type: 'message',
    role: 'assistant',
    model: 'served',
    content: [],
    stop_reason: null,
    usage: counted,
  };
  const events: unknown[] = [{ type: 'message_start', message }, { type: 'ping' }];
  let index = 0;
  if (text !== undefined) {
    events.push({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } });
    for (const piece of pieces(text))
      events.push({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: piece } });
    events.push({ type: 'content_block_stop', index });
    index += 1;
  }
  for (const { id, name, arguments: raw } of calls) {
    const content_block = { type: 'tool_use', ...(id === undefined ? {} : { id }), name, input: {} };
    events.push({ type: 'content_block_start', index, content_block });
    for (const partial_json of pieces(raw)) {
      events.push({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } });
    }
    events.push({ type: 'content_block_stop', index });
    index += 1;
  }
  const stop_reason = stop ?? (calls.length === 0 ? 'end_turn' : 'tool_use');
  const delta = {
    type: 'message_delta',
    delta: { stop_reason },
    ...(counted === null
      ? {}
      : { usage: { input_tokens: null, output_tokens: counted['output_tokens'] ?? 0 } }),
  };
  return [...events, delta, { type: 'message_stop' }];
}

function responseBody({ text, calls = [], stop, usage }: WireAnswer): JsonObject {
  const content = [{ type: 'output_text', text: text ?? '', annotations: [] }];
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  const items = calls.map((call, n) => ({
    type: 'function_call',
    id: `fc_${n}`,
    ...(call.id === undefined ? {} : { call_id: call.id }),
    name: call.name,
    arguments: argumentsOf(call),
    status: 'completed',
  }));
  return {
    object: 'response',
    error: null,
    incomplete_details: stop === undefined ? null : { reason: stop },
    model: 'served',
    output: [...(text === undefined ? [] : [message]), ...items],
    status: stop === undefined ? 'completed' : 'incomplete',
    ...(usage ? { usage } : {}),
  };
}

function responseEvents(answer: WireAnswer): unknown[] {
  const response = responseBody(answer);
  const output = objectsOf(response['output']).map((item) => item.value);
  const calls = [...(answer.calls ?? [])];
  const started = { ...response, output: [], status: 'in_progress' };
  const events: unknown[] = [{ type: 'response.created', response: started }];
  for (const [output_index, item] of output.entries()) {
    const isCall = item['type'] === 'function_call';
    const empty = isCall ? { arguments: '' } : { content: [] };
    const added = { ...item, ...empty, status: 'in_progress' };
    events.push({ type: 'response.output_item.added', output_index, item: added });
    const call = isCall ? calls.shift() : undefined;
    const word = isCall ? 'function_call_arguments' : 'output_text';
    const all = isCall ? (call?.arguments ?? '') : (answer.text ?? '');
    for (const delta of call?.asObject === true ? [] : pieces(all))
      events.push({ type: `response.${word}.delta`, output_index, delta });
    events.push({ type: 'response.output_item.done', output_index, item });
  }
  const last = answer.stop === undefined ? 'response.completed' : 'response.incomplete';
  return [...events, { type: last, response }];
}

/** An event that can contain raw arguments. */
const eventText = (event: unknown): unknown =>
  typeof event === 'object' && JSON.stringify(event).includes('"<raw>') ? jsonText(event) : event;

interface Format extends Omit<Wire, 'name' | 'stream' | 'answer' | 'begin' | 'error'> {
  readonly body: (answer: WireAnswer) => string;
  readonly events: (answer: WireAnswer) => readonly unknown[];
  /** The events before the first end of a text. */
  readonly begun: number;
  readonly errorBody?: (error: JsonObject) => unknown;
}

const inFormat =
  ({ body, events, begun, errorBody = (error) => ({ error }), ...fields }: Format) =>
  (stream: boolean): Wire => ({
    ...fields,
    name: `${fields.provider}, ${stream ? 'streamed' : 'whole'}`,
    stream,
    answer: (response, answer) =>
      stream ? sendEvents(response, events(answer).map(eventText)) : sendJson(response, body(answer)),
    begin(response, end) {
      if (stream) return sendEvents(response, events({ text: 'begun' }).slice(0, begun), end);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      response.write('{"choices":[{"message":', () => void (end === 'cut' && response.destroy()));
    },
    error: (response, status, error, headers) =>
      sendJson(response, JSON.stringify(errorBody(error)), status, headers),
  });

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const chat = {
  conversation: 'messages',
  words: { length: 'length', refusal: 'content_filter' },
  body: (answer: WireAnswer) => jsonText(chatBody(answer)),
  events: chatChunks,
  begun: 2,
} as const;

const compatible = inFormat({
  ...chat,
  provider: 'openai-compatible',
  basePath: '/v1',
  path: () => '/v1/chat/completions',
  headers: bearer,
});

/** Google's errors come in a list. */
const gemini = inFormat({
  ...chat,
  provider: 'gemini',
  basePath: '/v1beta/openai',
  path: () => '/v1beta/openai/chat/completions',
  headers: bearer,
  errorBody: (error) => [{ error }],
});

const azure = inFormat({
  ...chat,
  provider: 'azure-openai',
  basePath: '',
  path: (model) => `/openai/deployments/${model}/chat/completions?api-version=2024-10-21`,
  headers: (key) => ({ 'api-key': key }),
});

const responses = inFormat({
  provider: 'openai',
  basePath: '/v1',
  path: () => '/v1/responses',
  conversation: 'input',
  headers: bearer,
  words: { length: 'max_output_tokens', refusal: 'content_filter' },
  body: (answer) => jsonText(responseBody(answer)),
  events: responseEvents,
  begun: 3,
});

const anthropic = inFormat({
  provider: 'anthropic',
  basePath: '',
  path: () => '/v1/messages',
  conversation: 'messages',
  headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2026-10-21' }),
  words: { length: 'max_tokens', refusal: 'refusal' },
  body: messageText,
  events: messageEvents,
  begun: 4,
  errorBody: (error) => ({ type: 'error', error }),
});

/** Every adapter, streamed and not. */
export const wires: readonly Wire[] = [responses, compatible, gemini, azure, anthropic].flatMap((wire) => [
  wire(false),
  wire(true),
]);

/** The content type and text of a response, as a wire sends them. */
export async function bytesOf(wire: Wire, answer: WireAnswer): Promise<{ type: string; text: string }> {
  const server = await startRawServer((response) => wire.answer(response, answer));
  try {
    const response = await fetch(server.url);
    return { type: response.headers.get('content-type') ?? '', text: await response.text() };
  } finally {
    await server.close();
  }
}

/** A response with a complete call, but without its end. */
export async function beginningOf(wire: Wire, answer: WireAnswer): Promise<{ type: string; text: string }> {
  const { type, text } = await bytesOf(wire, answer);
  const end = ['"finish_reason":"tool', 'event: message_delta', 'event: response.completed']
    .map((word) => text.indexOf(word))
    .find((at) => at >= 0);
  return { type, text: text.slice(0, wire.stream ? end : text.length - 10) };
}

/** Finds the wire of a provider. */
export function wireOf(provider: ProviderName, kind: 'whole' | 'streamed'): Wire {
  const found = wires.find((wire) => wire.provider === provider && wire.stream === (kind === 'streamed'));
  if (found === undefined) throw new Error(`no wire for ${provider}`);
  return found;
}

/** The key, which no error, log or message may contain. */
export const testKey = 'sk-test-0123456789abcdef';

/** Creates the adapter of a wire for a server. */
export function providerAt(
  wire: Wire,
  url: string,
  settings: Partial<ProviderSettings> = {},
): Promise<Provider> {
  return createProvider({
    provider: wire.provider,
    model: 'asked',
    apiKey: testKey,
    keySource: 'the input api-key',
    baseUrl: `${url}${wire.basePath}`,
    maxOutputTokens: null,
    stream: wire.stream ? 'on' : 'off',
    userAgent: 'structured-agent/test',
    headers: {},
    authScheme: 'provider',
    reasoningEffort: null,
    idleTimeoutMs: 60_000,
    retryPauseMs: 1,
    fetch,
    ...settings,
  });
}

/** Two tools, the same array for every request. */
export const tools: readonly ToolSpec[] = [
  {
    name: 'shell',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { command: { type: 'string' } } },
  },
  {
    name: 'structured_output',
    description: 'Delivers.',
    parameters: { type: 'object', properties: { ok: { type: 'boolean' } } },
  },
];

/** A request with a user message by default. */
export function asking(fields: Partial<CompletionRequest> = {}): CompletionRequest {
  const messages: readonly Message[] = [{ role: 'user', text: 'Go.' }];
  return {
    system: 'Be good.',
    tools,
    messages,
    toolChoice: 'auto',
    signal: new AbortController().signal,
    notify: () => undefined,
    ...fields,
  };
}

/** The conversation after a completion, with a result for each of its calls. */
export function answered(messages: readonly Message[], { message }: Completion): readonly Message[] {
  const results = message.toolCalls.map((call, n) => ({
    callId: call.id,
    content: `result ${n}`,
    isError: n === 1,
  }));
  return results.length === 0 ? [...messages, message] : [...messages, message, { role: 'tool', results }];
}
