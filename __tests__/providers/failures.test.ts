/** What can go wrong between us and a server. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { NetworkError } from '../../src/errors.ts';
import { createFetch } from '../../src/network/network.ts';
import type { JsonObject } from '../../src/types.ts';
import { asking, providerAt, send, testKey, wireOf, wires } from '../support/fakes/model/wires.ts';
import { sendEvents, sendJson } from '../support/fakes/raw-server.ts';
import { ask, type Handler, served } from './served.ts';

const chat = wireOf('openai-compatible');
const responses = wireOf('openai');
const anthropic = wireOf('anthropic');
/** Nobody listens at that place. */
const atOnce = { 'retry-after-ms': '1', location: 'http://127.0.0.1:9/' };
const [X280, HAN290] = ['x'.repeat(280), '的'.repeat(290)];

const refusing =
  (status: number, error: JsonObject = {}, headers: Record<string, string> = atOnce): Handler =>
  (response) =>
    sendJson(response, JSON.stringify({ error }), status, headers);

/** Sends the first part of a stream of each API. */
function begin(response: ServerResponse): void {
  sendEvents(response, [{ type: 'message_start', message: { content: [] } }], 'open');
}

describe('an error response', () => {
  it.each<[number, string, number, string]>([
    [302, 'error', 1, 'Redirects are not followed'],
    [400, 'error', 1, 'answered 400 for asked'],
    [401, 'auth', 1, 'the key from the input api-key'],
    [402, 'error', 1, 'plan and billing of the key from the input api-key'],
    [403, 'auth', 1, 'the key from the input api-key'],
    [404, 'error', 1, 'Not found below http://127.0.0.1'],
    [408, 'error', 11, 'Every try failed'],
    [409, 'error', 11, 'Every try failed'],
    [410, 'error', 1, 'retired, for good'],
    [413, 'context_overflow', 1, 'The conversation is too long'],
    [429, 'rate_limit', 11, 'The limit held through every try'],
    [500, 'error', 11, 'Every try failed'],
    [503, 'overloaded', 11, 'It is overloaded'],
    [529, 'overloaded', 11, 'It is overloaded'],
  ])('E16 E17 %i ends as %s after %i tries, each of them reported', async (status, failure, tries, says) => {
    for (const wire of [chat, anthropic]) {
      const told = await ask(wire, refusing(status));
      expect([told.failure, told.tries, told.error?.status]).toEqual([failure, tries, status]);
      expect(told.error?.message).toContain(says);
      const follows = Array.from(
        { length: tries - 1 },
        (_, n) => `HOST answered ${status}: try ${n + 2} of 11`,
      );
      expect(told.notices).toEqual(follows);
    }
  });

  it.each<[string, string, string?]>([
    ['at the top', '{"object":"error","message":"the reason","code":400}'],
    ['as a string', '{"error":"the reason"}'],
    ['as a detail', '{"detail":"the reason"}'],
    ['in a list', '[{"error":{"message":"the reason"}}]'],
    ['as text', 'the reason'],
    ['as a page', '<html>Sign in</html>', 'It answered with HTML instead of JSON. Check'],
    ['in one line', 'a\n::error::b', 'It said: "a ::error::b".'],
    ['briefly', 'word '.repeat(80), `"${'word '.repeat(59)}word…"`],
    ['without half a key', `${X280} ${testKey} is`, `${X280}…"`],
    ['without a key after other scripts', `${HAN290}${testKey}`, `${HAN290}…"`],
    ['without other fields', '{"error":{"failed_generation":"secret"}}', 'answered 400 for asked. Check'],
  ])('is quoted %s', async (_, text, says = 'It said: "the reason".') => {
    const told = await ask(chat, (response) => sendJson(response, text, 400));
    expect(told.error?.message).toContain(says);
  });

  it.each<[Record<string, string>, string]>([
    [{ authorization: 'Custom 1' }, 'the key from the input headers'],
    [{ 'x-team': 'ci' }, 'No key was given: set `api-key`.'],
  ])('for a key is explained by the user headers %j', async (headers, says) => {
    const settings = { apiKey: null, keySource: 'the input headers', headers };
    expect((await ask(chat, refusing(401), settings)).error?.message).toContain(says);
  });

  const TOO_LONG = [
    'prompt is too long: 213462 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000',
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    'the request exceeds the available context size (4096 tokens), try increasing it',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "The input (210000 tokens) is longer than the model's context length (200000 tokens).",
    'prompt too long; exceeded max context length by 12 tokens',
    'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)',
    'invalid params, context window exceeds limit',
    'Range of input length should be [1, 131072]',
  ];
  it.each<[number, JsonObject, string]>([
    ...TOO_LONG.map((message): [number, JsonObject, string] => [400, { message }, 'context_overflow']),
    [400, { code: 'context_length_exceeded' }, 'context_overflow'],
    [400, { type: 'exceed_context_size_error' }, 'context_overflow'],
    [400, { message: 'max_tokens must be at most 8192' }, 'error'],
    [400, { message: 'API key not valid. Please pass a valid API key.' }, 'auth'],
    [429, { message: 'too many tokens: your prompt is too long for this tier' }, 'rate_limit'],
  ])('%i with %j ends as %s', async (status, error, failure) => {
    expect(await ask(chat, refusing(status, error))).toMatchObject({ failure });
  });

  it.each([
    [400, { message: 'Thinking may not be enabled when tool_choice forces tool use.' }, 'tool_choice'],
    [422, { message: 'tool_choice: Input should be auto', type: 'server_error' }, 'tool_choice'],
    [400, { message: 'other' }, 'error'],
  ])('E4 %i %j is %s only if the request forced a tool', async (status, error, failure) => {
    const forced = { toolChoice: { tool: 'structured_output' } };
    expect((await ask(chat, refusing(status, error), {}, forced)).error?.failure).toBe(failure);
    expect((await ask(chat, refusing(status, error))).error?.failure).toBe('error');
  });

  it.each(wires)('E18 of $provider for a prompt that a filter refused is a refusal', async (wire) => {
    const error = { message: 'Filtered.', type: null, param: 'prompt', code: 'content_filter' };
    const told = await ask(wire, refusing(400, error));
    expect(told).toMatchObject({ completion: { stopReason: 'refusal', usage: null }, tries: 1 });
  });
});

describe.each([responses, anthropic])('a wait for $provider before a retry', (wire) => {
  const date = 'Sat, 21 Nov 2026 12:00:00 GMT';
  it.each<[number, string, Record<string, string>, string]>([
    [429, 'rate_limit', { 'retry-after': '3600' }, 'It asks to wait 3600 s'],
    [503, 'overloaded', { 'retry-after': '61' }, 'It asks to wait 61 s'],
    [429, 'rate_limit', { date, 'retry-after': 'Sat, 21 Nov 2026 13:00:00 GMT' }, 'wait 3600 s'],
  ])('that is too long ends the run at once: %i as %s with %j', async (status, failure, headers, says) => {
    const told = await ask(wire, refusing(status, {}, headers));
    expect(told).toMatchObject({ failure, tries: 1 });
    expect(told.error?.message).toContain(says);
  });

  const unreachable = new TypeError('', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) });
  const proxyDown = new NetworkError('The proxy is down.', { passing: true });
  it.each<[string, typeof fetch, string]>([
    ['an overloaded server', async () => new Response('{}', { status: 529 }), 'It is overloaded'],
    ['an unreachable server', () => Promise.reject(unreachable), '(ECONNREFUSED). Check `base-url`'],
    ['a proxy that is down for a moment', () => Promise.reject(proxyDown), 'The proxy is down.'],
  ])('is about a minute in sum for %s', async (_, answer, says) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const fetch = vi.fn(answer);
    const provider = await providerAt(wire, 'http://127.0.0.1:9', { fetch });
    const asked = expect(provider.complete(asking())).rejects.toThrow(says);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(fetch.mock.calls.length).toBeLessThan(11);
    await vi.advanceTimersByTimeAsync(35_000);
    await asked;
    expect(fetch).toHaveBeenCalledTimes(11);
  });

  it('is not made for a network error that lasts', async () => {
    const lasting = new NetworkError('The proxy refused.', { passing: false });
    const told = await ask(wire, {}, { fetch: () => Promise.reject(lasting) });
    expect(told).toMatchObject({ failure: 'error', notices: [] });
    expect(told.error?.message).toMatch(/^No connection to 127\S+ The proxy refused\.$/u);
  });
});

describe('an answer', () => {
  it.each(wires)('of $provider that breaks off is asked for again, and never half used', async (wire) => {
    const calls = [{ id: 'x', name: 'shell', arguments: '{"command":"ls"}' }];
    const { server } = await served(wire, wire.response({ text: 'Prose.', calls }));
    const reply = await fetch(server.url);
    const type = reply.headers.get('content-type') ?? '';
    const bytes = Buffer.from(await reply.text());
    const end = wire.provider === 'openai' ? bytes.indexOf('event: response.completed') : bytes.length - 10;
    for (let at = 1; at < end; at += Math.ceil(end / 7)) {
      const told = await ask(wire, (response, _, n) => {
        if (n > 0) return send(response, wire.response({ text: 'again' }));
        response.writeHead(200, { 'content-type': type });
        response.write(bytes.subarray(0, at), () => (at % 2 === 0 ? response.end() : response.destroy()));
      });
      expect(told).toMatchObject({ completion: { message: { text: 'again', toolCalls: [] } }, tries: 2 });
      expect(told.notices).toEqual(['HOST broke off its answer: try 2 of 3 follows']);
    }
  });

  const JSON_BODIES = ['{"hello":"world"}', '[]', 'null', '"x"', '{"choices":[]}', '{"choices":[{}]}'];
  it.each<[string, string]>([
    ['text/html', '<html>Sign in</html>'],
    ['text/plain', 'hello'],
    ...JSON_BODIES.map((body): [string, string] => ['application/json', body]),
  ])('of type %s that is %s is no completion, and is not asked for again', async (type, text) => {
    for (const wire of [chat, responses, anthropic]) {
      const told = await ask(wire, (response) => response.writeHead(200, { 'content-type': type }).end(text));
      expect(told).toMatchObject({ failure: 'error', tries: 1 });
      expect(told.error?.message).toMatch(/not a completion\. Check `base-url`, which often ends in \/v1/u);
      expect(told.error?.message).not.toContain(text);
    }
  });

  it('in one piece may take longer than the limit on silence, and than that of `fetch`', async () => {
    const told = await ask(
      chat,
      (response) => setTimeout(() => send(response, chat.response({ text: 'thought' })), 1_500),
      { idleTimeoutMs: 50, fetch: createFetch() },
    );
    expect(told).toMatchObject({ completion: { message: { text: 'thought' } }, tries: 1 });
  });
});

describe.each([responses, anthropic])('a stream of $provider', (wire) => {
  it.each<[string, Handler]>([
    ['before the headers', () => undefined],
    ['in the middle', (response) => begin(response)],
  ])('that is silent %s is cut off, asked for again, and reported', async (_, handler) => {
    const closed: Promise<void>[] = [];
    const silent: Handler = (response, ...rest) => {
      closed.push(new Promise((resolve) => response.once('close', resolve)));
      handler(response, ...rest);
    };
    const told = await ask(wire, silent, { idleTimeoutMs: 100 });
    expect(told).toMatchObject({ failure: 'error', tries: 3 });
    expect(told.error?.message).toContain('was silent for 0.1 s for asked in every try');
    expect(told.notices).toEqual([2, 3].map((n) => `HOST was silent for 0.1 s: try ${n} of 3 follows`));
    await Promise.all(closed);
  });

  it('is waited for while comments arrive', async () => {
    const handler: Handler = (response) => {
      begin(response);
      const timer = setInterval(() => response.write(': still here\n\n'), 100);
      setTimeout(() => {
        clearInterval(timer);
        send(response, wire.response({ text: 'slow' }));
      }, 1_200);
    };
    // Longer than one pause, even on a busy machine, and shorter than all pauses together.
    const told = await ask(wire, handler, { idleTimeoutMs: 1_000 });
    expect(told).toMatchObject({ completion: { message: { text: 'slow' } }, tries: 1, notices: [] });
  });

  it('ends with its last event, although the connection stays open', async () => {
    const events = Object.values(wire.response({ text: 'whole' }));
    const told = await ask(wire, (response) => sendEvents(response, events, 'open'));
    expect(told.completion?.message.text).toBe('whole');
  });

  const reason = { stop: 'timeout' };
  const pinging: Handler = (response) => {
    begin(response);
    const timer = setInterval(() => response.write(': ping\n\n'), 5);
    response.once('close', () => clearInterval(timer));
  };
  it.each<[string, Handler]>([
    ['while waiting for headers', () => undefined],
    ['in the middle, although pings arrive', pinging],
    ['during the longest wait before a retry', refusing(429, {}, { 'retry-after': '60' })],
    ['during the pause before another try', (response) => response.destroy()],
  ])('E10 E12 that is aborted %s ends at once with the reason, and no other is sent', async (_, answer) => {
    const controller = new AbortController();
    const closing = Promise.withResolvers<void>();
    const aborting: Handler = (response, ...exchange) => {
      response.once('close', () => closing.resolve());
      answer(response, ...exchange);
      setTimeout(() => controller.abort(reason), 30);
    };
    const { provider, server } = await served(wire, aborting, { idleTimeoutMs: 5_000 });
    for (let n = 0; n < 2; n += 1)
      await expect(provider.complete(asking({ signal: controller.signal }))).rejects.toBe(reason);
    await closing.promise;
    expect(server.requests).toHaveLength(1);
  });
});
