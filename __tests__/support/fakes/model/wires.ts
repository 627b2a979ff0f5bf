/** The APIs of the providers, written by hand, so that one test suite can cover every adapter. */
import type { ServerResponse } from 'node:http';
import type { Completion, CompletionRequest } from '../../../../src/providers/provider.ts';
import {
  createProvider,
  PROVIDERS,
  type ProviderName,
  type ProviderSettings,
} from '../../../../src/providers/registry.ts';
import type { JsonObject, Message } from '../../../../src/types.ts';
import { sendEvents, sendJson } from '../raw-server.ts';
import type { ScriptedCall } from './server.ts';

/** A response independent of the wire format; `stop` and the texts of arguments are sent unchanged. */
export interface WireAnswer {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly stop?: string;
  readonly usage?: JsonObject | null;
}

export interface Wire {
  readonly provider: ProviderName;
  /** The path of the base URL. */
  readonly basePath: string;
  /** The path of requests. */
  readonly path: string;
  /** The request field with the conversation. */
  readonly conversation: 'messages' | 'input';
  /** The headers of this API in addition to those of every request. */
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  /** The word for a response that was cut at the limit of its length. */
  readonly length: string;
  /** The body of a response, or the events of its stream. */
  readonly response: (answer: WireAnswer) => object;
}

const pieces = (text = ''): string[] => text.match(/[\s\S]{1,3}/g) ?? [];

function chatBody({ text, calls, stop, usage }: WireAnswer): object {
  const tool_calls = calls?.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  const message = { role: 'assistant', content: text ?? null, tool_calls };
  const finish_reason = stop ?? (calls === undefined ? 'stop' : 'tool_calls');
  return { model: 'served', choices: [{ index: 0, message, finish_reason }], usage: usage ?? undefined };
}

const counted = { input_tokens: 1, output_tokens: 1 };

function messageEvents({ text, calls = [], stop, usage = counted }: WireAnswer): unknown[] {
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
      delta: { stop_reason: stop ?? (calls.length === 0 ? 'end_turn' : 'tool_use') },
      usage: usage === null ? undefined : { ...usage, input_tokens: null },
    },
    { type: 'message_stop' },
  ];
}

function responseEvents({ text, calls = [], stop, usage }: WireAnswer): unknown[] {
  const message = { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text }] };
  const type = 'function_call';
  const items = calls.map(({ id: call_id, ...called }, n) => ({ type, id: `fc_${n}`, call_id, ...called }));
  const response = {
    object: 'response',
    status: stop === undefined ? 'completed' : 'incomplete',
    incomplete_details: { reason: stop },
    model: 'served',
    output: text === undefined ? items : [message, ...items],
    usage: usage ?? undefined,
  };
  return [
    { type: 'response.created', response: { ...response, output: [] } },
    ...pieces(text).map((delta) => ({ type: 'response.output_text.delta', output_index: 0, delta })),
    { type: `response.${response.status}`, response },
  ];
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const azureKey = (key: string) => ({ 'api-key': key });
const anthropicKey = (key: string) => ({ 'x-api-key': key, 'anthropic-version': '2026-10-21' });

const chat = { conversation: 'messages', length: 'length', response: chatBody } as const;
const responses = { conversation: 'input', length: 'max_output_tokens', response: responseEvents } as const;
const messages = { conversation: 'messages', length: 'max_tokens', response: messageEvents } as const;

const apis: Readonly<Record<ProviderName, Omit<Wire, 'provider'>>> = {
  'openai-compatible': { basePath: '/v1', path: '/v1/chat/completions', headers: bearer, ...chat },
  gemini: { basePath: '/v1beta/openai', path: '/v1beta/openai/chat/completions', headers: bearer, ...chat },
  'azure-openai': { basePath: '', path: '/openai/v1/chat/completions', headers: azureKey, ...chat },
  openai: { basePath: '/v1', path: '/v1/responses', headers: bearer, ...responses },
  anthropic: { basePath: '', path: '/v1/messages', headers: anthropicKey, ...messages },
};

/** Returns the wire of a provider. */
export function wireOf(provider: ProviderName): Wire {
  return { provider, ...apis[provider] };
}

export const wires = PROVIDERS.map(wireOf);

/** Sends a body as JSON, or a list as the events of a stream. */
export function send(response: ServerResponse, answer: object): void {
  if (Array.isArray(answer)) sendEvents(response, answer);
  else sendJson(response, JSON.stringify(answer));
}

/** The key, which no error, log or message may contain. */
export const testKey = 'sk-test-0123456789abcdef';

/** Creates the adapter of a wire for a server. */
export function providerAt(wire: Wire, url: string, settings: Partial<ProviderSettings> = {}) {
  return createProvider({
    ...{ provider: wire.provider, baseUrl: `${url}${wire.basePath}`, model: 'asked', headers: {} },
    ...{ apiKey: testKey, keySource: 'the input api-key', userAgent: 'structured-agent/test', fetch },
    ...{ maxOutputTokens: null, reasoningEffort: null, idleTimeoutMs: 60_000, retryPauseMs: 1, ...settings },
  });
}

const parameters = { type: 'object', properties: { command: { type: 'string' } } };
const tools = ['shell', 'structured_output'].map((name) => ({ name, description: 'Works.', parameters }));

/** A request with a user message by default. */
export function asking(fields: Partial<CompletionRequest> = {}): CompletionRequest {
  return {
    ...{ system: 'Be good.', tools, messages: [{ role: 'user', text: 'Go.' }], toolChoice: 'auto' },
    ...{ signal: new AbortController().signal, notify: () => undefined, ...fields },
  };
}

/** The conversation after a completion, with a result for each of its calls. */
export function answered(messages: readonly Message[], { message }: Completion): readonly Message[] {
  const ids = message.toolCalls.map(({ id }) => id);
  const results = ids.map((callId, n) => ({ callId, content: `result ${n}`, isError: n === 1 }));
  return [...messages, message, ...(ids.length === 0 ? [] : [{ role: 'tool', results } as const])];
}
