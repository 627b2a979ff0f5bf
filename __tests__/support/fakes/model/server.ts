/**
 * A scripted model behind real provider endpoints on a loopback port: `@copilotkit/aimock` speaks the wire formats,
 * a function responds to each request. One server supports every format at once: the base URL is `${url}/v1` for
 * OpenAI-compatible clients and `url` for Anthropic ones.
 *
 * Limits of the emulator: for Anthropic it re-serializes a call's arguments (spacing, duplicate keys and broken
 * JSON are lost) and knows no cached tokens; `raw-server.ts` is for those.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ChatCompletionRequest, createServer, type FixtureResponse } from '@copilotkit/aimock';
import type { RawRequest } from '../raw-server.ts';

export interface ScriptedCall {
  readonly name: string;
  /** JSON text; on the chat endpoint any text is sent as it is. */
  readonly arguments: string;
  readonly id?: string;
}

/** A request to the model, independent of the wire format. */
export type ModelRequest = ReturnType<typeof modelRequest>;
export type ModelMessage = ModelRequest['messages'][number];

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
}

export type ScriptedModel = Awaited<ReturnType<typeof startModel>>;

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
export async function startModel(script: Script) {
  const reply = (request: ModelRequest, at: number) =>
    typeof script === 'function' ? script(request, at) : (script[at] ?? script.at(-1) ?? {});
  const requests: Pick<RawRequest, 'path' | 'raw' | 'headers'>[] = [];
  let index = 0;
  const response = async (request: ChatCompletionRequest) =>
    fixtureResponse(await reply(modelRequest(request), index++));
  const options = { port: 0, host: '127.0.0.1', logLevel: 'silent', journalMaxEntries: 1 } as const;
  const { url, server } = await createServer([{ match: {}, response }], options);
  server.prependListener('request', (message: IncomingMessage, answer: ServerResponse) => {
    tapBody(message, (raw) => requests.push({ path: message.url ?? '', raw, headers: message.headers }));
    // A refused request may be sent again at once.
    answer.setHeader('retry-after-ms', '1');
  });
  return {
    /** Without a trailing slash or `/v1`. */
    url,
    /** Every request so far, in order of arrival; grows while the server runs. */
    requests: requests as Readonly<typeof requests>,
    /** Drops open connections and stops listening. */
    async close() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Copies a body as it is parsed off the socket, so that the emulator still reads it whole. */
function tapBody(message: IncomingMessage, done: (raw: string) => void): void {
  const chunks: Buffer[] = [];
  const push = message.push.bind(message);
  message.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    if (chunk === null && message.method === 'POST') done(Buffer.concat(chunks.splice(0)).toString('utf8'));
    return push(chunk, encoding);
  };
}

function modelRequest({ messages: sent, tools = [] }: ChatCompletionRequest) {
  const messages = sent.map(({ role, content, tool_calls: calls, tool_call_id: callId }) => ({
    role,
    text: typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join(''),
    /** The calls of an assistant's message. */
    calls: calls?.map(({ id, function: called }): ScriptedCall => ({ id, ...called })),
    /** The call whose result this is. */
    callId,
  }));
  return {
    messages,
    /** The offered tools, in order, with their schemas as sent. */
    tools: tools.map((tool) => tool.function),
    /** The tool results at the end of the conversation: those of the last turn, in order; empty after a user message. */
    toolResults: messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1),
  };
}

function fixtureResponse(reply: Reply): FixtureResponse {
  const { text, calls, finishReason, usage, error, status = 500 } = reply;
  if (error !== undefined) return { status, error };
  const { inputTokens, outputTokens } = usage ?? { inputTokens: 100, outputTokens: 10 };
  return {
    ...(calls === undefined ? { content: text ?? '' } : { toolCalls: [...calls] }),
    ...(text === undefined ? {} : { content: text }),
    ...(finishReason === undefined ? {} : { finishReason }),
    usage: {
      ...{ input_tokens: inputTokens, output_tokens: outputTokens },
      ...{ prompt_tokens: inputTokens, completion_tokens: outputTokens },
    },
  };
}
