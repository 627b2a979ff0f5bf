/** The wire formats of the adapters, written by hand, so that one test suite can cover every adapter. */
import type { ServerResponse } from 'node:http';
import type { Completion, CompletionRequest, Provider } from '../../../../src/providers/provider.ts';
import type { ProviderName, ProviderSettings } from '../../../../src/providers/registry.ts';
import { createProvider } from '../../../../src/providers/registry.ts';
import type { JsonObject, Message, ToolSpec } from '../../../../src/types.ts';
import { sendEvents, sendJson, startRawServer } from '../raw-server.ts';

/** A call with the text of its arguments, which is sent unchanged. */
export interface WireCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: string;
}

/** A response independent of the wire format; `stop` is sent unchanged. */
export interface WireAnswer {
  readonly text?: string;
  readonly calls?: readonly WireCall[];
  readonly stop?: string;
  readonly usage?: JsonObject | null;
}

/** What differs from API to API. */
interface Format {
  readonly provider: ProviderName;
  /** The path of the base URL. */
  readonly basePath: string;
  /** The path of requests for a model. */
  readonly path: (model: string) => string;
  /** The request field with the conversation. */
  readonly conversation: 'messages' | 'input';
  /** The headers of this API in addition to those of every request. */
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  /** The word for a response that was cut at the limit of its length. */
  readonly length: string;
  readonly body: (answer: WireAnswer) => string;
  readonly events: (answer: WireAnswer) => readonly unknown[];
  readonly errorBody: (error: JsonObject) => unknown;
}

/** One API of a model, streamed or not. */
export interface Wire extends Format {
  readonly name: string;
  readonly stream: boolean;
  answer(response: ServerResponse, answer: WireAnswer): void;
  error(response: ServerResponse, status: number, error: JsonObject, headers?: Record<string, string>): void;
}

const pieces = (text = ''): string[] => text.match(/[\s\S]{1,3}/g) ?? [];
const chatEnd = ({ calls = [], stop }: WireAnswer) => stop ?? (calls.length === 0 ? 'stop' : 'tool_calls');
const messageEnd = ({ calls = [], stop }: WireAnswer) =>
  stop ?? (calls.length === 0 ? 'end_turn' : 'tool_use');

function chatBody(answer: WireAnswer): string {
  const { text = null, calls, usage } = answer;
  const tool_calls = calls?.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  const message = { role: 'assistant', content: text, tool_calls };
  const choices = [{ index: 0, message, finish_reason: chatEnd(answer) }];
  return JSON.stringify({ model: 'served', choices, usage: usage ?? undefined });
}

function chatChunks(answer: WireAnswer): unknown[] {
  const { text, calls = [], usage } = answer;
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    model: 'served',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const called = calls.flatMap(({ id, name, arguments: whole }, index) => [
    { index, id, type: 'function', function: { name, arguments: '' } },
    ...pieces(whole).map((piece) => ({ index, function: { arguments: piece } })),
  ]);
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(text).map((content) => chunk({ content })),
    ...called.map((each) => chunk({ tool_calls: [each] })),
    chunk({}, chatEnd(answer)),
    ...(usage ? [{ model: 'served', choices: [], usage }] : []),
    '[DONE]',
  ];
}

const counted = { input_tokens: 1, output_tokens: 1 };

function messageText(answer: WireAnswer): string {
  const { text, calls = [], usage = counted } = answer;
  const blocks = calls.map(({ id, name, arguments: input }) => {
    const use = JSON.stringify({ type: 'tool_use', id, name });
    return `${use.slice(0, -1)},"input":${input}}`;
  });
  if (text !== undefined) blocks.unshift(JSON.stringify({ type: 'text', text }));
  const rest = JSON.stringify({ model: 'served', stop_reason: messageEnd(answer), usage });
  return `{"content":[${blocks.join()}],${rest.slice(1)}`;
}

function messageEvents(answer: WireAnswer): unknown[] {
  const { text, calls = [], usage = counted } = answer;
  const deltas = pieces(text).map((piece) => ({ type: 'text_delta', text: piece }));
  const prose = { content_block: { type: 'text', text: '' }, deltas };
  const uses = calls.map(({ id, name, arguments: whole }) => ({
    content_block: { type: 'tool_use', id, name, input: {} },
    deltas: pieces(whole).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  }));
  const blocks = text === undefined ? uses : [prose, ...uses];
  return [
    { type: 'message_start', message: { model: 'served', content: [], usage } },
    { type: 'ping' },
    ...blocks.flatMap(({ content_block, deltas }, index) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: messageEnd(answer) },
      usage: usage === null ? undefined : { ...usage, input_tokens: null },
    },
    { type: 'message_stop' },
  ];
}

function responseBody({ text, calls = [], stop, usage }: WireAnswer) {
  const message = { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text }] };
  const items = calls.map(({ id: call_id, ...called }, n) => ({
    ...{ type: 'function_call', id: `fc_${n}`, call_id, ...called },
  }));
  return {
    object: 'response',
    status: stop === undefined ? 'completed' : 'incomplete',
    incomplete_details: { reason: stop },
    model: 'served',
    output: text === undefined ? items : [message, ...items],
    usage: usage ?? undefined,
  };
}

function responseEvents(answer: WireAnswer): unknown[] {
  const response = responseBody(answer);
  const items = response.output.flatMap((item, output_index) => {
    const isCall = 'arguments' in item;
    const type = `response.${isCall ? 'function_call_arguments' : 'output_text'}.delta`;
    const empty = isCall ? { arguments: '' } : { content: [] };
    return [
      { type: 'response.output_item.added', output_index, item: { ...item, ...empty } },
      ...pieces(isCall ? item.arguments : answer.text).map((delta) => ({ type, output_index, delta })),
      { type: 'response.output_item.done', output_index, item },
    ];
  });
  const created = { type: 'response.created', response: { ...response, output: [] } };
  return [created, ...items, { type: `response.${response.status}`, response }];
}

const chat = {
  provider: 'openai-compatible',
  basePath: '/v1',
  path: () => '/v1/chat/completions',
  conversation: 'messages',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  length: 'length',
  body: chatBody,
  events: chatChunks,
  errorBody: (error) => ({ error }),
} as const satisfies Format;

const formats: readonly Format[] = [
  {
    ...chat,
    provider: 'openai',
    path: () => '/v1/responses',
    conversation: 'input',
    length: 'max_output_tokens',
    body: (answer) => JSON.stringify(responseBody(answer)),
    events: responseEvents,
  },
  chat,
  {
    ...chat,
    provider: 'gemini',
    basePath: '/v1beta/openai',
    path: () => '/v1beta/openai/chat/completions',
    errorBody: (error) => [{ error }],
  },
  {
    ...chat,
    provider: 'azure-openai',
    basePath: '',
    path: (model) => `/openai/deployments/${model}/chat/completions?api-version=2024-10-21`,
    headers: (key) => ({ 'api-key': key }),
  },
  {
    provider: 'anthropic',
    basePath: '',
    path: () => '/v1/messages',
    conversation: 'messages',
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2026-10-21' }),
    length: 'max_tokens',
    body: messageText,
    events: messageEvents,
    errorBody: (error) => ({ type: 'error', error }),
  },
];

/** Every adapter, streamed and not. */
export const wires: readonly Wire[] = formats.flatMap((format) =>
  [false, true].map((stream) => ({
    ...format,
    name: `${format.provider}, ${stream ? 'streamed' : 'whole'}`,
    stream,
    answer: (response, answer) =>
      stream ? sendEvents(response, format.events(answer)) : sendJson(response, format.body(answer)),
    error: (response, status, error, headers) =>
      sendJson(response, JSON.stringify(format.errorBody(error)), status, headers),
  })),
);

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
