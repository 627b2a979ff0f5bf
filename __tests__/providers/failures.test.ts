/** What can go wrong between us and a server: once on the shared HTTP layer, and a few rows for each vendor. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NetworkError, ProviderError } from '../../src/errors.ts';
import type { Completion, CompletionRequest } from '../../src/providers/provider.ts';
import type { ProviderSettings } from '../../src/providers/registry.ts';
import { verdictOf } from '../../src/run/endings.ts';
import { READ } from '../../src/text/limits.ts';
import {
  asking,
  bytesOf,
  providerAt,
  testKey,
  type Wire,
  wireOf,
  wires,
} from '../support/fakes/model/wires.ts';
import { type RawRequest, sendEvents, sendJson, startRawServer } from '../support/fakes/raw-server.ts';

type Handler = (response: ServerResponse, request: RawRequest, index: number) => void;

/** The outcome of one request, including its retries. */
interface Told {
  readonly completion: Completion | null;
  readonly error: ProviderError | null;
  /** The reason with which a run ends, or `completed`. */
  readonly reason: string;
  readonly tries: number;
  /** The notices, without the host, whose port changes. */
  readonly notices: readonly string[];
}

const whole = wireOf('openai-compatible', 'whole');
const streamed = wireOf('openai-compatible', 'streamed');
const atOnce = { 'retry-after-ms': '1' };
const [X280, HAN290] = ['x'.repeat(280), '的'.repeat(290)];
const call = { id: 'x', name: 'shell', arguments: '{"command":"make test"}' };

async function ask(
  wire: Wire,
  handler: Handler,
  settings: Partial<ProviderSettings> = {},
  request: Partial<CompletionRequest> = {},
): Promise<Told> {
  const server = await startRawServer(handler);
  try {
    const told = await askAt(wire, server.url, settings, request);
    return { ...told, tries: server.requests.length };
  } finally {
    await server.close();
  }
}

async function askAt(
  wire: Wire,
  url: string,
  settings: Partial<ProviderSettings> = {},
  request: Partial<CompletionRequest> = {},
): Promise<Told> {
  const notices: string[] = [];
  const provider = await providerAt(wire, url, settings);
  const notify = (text: string) => void notices.push(text.replaceAll(new URL(url).host, 'HOST'));
  try {
    const completion = await provider.complete(asking({ notify, ...request }));
    return { completion, error: null, reason: 'completed', tries: 0, notices };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    expect(`${notices.join()}${error.message}`).not.toContain(testKey);
    const limits = { turns: '', time: '', tokens: '', cost: '' };
    const facts = { turns: 0, gate: null, limits, entry: 'action' } as const;
    const { reason } = verdictOf({ kind: 'failed', error }, facts);
    return { completion: null, error, reason, tries: 0, notices };
  }
}

/** Sends the first part of a response and then ends, breaks the connection or stays silent. */
function send(response: ServerResponse, type: string, text: string, then: 'end' | 'cut' | 'open'): void {
  response.writeHead(200, { 'content-type': type });
  response.write(text, () => {
    if (then === 'end') response.end();
    if (then === 'cut') response.destroy();
  });
}

/** Sends the first event of a stream. */
const begin = (response: ServerResponse, then: 'cut' | 'open') =>
  sendEvents(response, [{ choices: [{ index: 0, delta: { content: 'begun' } }] }], then);

const refusing =
  (status: number, error: Record<string, string> = {}, headers: Record<string, string> = atOnce): Handler =>
  (response) =>
    sendJson(response, JSON.stringify({ error }), status, headers);

const follows = (what: string, tries: number): string[] =>
  Array.from({ length: tries - 1 }, (_, n) => `${what}: try ${n + 2} of ${tries} follows`);

afterEach(() => {
  vi.useRealTimers();
});

describe('an error response', () => {
  it.each<[number, string, number, string]>([
    [302, 'provider_error', 1, 'Redirects are not followed'],
    [304, 'provider_error', 1, 'Redirects are not followed'],
    [400, 'provider_error', 1, 'answered 400 for asked'],
    [401, 'provider_auth', 1, 'the key from the input api-key'],
    [402, 'provider_error', 1, 'plan and billing'],
    [403, 'provider_auth', 1, 'the key from the input api-key'],
    [404, 'provider_error', 1, 'Model or endpoint not found'],
    [408, 'provider_error', 11, 'answered 408'],
    [409, 'provider_error', 11, 'answered 409'],
    [410, 'provider_error', 1, 'retired, for good'],
    [413, 'context_overflow', 1, 'too long for asked'],
    [429, 'provider_rate_limit', 11, 'held through every retry'],
    [500, 'provider_error', 11, 'Every retry failed'],
    [502, 'provider_error', 11, 'Every retry failed'],
    [503, 'provider_overloaded', 11, 'It is overloaded'],
    [529, 'provider_overloaded', 11, 'It is overloaded'],
    [999, 'provider_error', 11, 'answered 599'],
  ])('E16 E17 %i ends as %s after %i tries, each of them reported', async (status, reason, tries, says) => {
    const told = await ask(whole, refusing(status));
    expect([told.reason, told.tries]).toEqual([reason, tries]);
    expect(told.error?.message).toContain(says);
    expect(told.notices).toEqual(follows(`HOST answered ${status} and asked to wait less than 1 s`, tries));
  });

  it('is retried as x-should-retry says', async () => {
    const says = (word: string) => ({ ...atOnce, 'x-should-retry': word });
    expect(await ask(whole, refusing(429, {}, says('false')))).toMatchObject({ tries: 1, notices: [] });
    expect(await ask(whole, refusing(400, {}, says('true')))).toMatchObject({ tries: 11 });
  });

  it('is classified by its status when the body never arrives', async () => {
    const told = await ask(
      streamed,
      (response) => response.writeHead(401, { 'content-type': 'application/json' }).flushHeaders(),
      { idleTimeoutMs: 60 },
    );
    expect(told).toMatchObject({ reason: 'provider_auth', tries: 1 });
  });

  it.each([
    [200, 1],
    [400, 1],
    [502, 11],
  ])('of status %i that is HTML is named and retried by its status alone', async (status, tries) => {
    const told = await ask(whole, (response) =>
      response.writeHead(status, { 'content-type': 'text/html', ...atOnce }).end('<html>Sign in</html>'),
    );
    expect(told).toMatchObject({ reason: 'provider_error', tries });
    expect(told.error?.message).toMatch(/HTML instead of JSON(?!.*Sign in)/u);
  });

  it.each<[string, Partial<ProviderSettings>, string, boolean]>([
    ['/', {}, '/chat/completions', true],
    ['/v1', {}, '/v1/chat/completions', false],
    ['/v1beta/openai', { provider: 'gemini' }, '/v1beta/openai/chat/completions', false],
    ['', { provider: 'anthropic' }, '/v1/messages', false],
    ['', { provider: 'azure-openai' }, '/openai/deployments/asked/chat/completions', false],
  ])('of status 404 for a base URL %j names the URL and a missing /v1', async (tail, more, path, lacks) => {
    const server = await startRawServer(refusing(404));
    const wire = wireOf(more.provider ?? 'openai-compatible', 'whole');
    const settings = { ...more, baseUrl: `${server.url}${tail}` };
    const { error } = await askAt(wire, server.url, settings);
    const hint = lacks ? '`base-url`, which has no /v1 at its end.' : '`base-url`.';
    expect(error?.message).toContain(`not found at ${server.url}${path}: check \`model\` and ${hint}`);
    await server.close();
  });

  it.each([
    ['for a spent quota, by code', 429, { code: 'insufficient_quota' }, 'The quota of the key from'],
    ['for a spent quota, by type', 429, { type: 'insufficient_quota' }, 'The quota of the key from'],
    ['in one line', 400, { message: 'a\n::error::b' }, 'It said: "a ::error::b".'],
    ['briefly', 400, { message: 'word '.repeat(80) }, `"${'word '.repeat(59)}word…"`],
    ['without half a key', 401, { message: `${X280} ${testKey} is` }, `${X280}…"`],
    ['without a key after other scripts', 401, { message: `${HAN290}${testKey}` }, `${HAN290}…"`],
  ])('is quoted %s', async (_, status, error, says) => {
    expect((await ask(whole, refusing(status, error))).error?.message).toContain(says);
  });

  it.each([
    ['at the top', '{"object":"error","message":"the reason","code":400}'],
    ['as a string', '{"error":"the reason"}'],
    ['as a detail', '{"detail":"the reason"}'],
    ['in a list', '[{"error":{"message":"the reason"}}]'],
  ])('is read %s', async (_, text) => {
    const told = await ask(whole, (response) => sendJson(response, text, 400));
    expect(told.error?.message).toContain('It said: "the reason".');
  });

  it('names the source of a key in a user header, and says when there was none', async () => {
    const settings = { apiKey: null, keySource: 'the input headers', headers: { Authorization: 'Custom 1' } };
    const given = await ask(whole, refusing(401), settings);
    expect(given.error?.message).toContain('refused the key from the input headers');
    const without = await ask(whole, refusing(401), { ...settings, headers: { 'x-team': 'ci' } });
    expect(without.error?.message).toContain('no key was given');
  });

  it('of a gateway without the Responses API suggests another provider', async () => {
    const { error } = await ask(wireOf('openai', 'streamed'), refusing(404));
    expect(error?.message).toContain('needs `provider: openai-compatible`');
  });

  it('with a redirect is not followed, so the key reaches no other host', async () => {
    const other = await startRawServer((response) => response.end());
    await ask(whole, (response) => response.writeHead(307, { location: `${other.url}/` }).end());
    await other.close();
    expect(other.requests).toEqual([]);
  });
});

describe('a message of a server', () => {
  it.each([
    'prompt is too long: 213462 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000',
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    'the request exceeds the available context size (4096 tokens), try increasing it',
    'Requested tokens (2300) exceed context window of 2048',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    'Input is too long for requested model.',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
    "The input (210000 tokens) is longer than the model's context length (200000 tokens).",
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'prompt too long; exceeded max context length by 12 tokens',
    'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)',
    'invalid params, context window exceeds limit',
    'Range of input length should be [1, 131072]',
  ])('is recognized as a context overflow: %s', async (message) => {
    expect(await ask(whole, refusing(400, { message }))).toMatchObject({ reason: 'context_overflow' });
  });

  it.each([
    ['code', 'context_length_exceeded'],
    ['type', 'exceed_context_size_error'],
  ])('is not needed if the %s is %s', async (key, word) => {
    expect(await ask(whole, refusing(400, { [key]: word }))).toMatchObject({ reason: 'context_overflow' });
  });

  it.each([
    [400, 'max_tokens must be at most 8192'],
    [400, 'Invalid schema for function "shell": tools[0] is not valid'],
    [400, 'tool_use ids must be unique'],
    [429, 'too many tokens per minute: your prompt is too long for this tier'],
    [500, 'context canceled'],
  ])('is neither an overflow nor a lack of tool calls: %i %s', async (status, message) => {
    const told = await ask(whole, refusing(status, { message }));
    expect(told.reason).not.toBe('context_overflow');
    expect(told.error?.message).not.toContain('no tool calls');
  });

  it.each([
    [400, 'registry.ollama.ai/library/gemma:latest does not support tools'],
    [500, 'tools param requires --jinja flag'],
    [500, 'Unsupported param: tools'],
    [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    [404, 'No endpoints found that support tool use. Try disabling "shell".'],
    [400, '`tools` is not supported with this model'],
    [400, 'Function calling is not enabled for this model'],
  ])('says that a server has no tool calls: %i %s', async (status, message) => {
    const { error } = await ask(whole, refusing(status, { message }));
    expect(error?.message).toContain('It offers no tool calls for this model');
  });

  it.each([
    [400, { message: 'Thinking may not be enabled when tool_choice forces tool use.' }, 'tool_choice'],
    [422, { message: 'tool_choice: Input should be auto' }, 'tool_choice'],
    [400, { param: 'tool_choice', message: 'x' }, 'tool_choice'],
    [400, { message: 'other' }, 'error'],
  ])('E4 %i %j is %s only if the request forced a tool', async (status, error, failure) => {
    const forced = { toolChoice: { tool: 'structured_output' } };
    expect((await ask(whole, refusing(status, error), {}, forced)).error?.failure).toBe(failure);
    expect((await ask(whole, refusing(status, error))).error?.failure).toBe('error');
  });
});

describe('a wait before a retry', () => {
  const date = 'Sat, 21 Nov 2026 12:00:00 GMT';

  it.each<[Record<string, string>, string]>([
    [{ 'retry-after': '7' }, ' and asked to wait 7 s'],
    [{ 'retry-after': '86400' }, ' and asked to wait 86400 s, waiting 60 s'],
    [{ 'retry-after': '1e300' }, ' and asked to wait 1000000000 s, waiting 60 s'],
    [{ 'retry-after': '-5' }, ''],
    [{ 'retry-after': 'soon' }, ''],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, ' and asked to wait less than 1 s'],
    [{ date, 'retry-after': 'Sat, 21 Nov 2026 12:00:20 GMT' }, ' and asked to wait 20 s'],
    [{ date, 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, ''],
  ])('with the headers %j is announced as%j, and ended at once by a signal', async (headers, says) => {
    const controller = new AbortController();
    const notices: string[] = [];
    const notify = (text: string) => {
      notices.push(text.replace(/^\S+/u, 'HOST'));
      setTimeout(() => controller.abort('over'), 5);
    };
    const request = { notify, signal: controller.signal };
    await expect(ask(whole, refusing(429, {}, headers), {}, request)).rejects.toBe('over');
    expect(notices).toEqual([`HOST answered 429${says}: try 2 of 11 follows`]);
  });

  const unreachable = new TypeError('', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) });
  const proxyDown = new NetworkError('The proxy is down.', { code: 'ECONNRESET', passing: true });
  it.each<[string, typeof fetch]>([
    ['an overloaded server', async () => new Response('{}', { status: 529 })],
    ['a server that cannot be reached', () => Promise.reject(unreachable)],
    ['a proxy that is down for a moment', () => Promise.reject(proxyDown)],
  ])('is about a minute in sum for %s', async (_, send) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let tries = 0;
    const counted: typeof fetch = (...request) => {
      tries += 1;
      return send(...request);
    };
    const wires = [wireOf('openai', 'streamed'), wireOf('anthropic', 'streamed')];
    const asked = wires.map((wire) => askAt(wire, 'http://127.0.0.1:9', { fetch: counted }));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(tries).toBeLessThan(22);
    await vi.advanceTimersByTimeAsync(35_000);
    for (const told of await Promise.all(asked)) {
      expect(told.reason).toMatch(/^provider_(?:overloaded|error)$/u);
      expect(told.notices).toHaveLength(10);
    }
    expect(tries).toBe(22);
  });

  it('is not made for a network error that lasts, or a response that was too late', async () => {
    const late = (code: string) => new TypeError('', { cause: Object.assign(new Error(), { code }) });
    const refused = new NetworkError('The proxy of HTTPS_PROXY refused.', { code: 'X', passing: false });
    const silent = '127.0.0.1:9 gave no answer for asked for 300 s. Check that the server is up';
    const ways: readonly [typeof fetch, string][] = [
      [() => Promise.reject(refused), 'No connection to 127.0.0.1:9. The proxy of HTTPS_PROXY refused.'],
      [() => Promise.reject(late('UND_ERR_HEADERS_TIMEOUT')), silent],
      [
        async () => {
          const body = new ReadableStream({ start: (to) => to.error(late('UND_ERR_BODY_TIMEOUT')) });
          return new Response(body, { headers: { 'content-type': 'application/json' } });
        },
        silent,
      ],
    ];
    for (const [fetch, says] of ways) {
      const told = await askAt(whole, 'http://127.0.0.1:9', { fetch });
      expect(told).toMatchObject({ reason: 'provider_error', notices: [] });
      expect(told.error?.message).toContain(says);
    }
  });
});

describe('a response that breaks off', () => {
  it('after half a second pauses twice as long before the third try', async () => {
    const pauses: number[] = [];
    const before = setTimeout;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((run, ms, ...rest) => {
      if (ms === 7 || ms === 14) pauses.push(ms);
      return before(run, ms, ...rest);
    });
    const told = await ask(streamed, (response) => begin(response, 'cut'), { retryPauseMs: 7 });
    vi.restoreAllMocks();
    expect([told.reason, pauses]).toEqual(['provider_error', [7, 14]]);
    expect(told.notices).toEqual(follows('HOST broke off its answer', 3));
  });

  const ended = { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] };
  const errors = [ended, ...Array.from({ length: 60_000 }, () => ({ error: 1 }))];
  const deep = `data: {"choices":[{"delta":{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}}]}\n\n`;
  it.each<[string, Handler, string, number]>([
    ['many errors after its end', (response) => sendEvents(response, errors), 'broke off in every try', 3],
    ['deep nesting', (response) => response.end(deep), 'levels', 1],
  ])('with %s is reported', async (_, handler, says, tries) => {
    const told = await ask(streamed, handler);
    expect(told).toMatchObject({ reason: 'provider_error', tries });
    expect(told.error?.message).toContain(says);
  });

  it.each([
    [429, 'provider_rate_limit', 3],
    [408, 'provider_error', 3],
    [502, 'provider_error', 3],
    [400, 'provider_error', 1],
  ])(
    'with the code %i of a gateway in a body of status 200 ends as %s after %i tries',
    async (code, reason, tries) => {
      const body = JSON.stringify({ error: { message: 'Provider returned error', code } });
      expect(await ask(whole, (response) => sendJson(response, body))).toMatchObject({ reason, tries });
    },
  );

  it.each([
    [200, 'text/event-stream', `data: {"type":"ping","x":"${'x'.repeat(2_000)}"}\n\n`, '64 MiB'],
    [200, 'application/json', ' ', '64 MiB'],
    [400, 'application/json', 'a', '256 KiB'],
    [529, 'application/json', 'a', '256 KiB'],
  ])(
    'of status %i and type %s without an end is cut off and not retried',
    async (status, type, text, limit) => {
      const piece = Buffer.from(text.repeat(Math.ceil((64 * 1024) / text.length)));
      let sent = 0;
      const told = await ask(streamed, (response) => {
        response.writeHead(status, { 'content-type': type, ...atOnce });
        const more = () => {
          while (!response.destroyed && sent < 4 * READ.modelResponse) {
            sent += piece.length;
            if (!response.write(piece)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      });
      expect(told).toMatchObject({ reason: 'provider_error', tries: 1 });
      expect(told.error?.message).toContain(
        `answered ${status} with more than ${limit}: that is no completion.`,
      );
      expect(sent).toBeLessThan(4 * READ.modelResponse);
    },
  );
});

describe('a stream', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['before the headers', () => undefined],
    ['before the first event', (response) => send(response, 'text/event-stream', ': hello\n\n', 'open')],
    ['in the middle', (response) => begin(response, 'open')],
  ])(
    'that is silent %s is cut off, retried, and reported with the length of the silence',
    async (_, handler) => {
      const closed: Promise<void>[] = [];
      const told = await ask(
        streamed,
        (response) => {
          closed.push(new Promise((resolve) => response.once('close', resolve)));
          handler(response);
        },
        { idleTimeoutMs: 100 },
      );
      expect(told).toMatchObject({ reason: 'provider_error', tries: 3 });
      expect(told.error?.message).toContain('went silent: nothing came for 0.1 s, in every try');
      expect(told.notices).toEqual(follows('HOST was silent for 0.1 s', 3));
      await Promise.all(closed);
    },
  );

  it('is read while comments and pings arrive', async () => {
    const { type, text } = await bytesOf(streamed, { text: 'slow' });
    const told = await ask(
      streamed,
      (response) => {
        response.writeHead(200, { 'content-type': type });
        let signs = 0;
        const timer = setInterval(() => {
          signs += 1;
          response.write(signs % 2 === 0 ? ': still here\n\n' : 'event: ping\ndata: {"type":"ping"}\n\n');
          if (signs < 12) return;
          clearInterval(timer);
          response.end(text);
        }, 100);
      },
      // Longer than one pause, even on a busy machine, and shorter than all pauses together.
      { idleTimeoutMs: 1_000 },
    );
    expect(told).toMatchObject({ completion: { message: { text: 'slow' } }, tries: 1, notices: [] });
  });

  it('has no idle limit if the response was asked for in one piece', async () => {
    const told = await ask(
      whole,
      (response) => setTimeout(() => whole.answer(response, { text: 'thought' }), 250),
      { idleTimeoutMs: 50 },
    );
    expect(told).toMatchObject({ completion: { message: { text: 'thought' } }, tries: 1 });
  });

  it('ends with its last event, although the connection stays open', async () => {
    for (const wire of wires.filter((each) => each.stream)) {
      const { type, text } = await bytesOf(wire, { calls: [call] });
      const told = await ask(wire, (response) => send(response, type, text, 'open'));
      expect(told.completion?.message.toolCalls).toMatchObject([{ name: 'shell', status: 'complete' }]);
    }
  });

  it('is read to its end, so that its connection is reused', async () => {
    const sockets = new Set<unknown>();
    const server = await startRawServer((response) => {
      sockets.add(response.socket);
      streamed.answer(response, { text: 'x' });
    });
    const provider = await providerAt(streamed, server.url);
    for (let n = 0; n < 10; n += 1) await provider.complete(asking());
    await server.close();
    expect(sockets.size).toBeLessThanOrEqual(2);
  });
});

describe('aborting', () => {
  const reason = { stop: 'timeout' };

  const tooMany = refusing(429, {}, { 'retry-after': '3600' });
  const pinging: Handler = (response) => {
    begin(response, 'open');
    const timer = setInterval(() => response.write(': ping\n\n'), 5);
    response.once('close', () => clearInterval(timer));
  };
  it.each<[string, Handler]>([
    ['while waiting for headers', () => undefined],
    ['in the middle of a response, although pings arrive', pinging],
    ['during the longest wait before a retry', tooMany],
  ])('E10 E12 %s rejects with the reason at once and sends no further request', async (_, answer) => {
    for (const wire of [streamed, wireOf('anthropic', 'streamed')]) {
      const controller = new AbortController();
      let requests = 0;
      const work = ask(
        wire,
        (...exchange) => {
          requests += 1;
          answer(...exchange);
          setTimeout(() => controller.abort(reason), 30);
        },
        { idleTimeoutMs: 5_000 },
        { signal: controller.signal },
      );
      await expect(work).rejects.toBe(reason);
      expect(requests).toBe(1);
    }
  });

  it('E10 closes the request in progress, and sends nothing if it came before', async () => {
    const controller = new AbortController();
    const closing = Promise.withResolvers<void>();
    const server = await startRawServer((response) => {
      response.once('close', () => closing.resolve());
      controller.abort(reason);
    });
    const provider = await providerAt(streamed, server.url);
    await expect(provider.complete(asking({ signal: controller.signal }))).rejects.toBe(reason);
    await closing.promise;
    await expect(provider.complete(asking({ signal: controller.signal }))).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
    await server.close();
  });
});

describe.each(wires)('$name', (wire) => {
  it('E16 names the source of a refused key, the model and the id of the request', async () => {
    const headers = { 'x-request-id': 'req_1', 'request-id': 'req_1' };
    const error = { type: 'authentication_error', message: 'bad key' };
    const told = await ask(wire, (response) => wire.error(response, 401, error, headers));
    expect(told).toMatchObject({
      reason: 'provider_auth',
      tries: 1,
      error: { status: 401, requestId: 'req_1' },
    });
    for (const part of ['the input api-key', 'asked', '401', '"bad key"'])
      expect(told.error?.message).toContain(part);
  });

  it('E17 retries an overloaded server, and takes the answer that comes later', async () => {
    const told = await ask(wire, (response, _, index) =>
      index < 10 ? wire.error(response, 529, {}, atOnce) : wire.answer(response, { text: 'late' }),
    );
    expect(told).toMatchObject({ completion: { message: { text: 'late' } }, tries: 11 });
  });

  it('gives no completion or the complete one, wherever the response is cut', async () => {
    const { type, text } = await bytesOf(wire, { text: 'Prose.', calls: [call] });
    const bytes = Buffer.from(text);
    const ends = /"finish_reason":"tool|event: message_delta|event: response\.completed/u;
    // With a complete call, but without the end.
    let at = wire.stream ? text.search(ends) : bytes.length - 10;
    const server = await startRawServer((response, _, index) =>
      index % 2 === 0
        ? send(response, type, bytes.subarray(0, at).toString('latin1'), 'end')
        : wire.answer(response, { text: 'again' }),
    );
    const provider = await providerAt(wire, server.url);
    expect((await provider.complete(asking())).message.text).toBe('again');
    for (at = 1; at < bytes.length; at += Math.ceil(bytes.length / 20)) {
      const { message } = await provider.complete(asking());
      if (message.text === 'again') continue;
      // Only optional bytes after the end were missing.
      expect(message.toolCalls).toMatchObject([{ rawArguments: call.arguments, status: 'complete' }]);
      await provider.complete(asking());
    }
    await server.close();
  });
});
