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
import { type ChatCompletionRequest, createServer, type FixtureResponse } from '@copilotkit/aimock';
import { parseOrUndefined } from '../../../../src/text/json.ts';

/** A tool call of a scripted model, or one in the history. */
export interface ScriptedCall {
  readonly name: string;
  /** JSON text; on the chat endpoint any text is sent as it is. */
  readonly arguments: string;
  readonly id?: string;
}

/** One entry of the conversation in a request. */
export interface ModelMessage {
  readonly role: string;
  readonly text: string;
  /** The calls of an assistant's message. */
  readonly calls?: readonly ScriptedCall[] | undefined;
  /** The call whose result this is. */
  readonly callId?: string | undefined;
}

/** A request to the model, independent of the wire format. */
export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  /** The offered tools, in order, with their schemas as sent. */
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: unknown;
  }[];
  /** The tool results at the end of the conversation: those of the last turn, in order; empty after a user message. */
  readonly toolResults: readonly ModelMessage[];
}

/** A response of the scripted model; an empty object is an empty turn. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** A stop reason of chat completions. */
  readonly finishReason?: 'length' | 'content_filter';
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
  /** With `error`: the HTTP status, 500 by default. */
  readonly status?: number;
  readonly error?: { readonly message: string; readonly code?: string };
  /** Seconds of the `Retry-After` header of a 429. Without it an error asks to be tried again at once. */
  readonly retryAfter?: number;
}

/** A request as it arrived. */
export interface JournalEntry {
  readonly path: string;
  /** The parsed body; undefined if it is not JSON. */
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
  const current = new AsyncLocalStorage<ServerResponse>();
  let index = 0;
  const answer = async (request: ChatCompletionRequest): Promise<FixtureResponse> => {
    const given = await reply(modelRequest(request), index++);
    if (given.error !== undefined && given.retryAfter === undefined)
      current.getStore()?.setHeader('retry-after-ms', '1');
    return fixtureResponse(given);
  };
  const emulator = await createServer([{ match: {}, response: answer }], {
    port: 0,
    host: '127.0.0.1',
    logLevel: 'silent',
    journalMaxEntries: 1,
  });
  emulator.server.prependListener('request', (message: IncomingMessage, response: ServerResponse) => {
    tapBody(message, (entry) => requests.push(entry));
    current.enterWith(response);
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

/** Copies a body as it is parsed off the socket, so that the emulator still reads it whole. */
function tapBody(message: IncomingMessage, done: (entry: JournalEntry) => void): void {
  const chunks: Buffer[] = [];
  const push = message.push.bind(message);
  message.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    if (chunk === null && message.method === 'POST') {
      const raw = Buffer.concat(chunks.splice(0)).toString('utf8');
      done({ path: message.url ?? '', body: parseOrUndefined(raw), raw, headers: message.headers });
    }
    return push(chunk, encoding);
  };
}

function modelRequest({ messages: sent, tools = [] }: ChatCompletionRequest): ModelRequest {
  const messages = sent.map(({ role, content, tool_calls: calls, tool_call_id: callId }) => ({
    role,
    text: typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join(''),
    calls: calls?.map(({ id, function: called }) => ({ id, ...called })),
    callId,
  }));
  return {
    messages,
    tools: tools.map(({ function: { name, description = '', parameters } }) => ({
      name,
      description,
      parameters,
    })),
    toolResults: messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1),
  };
}

function fixtureResponse({ text, calls = [], finishReason, usage, ...failure }: Reply): FixtureResponse {
  const { error, status = 500, retryAfter } = failure;
  if (error !== undefined) return { status, error, ...(retryAfter === undefined ? {} : { retryAfter }) };
  const { inputTokens, outputTokens } = usage ?? { inputTokens: 100, outputTokens: 10 };
  const overrides = {
    ...(finishReason === undefined ? {} : { finishReason }),
    usage: {
      ...{ input_tokens: inputTokens, output_tokens: outputTokens },
      ...{ prompt_tokens: inputTokens, completion_tokens: outputTokens },
    },
  };
  if (calls.length === 0) return { content: text ?? '', ...overrides };
  const toolCalls = [...calls];
  return text === undefined ? { toolCalls, ...overrides } : { content: text, toolCalls, ...overrides };
}
