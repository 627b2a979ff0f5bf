/**
 * A scripted model behind real provider endpoints on a loopback port: `@copilotkit/aimock` speaks the wire formats,
 * a function responds to each request. One server supports every format at once: the base URL is `${url}/v1` for
 * OpenAI-compatible clients and `url` for Anthropic ones.
 *
 * Limits of the emulator: for Anthropic it re-serializes a call's arguments (spacing, duplicate keys and broken
 * JSON are lost) and knows no cached tokens; `raw-server.ts` is for those.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ChatCompletionRequest,
  type ChatMessage,
  createServer,
  type FixtureResponse,
} from '@copilotkit/aimock';

/** A tool call of a scripted model, or one in the history. */
export interface ScriptedCall {
  readonly name: string;
  /** JSON text; on the chat endpoint any text is sent as it is. */
  readonly arguments: string;
  readonly id?: string;
}

/** One entry of the conversation in a request, the same for every wire format. */
export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ScriptedCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string };

/** A request to the model, independent of the wire format. */
export interface ModelRequest {
  readonly endpoint: 'chat' | 'anthropic';
  readonly messages: readonly ModelMessage[];
  /** The offered tools, in order, with their schemas as sent. */
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: unknown;
  }[];
  /** The tool results at the end of the conversation: those of the last turn, in order; empty after a user message. */
  readonly toolResults: readonly { readonly callId: string; readonly text: string }[];
}

/** A response of the scripted model; an empty object is an empty turn. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** A stop reason of chat completions:`stop`, `length`, `tool_calls`, `content_filter`; translated for Anthropic. */
  readonly finishReason?: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
  /** The name of the responding model; the requested one by default. */
  readonly model?: string;
  /** With `error`: the HTTP status, 500 by default. */
  readonly status?: number;
  readonly error?: {
    readonly message: string;
    readonly type?: string;
    readonly code?: string;
    readonly param?: string;
  };
  /** Seconds of the `Retry-After` header of a 429. Without it an error asks to be tried again at once. */
  readonly retryAfter?: number;
}

/** A request as it arrived. */
export interface JournalEntry {
  readonly path: string;
  /** The parsed body; null if it is not JSON. */
  readonly body: unknown;
  /** The body's bytes as text. */
  readonly raw: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A running scripted model. */
export interface ScriptedModel {
  /** Without a trailing slash or `/v1`. */
  readonly url: string;
  /** Every request so far, in order of arrival; grows while the server runs. */
  readonly requests: readonly JournalEntry[];
  /** Drops open connections and stops listening. */
  close(): Promise<void>;
}

/**
 * The replies of a scripted model, in order and repeating the last one, or a function that is called for each request with
 * its index, starting at 0; an error that it throws is a response with status 500.
 */
export type Script = readonly Reply[] | ((request: ModelRequest, index: number) => Reply | Promise<Reply>);

/** A reply that calls one tool, with arguments or the raw text of them. */
export function calls(name: string, args: unknown): Reply {
  return { calls: [{ name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }] };
}

/** A reply that submits a payload, or the raw text of one. */
export function submits(payload: unknown): Reply {
  return calls('structured_output', payload);
}

/** Starts a scripted model on a free loopback port. */
export async function startModel(script: Script): Promise<ScriptedModel> {
  const reply =
    typeof script === 'function'
      ? script
      : (_: ModelRequest, at: number) => script[Math.min(at, script.length - 1)] ?? {};
  const requests: JournalEntry[] = [];
  const current = new AsyncLocalStorage<Tap>();
  let index = 0;
  const answer = async (request: ChatCompletionRequest): Promise<FixtureResponse> => {
    const entry = current.getStore()?.entry() ?? null;
    const asked = modelRequest(request, entry);
    const given = await reply(asked, index++);
    if (given.error !== undefined && given.retryAfter === undefined)
      current.getStore()?.response.setHeader('retry-after-ms', '1');
    return fixtureResponse(given, asked);
  };
  const emulator = await createServer([{ match: {}, response: answer }], {
    port: 0,
    host: '127.0.0.1',
    logLevel: 'silent',
    journalMaxEntries: 1,
  });
  emulator.server.prependListener('request', (message: IncomingMessage, response: ServerResponse) => {
    current.enterWith({ ...tapBody(message, (entry) => requests.push(entry)), response });
  });
  return {
    url: emulator.url,
    requests,
    close: () =>
      new Promise((resolve) => {
        emulator.server.close(() => resolve());
        emulator.server.closeAllConnections();
      }),
  };
}

/** A request under way whose body is read along with the emulator. */
interface Tap {
  entry(): JournalEntry | null;
  readonly response: ServerResponse;
}

/** Copies a body as it is parsed off the socket, so that the emulator still reads it whole. */
function tapBody(message: IncomingMessage, done: (entry: JournalEntry) => void): Pick<Tap, 'entry'> {
  const chunks: Buffer[] = [];
  let entry: JournalEntry | null = null;
  const push = message.push.bind(message);
  message.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    if (chunk === null && entry === null && message.method === 'POST') {
      const raw = Buffer.concat(chunks).toString('utf8');
      entry = { path: message.url ?? '', body: parsed(raw), raw, headers: message.headers };
      done(entry);
    }
    return push(chunk, encoding);
  };
  return { entry: () => entry };
}

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}

function modelRequest(request: ChatCompletionRequest, entry: JournalEntry | null): ModelRequest {
  const messages = request.messages.map(modelMessage);
  const toolResults: { callId: string; text: string }[] = [];
  for (const message of messages.toReversed()) {
    if (message.role !== 'tool') break;
    toolResults.unshift({ callId: message.callId, text: message.text });
  }
  return {
    endpoint: entry?.path.includes('/messages') ? 'anthropic' : 'chat',
    messages,
    tools: (request.tools ?? []).map((tool) => ({
      name: tool.function.name,
      description: tool.function.description ?? '',
      parameters: tool.function.parameters,
    })),
    toolResults,
  };
}

function modelMessage(message: ChatMessage): ModelMessage {
  const text =
    typeof message.content === 'string'
      ? message.content
      : (message.content ?? []).map((part) => part.text ?? '').join('');
  switch (message.role) {
    case 'tool':
      return { role: 'tool', callId: message.tool_call_id ?? '', text };
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map((call) => ({
        id: call.id,
        name: call.function.name,
        arguments: call.function.arguments,
      }));
      return { role: 'assistant', text, calls };
    }
    default:
      return { role: message.role, text };
  }
}

function fixtureResponse(reply: Reply, asked: ModelRequest): FixtureResponse {
  if (reply.error !== undefined) {
    return {
      status: reply.status ?? 500,
      error: { ...reply.error },
      ...(reply.retryAfter === undefined ? {} : { retryAfter: reply.retryAfter }),
    };
  }
  const overrides = {
    ...(reply.finishReason === undefined ? {} : { finishReason: finishReason(reply.finishReason, asked) }),
    ...(reply.model === undefined ? {} : { model: reply.model }),
    usage: usage(reply.usage ?? { inputTokens: 100, outputTokens: 10 }, asked),
  };
  const calls = reply.calls ?? [];
  if (calls.length === 0) return { content: reply.text ?? '', ...overrides };
  const toolCalls = calls.map((call) => ({ ...call }));
  return reply.text === undefined
    ? { toolCalls, ...overrides }
    : { content: reply.text, toolCalls, ...overrides };
}

/** The emulator maps the other stop reasons itself. */
function finishReason(reason: string, asked: ModelRequest): string {
  return reason === 'content_filter' && asked.endpoint === 'anthropic' ? 'refusal' : reason;
}

function usage(tokens: { inputTokens: number; outputTokens: number }, asked: ModelRequest) {
  return asked.endpoint === 'anthropic'
    ? { input_tokens: tokens.inputTokens, output_tokens: tokens.outputTokens }
    : { prompt_tokens: tokens.inputTokens, completion_tokens: tokens.outputTokens };
}
