import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
import { rawSlice } from '../../src/json.ts';
import type { CompletionRequest } from '../../src/providers/provider.ts';
import { objectOf, objectsOf } from '../../src/providers/reading.ts';
import type { ProviderSettings } from '../../src/providers/settings.ts';
import type { JsonObject } from '../../src/types.ts';
import { type ModelRequest, type Reply, startModel } from '../support/model-server.ts';
import { answered, asking, providerAt, testKey, type Wire, wires } from '../support/provider-wires.ts';
import { type RawRequest, type RawServer, startRawServer } from '../support/raw-server.ts';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of open.splice(0)) await server.close();
});

async function raw(
  answer: (response: ServerResponse, request: RawRequest, index: number) => void,
): Promise<RawServer> {
  const server = await startRawServer(answer);
  open.push(server);
  return server;
}

async function failure(
  work: Promise<unknown>,
): Promise<{ failure: string; status: number | null; requestId: string | null; message: string }> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ProviderError)) throw new Error(`no ProviderError: ${String(error)}`);
  const { failure: kind, status, requestId, message } = error;
  return { failure: kind, status, requestId, message };
}

const body = (request: RawRequest | undefined): JsonObject => objectOf(JSON.parse(request?.raw ?? '{}'));
const list = (value: unknown): readonly JsonObject[] => objectsOf(value).map((each) => each.value);

/** A request's text from its first byte to the end of its conversation, without Anthropic's marks, which move by design. */
const prefix = (raw: string, wire: Wire): string => {
  const conversation = rawSlice(raw, [wire.conversation]) ?? '';
  const end = raw.indexOf(conversation) + conversation.length - 1;
  return raw.slice(0, end).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
};

/** The ids of calls and of results in a request, in order. */
const idsIn = (request: RawRequest | undefined, wire: Wire): { calls: unknown[]; results: unknown[] } => {
  const entries = list(body(request)[wire.conversation]);
  const all = [
    ...entries,
    ...entries.flatMap((each) => [...list(each['content']), ...list(each['tool_calls'])]),
  ];
  const ofType = (type: string, key: string) =>
    all.filter((each) => each['type'] === type).map((each) => each[key]);
  const results = entries.filter((each) => each['role'] === 'tool').map((each) => each['tool_call_id']);
  return {
    calls: [...ofType('function', 'id'), ...ofType('tool_use', 'id'), ...ofType('function_call', 'call_id')],
    results: [
      ...results,
      ...ofType('tool_result', 'tool_use_id'),
      ...ofType('function_call_output', 'call_id'),
    ],
  };
};

/** Retries come at once: the SDKs read fractions of a second. */
const atOnce = { 'retry-after': '0.001' };

describe.each(wires)('$name', (wire: Wire) => {
  const at = (server: { url: string }, settings: Partial<ProviderSettings> = {}) =>
    providerAt(wire, server.url, settings);
  const once = async (answer: Parameters<Wire['answer']>[1], request: Partial<CompletionRequest> = {}) => {
    const server = await raw((response) => wire.answer(response, answer));
    const completion = await (await at(server)).complete(asking(request));
    return { completion, server };
  };

  describe('against the emulator', () => {
    const emulated = async (script: (request: ModelRequest, index: number) => Reply) => {
      const model = await startModel(script);
      open.push(model);
      return { model, provider: await at(model) };
    };

    it('gives plain text', async () => {
      const { provider } = await emulated(() => ({
        text: 'Grüße, 👋',
        usage: { inputTokens: 7, outputTokens: 3 },
      }));
      expect(await provider.complete(asking())).toEqual({
        message: { role: 'assistant', text: 'Grüße, 👋', toolCalls: [], native: expect.anything() },
        stopReason: 'end',
        usage: { inputTokens: 7, outputTokens: 3, cachedInputTokens: 0, cacheWriteTokens: 0 },
        model: 'asked',
      });
    });

    it('gives one call and several, and answers them on the wire by their ids', async () => {
      const { provider, model } = await emulated((request, index) => {
        if (index === 1)
          expect(request.toolResults.map((result) => result.text)).toEqual(['result 0', 'result 1']);
        if (index > 0) return { text: 'done' };
        const calls = [
          { id: 'one', name: 'shell', arguments: '{"command":"ls"}' },
          { id: 'two', name: 'structured_output', arguments: '{"ok":true}' },
        ];
        return { text: 'Both.', calls };
      });
      const first = await provider.complete(asking());
      expect(first.stopReason).toBe('tool_calls');
      expect(first.message.text).toBe('Both.');
      expect(first.message.toolCalls).toEqual([
        { id: 'one', name: 'shell', rawArguments: '{"command":"ls"}', status: 'complete' },
        { id: 'two', name: 'structured_output', rawArguments: '{"ok":true}', status: 'complete' },
      ]);
      await provider.complete(asking({ messages: answered(asking().messages, first) }));
      expect(model.requests).toHaveLength(2);
    });

    it('forces a tool choice on the wire, and only when asked', async () => {
      const seen: string[] = [];
      const { provider } = await emulated((request) => {
        seen.push(request.toolChoice);
        return { text: 'x' };
      });
      await provider.complete(asking());
      await provider.complete(asking({ toolChoice: { tool: 'structured_output' } }));
      expect(seen).toEqual(['auto', 'structured_output']);
    });

    it('keeps every request a continuation of the one before, byte by byte', async () => {
      const { provider, model } = await emulated((_, index) => ({
        text: `Turn ${index}.`,
        calls: [{ name: 'shell', arguments: '{"command":"ls"}' }],
      }));
      let messages = asking().messages;
      for (let turn = 0; turn < 4; turn += 1) {
        messages = answered(
          messages,
          await provider.complete(asking({ messages: structuredClone(messages) })),
        );
      }
      const texts = model.requests.map((request) => prefix(request.raw, wire));
      for (const [n, text] of texts.entries()) expect(texts[n + 1]?.slice(0, text.length) ?? text).toBe(text);
      expect(texts.map((text) => text.length)).toEqual(
        [...new Set(texts.map((text) => text.length))].sort((x, y) => x - y),
      );
      const rest = model.requests.map((request) =>
        Object.entries(body({ ...request, method: 'POST', headers: {} })).filter(
          ([key]) => key !== wire.conversation,
        ),
      );
      expect(new Set(rest.map((each) => JSON.stringify(each))).size).toBe(1);
      expect(texts[0]).toContain('"tools":');
      expect(texts[0]).toContain('Be good.');
    });
  });

  it('hands on the raw text of arguments: spacing, escapes, equal keys, big numbers', async () => {
    const rawArguments = '{ "a" : "\\u00e9\\n",\t"a": 1e2, "n": 12345678901234567890 , "t": "}{\\"]" }';
    const { completion } = await once({ calls: [{ id: 'x', name: 'shell', arguments: rawArguments }] });
    expect(completion.message.toolCalls).toEqual([
      { id: 'x', name: 'shell', rawArguments, status: 'complete' },
    ]);
  });

  it('S8 marks every call of an answer that was cut in the middle of one as truncated', async () => {
    // A whole answer of Anthropic's holds JSON, which cannot be cut.
    const cut = wire.provider === 'anthropic' && !wire.stream ? '{}' : '{"command":"l';
    const calls = [
      { id: 'x', name: 'shell', arguments: '{"command":"ls"}' },
      { id: 'y', name: 'shell', arguments: cut },
    ];
    const { completion } = await once({ calls, stop: wire.words.length });
    expect(completion.stopReason).toBe('length');
    expect(completion.message.toolCalls.map((call) => call.status)).toEqual(['truncated', 'truncated']);
  });

  it('gives calls ids that are unique in the conversation, and replays them so', async () => {
    const call = { id: 'call_0', name: 'shell', arguments: '{}' };
    const server = await raw((response) =>
      wire.answer(response, { calls: [call, call, { name: 'shell', arguments: '{}' }] }),
    );
    const provider = await at(server);
    const first = await provider.complete(asking());
    expect(first.message.toolCalls.map((each) => each.id)).toEqual(['call_0', 'call_0_2', 'call_1_3']);
    const messages = answered(asking().messages, first);
    const second = await provider.complete(asking({ messages }));
    expect(second.message.toolCalls.map((each) => each.id)).toEqual(['call_0_3', 'call_0_4', 'call_2_3']);
    await provider.complete(asking({ messages: answered(messages, second) }));
    const ids = ['call_0', 'call_0_2', 'call_1_3', 'call_0_3', 'call_0_4', 'call_2_3'];
    expect(idsIn(server.requests.at(-1), wire)).toEqual({ calls: ids, results: ids });
  });

  it('takes arguments that are an object as their text, or not at all', async () => {
    const rawArguments = '{ "a" : 1, "a": 12345678901234567890 }';
    const call = { id: 'x', name: 'shell', arguments: rawArguments, asObject: true };
    const { completion } = await once({ calls: [call] });
    const [got] = completion.message.toolCalls;
    expect(got).toEqual(
      wire.stream && wire.provider !== 'anthropic' && got?.status !== 'complete'
        ? { id: 'x', name: 'shell', rawArguments: '', status: 'malformed' }
        : { id: 'x', name: 'shell', rawArguments, status: 'complete' },
    );
  });

  it('E2 an empty turn is an end, and what is replayed of it has content', async () => {
    const { completion, server } = await once({});
    expect(completion.message).toMatchObject({ text: '', toolCalls: [] });
    expect(completion.stopReason).toBe('end');
    await (await at(server)).complete(
      asking({ messages: [...asking().messages, completion.message, { role: 'user', text: 'Again.' }] }),
    );
    expect(server.requests.at(-1)?.raw).toContain('(empty)');
  });

  it('N9 replays broken arguments and made-up names as what the API reads', async () => {
    const name = 'functions.shell/é';
    const broken = wire.provider === 'anthropic' && !wire.stream ? '[1]' : '{"command":';
    const { completion, server } = await once({ calls: [{ id: 'x', name, arguments: broken }] });
    expect(completion.message.toolCalls).toEqual([
      { id: 'x', name, rawArguments: broken, status: 'complete' },
    ]);
    await (await at(server)).complete(asking({ messages: answered(asking().messages, completion) }));
    const sent = server.requests.at(-1)?.raw ?? '';
    expect(sent).toContain('"functions_shell__"');
    expect(sent).toContain(wire.provider === 'anthropic' ? '"input":{}' : '"arguments":"{}"');
  });

  it('passes the reasoning effort on, in the field of its API, and only when asked', async () => {
    const server = await raw((response) => wire.answer(response, { text: 'x' }));
    await (await at(server)).complete(asking());
    await (await at(server, { reasoningEffort: 'low' })).complete(asking());
    const [without, { ...asked } = {}] = server.requests.map(body);
    const field = {
      openai: { reasoning: { effort: 'low' } },
      anthropic: { output_config: { effort: 'low' } },
      gemini: { reasoning_effort: 'low' },
      'azure-openai': { reasoning_effort: 'low' },
      'openai-compatible': { reasoning_effort: 'low' },
    }[wire.provider];
    expect(asked).toEqual({ ...without, ...field });
    expect(without).not.toMatchObject(field);
  });

  it('sends the headers of the user, which replace ours', async () => {
    const server = await raw((response) => wire.answer(response, { text: 'x' }));
    const headers = { 'X-Team': 'ci', Authorization: 'Custom 1', 'User-Agent': 'mine' };
    await (await at(server, { headers })).complete(asking());
    expect(server.requests[0]?.headers).toMatchObject({
      'x-team': 'ci',
      authorization: 'Custom 1',
      'user-agent': 'mine',
    });
  });

  it('sends the key as a bearer where that is asked for, and nowhere else', async () => {
    const server = await raw((response) => wire.answer(response, { text: 'x' }));
    await (await at(server, { authScheme: 'bearer' })).complete(asking());
    const { authorization, ...others } = server.requests[0]?.headers ?? {};
    expect(authorization).toBe(`Bearer ${testKey}`);
    expect(JSON.stringify(others)).not.toContain(testKey);
  });

  it('E18 a refusal is a refusal', async () => {
    const { completion } = await once({ text: 'No.', stop: wire.words.refusal });
    expect(completion.stopReason).toBe('refusal');
  });

  it('gives no usage where the server reported none', async () => {
    const { completion } = await once({ text: 'x', usage: null });
    expect(completion.usage).toBeNull();
  });

  it('rebuilds assistant messages that another adapter made', async () => {
    const toolCalls = [
      { id: 'q', name: 'shell', rawArguments: '{"command":"ls"}', status: 'complete' as const },
    ];
    const foreign = { role: 'assistant' as const, text: 'Prose.', toolCalls, native: null };
    const results = [{ callId: 'q', content: 'half \ud83d', isError: false }];
    const { server } = await once(
      { text: 'x' },
      { messages: [...asking().messages, foreign, { role: 'tool', results }] },
    );
    const sent = server.requests[0]?.raw ?? '';
    for (const text of ['"q"', 'Prose.', 'half \ufffd']) expect(sent).toContain(text);
  });

  describe('failures', () => {
    const failing = async (
      status: number,
      error: JsonObject,
      request: Partial<CompletionRequest> = {},
      settings: Partial<ProviderSettings> = {},
    ) => {
      const headers = { ...atOnce, 'x-request-id': 'req_1', 'request-id': 'req_1' };
      const server = await raw((response) => wire.error(response, status, error, headers));
      const told = await failure((await at(server, settings)).complete(asking(request)));
      expect(told.message).not.toContain(testKey);
      return { ...told, tries: server.requests.length };
    };

    it('E16 401 and 403 name where the key came from, the model and the status, never the key', async () => {
      for (const status of [401, 403]) {
        const told = await failing(status, { type: 'authentication_error', message: 'bad key' });
        expect(told).toMatchObject({ failure: 'auth', status, requestId: 'req_1', tries: 1 });
        for (const part of ['the input api-key', 'asked', String(status), '"bad key"'])
          expect(told.message).toContain(part);
      }
    });

    it('E16 401 without a key says that none was given', async () => {
      const told = await failing(401, { message: 'who?' }, {}, { apiKey: null });
      expect(told.message).toContain('no key was given');
    });

    it('E17 429 for ever ends after a bounded number of tries', async () => {
      const told = await failing(429, { type: 'rate_limit_error', message: 'slow down' });
      expect(told).toMatchObject({ failure: 'rate_limit', status: 429, tries: 4 });
      expect((await failing(429, { code: 'insufficient_quota', message: 'pay' })).message).toContain('quota');
    });

    it.each([
      [500, 'error'],
      [502, 'error'],
      [503, 'overloaded'],
      [529, 'overloaded'],
    ])('%i is tried again and ends as %s', async (status, expected) => {
      expect(await failing(status, { type: 'api_error', message: 'broken' })).toMatchObject({
        failure: expected,
        status,
        tries: 4,
      });
    });

    it('404 and 410 point at model and base-url', async () => {
      for (const status of [404, 410]) {
        const told = await failing(status, { type: 'not_found_error', message: 'no such model' });
        expect(told).toMatchObject({ failure: 'error', status, tries: 1 });
        expect(told.message).toContain('check `model` and `base-url`');
        expect(told.message).toContain(status === 410 ? 'retired, for good' : 'not found');
      }
    });

    it('a conversation that is too long is a context overflow, by code and by words', async () => {
      for (const error of [
        { code: 'context_length_exceeded', message: 'x' },
        { type: 'exceed_context_size_error', message: 'x' },
        { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
        { message: "This model's maximum context length is 8192 tokens." },
      ]) {
        expect(await failing(400, error)).toMatchObject({
          failure: 'context_overflow',
          status: 400,
          tries: 1,
        });
      }
      expect(await failing(413, { type: 'request_too_large', message: 'x' })).toMatchObject({
        failure: 'context_overflow',
      });
    });

    it('E4 a 400 that names tool choice is a refused forced choice only when one was forced', async () => {
      const toolChoice = { tool: 'structured_output' };
      const said = { message: 'Thinking may not be enabled when tool_choice forces tool use.' };
      expect(await failing(400, said, { toolChoice })).toMatchObject({ failure: 'tool_choice', status: 400 });
      expect(await failing(400, { param: 'tool_choice', message: 'x' }, { toolChoice })).toMatchObject({
        failure: 'tool_choice',
      });
      expect(await failing(400, said)).toMatchObject({ failure: 'error' });
      expect(await failing(400, { message: 'other' }, { toolChoice })).toMatchObject({ failure: 'error' });
    });

    it('caps what a server says, on one line', async () => {
      const { message } = await failing(400, { message: `line\n::error::${'x'.repeat(5000)}` });
      expect(message.length).toBeLessThan(500);
      expect(message).not.toContain('\n');
    });

    it('reads errors that stand at the top of the body, or are a word', async () => {
      for (const text of [
        '{"object":"error","message":"the reason","code":400}',
        '{"error":"the reason"}',
        '{"detail":"the reason"}',
      ]) {
        const server = await raw((response) =>
          response.writeHead(400, { 'content-type': 'application/json' }).end(text),
        );
        expect((await failure((await at(server)).complete(asking()))).message).toContain('"the reason"');
      }
    });

    it('HTML instead of JSON is said to be HTML, whatever its status', async () => {
      for (const status of [200, 400, 502]) {
        const server = await raw((response) => {
          response
            .writeHead(status, { 'content-type': 'text/html', ...atOnce })
            .end('<!doctype html><p>Login</p>');
        });
        const { message } = await failure((await at(server)).complete(asking()));
        expect(message).toContain('HTML instead of JSON');
        expect(message).not.toContain('<p>');
      }
    });

    it('does not follow redirects, and so never takes the key elsewhere', async () => {
      const other = await raw((response) => response.end());
      const server = await raw((response) => response.writeHead(307, { location: `${other.url}/` }).end());
      expect(await failure((await at(server)).complete(asking()))).toMatchObject({
        failure: 'error',
        status: 307,
      });
      expect(other.requests).toEqual([]);
    });

    it('a connection that is refused names the host and the code', async () => {
      const listener = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => listener.once('listening', resolve));
      const address = listener.address();
      const host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
      await new Promise((resolve) => listener.close(resolve));
      const told = await failure((await at({ url: `http://${host}` })).complete(asking()));
      expect(told).toMatchObject({ failure: 'error', status: null });
      expect(told.message).toContain(`No connection to ${host} (ECONNREFUSED)`);
    });

    it('an answer that breaks off is asked for again, in one place, three times in all', async () => {
      const server = await raw((response) => wire.begin(response, 'cut'));
      const told = await failure((await at(server)).complete(asking()));
      expect(told).toMatchObject({ failure: 'error', status: null });
      expect(told.message).toContain('broke off');
      expect(server.requests).toHaveLength(3);
    });

    it('an answer that is whole at the second try is an answer', async () => {
      const server = await raw((response, _, n) =>
        n === 0 ? wire.begin(response, 'cut') : wire.answer(response, { text: 'whole' }),
      );
      expect((await (await at(server)).complete(asking())).message.text).toBe('whole');
    });
  });

  describe('E10 aborting', () => {
    const reason = { stop: 'timeout' };

    it.each<[string, (response: ServerResponse) => void]>([
      ['while waiting for headers', () => undefined],
      ['in the middle of an answer', (response) => wire.begin(response, 'open')],
      [
        'while a retry waits as long as it may',
        (response) => wire.error(response, 429, {}, { 'retry-after': '3600' }),
      ],
    ])('%s rejects with the reason at once, and sends nothing more', async (_, answer) => {
      const controller = new AbortController();
      const server = await raw((response) => {
        answer(response);
        setTimeout(() => controller.abort(reason), 30);
      });
      const work = (await at(server)).complete(asking({ signal: controller.signal }));
      await expect(work).rejects.toBe(reason);
      expect(server.requests).toHaveLength(1);
    });

    it('closes the request that is under way', async () => {
      const controller = new AbortController();
      let closed = () => {};
      const closing = new Promise<void>((resolve) => {
        closed = resolve;
      });
      const server = await raw((response) => {
        response.once('close', closed);
        controller.abort(reason);
      });
      await expect((await at(server)).complete(asking({ signal: controller.signal }))).rejects.toBe(reason);
      await closing;
    });

    it('makes no further try once a wait between tries is over', async () => {
      const controller = new AbortController();
      const server = await raw((response) => {
        wire.error(response, 500, {}, { 'retry-after': '0.1' });
        setTimeout(() => controller.abort(reason), 10);
      });
      await expect((await at(server)).complete(asking({ signal: controller.signal }))).rejects.toBe(reason);
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect(server.requests).toHaveLength(1);
    });

    it('a signal that is aborted already sends nothing', async () => {
      const server = await raw((response) => wire.answer(response, { text: 'x' }));
      await expect((await at(server)).complete(asking({ signal: AbortSignal.abort(reason) }))).rejects.toBe(
        reason,
      );
      expect(server.requests).toEqual([]);
    });
  });

  it('ignores the environment, prints nothing, and sends exactly its own headers', async () => {
    const written: unknown[] = [];
    const spies = [
      ...[process.stdout, process.stderr].map((stream) =>
        vi.spyOn(stream, 'write').mockImplementation((text) => written.push(text) > 0),
      ),
      ...(['log', 'info', 'warn', 'error', 'debug'] as const).map((method) =>
        vi.spyOn(console, method).mockImplementation((...args) => void written.push(args)),
      ),
    ];
    vi.stubEnv('AZURE_OPENAI_ENDPOINT', 'http://127.0.0.1:9');
    vi.stubEnv('OPENAI_API_VERSION', 'env-version');
    for (const vendor of ['OPENAI', 'ANTHROPIC', 'AZURE_OPENAI', 'GEMINI']) {
      vi.stubEnv(`${vendor}_API_KEY`, 'env-key');
      vi.stubEnv(`${vendor}_AUTH_TOKEN`, 'env-key');
      vi.stubEnv(`${vendor}_ADMIN_KEY`, 'env-key');
      vi.stubEnv(`${vendor}_BASE_URL`, 'http://127.0.0.1:9');
      vi.stubEnv(`${vendor}_ORG_ID`, 'env-org');
      vi.stubEnv(`${vendor}_PROJECT_ID`, 'env-project');
      vi.stubEnv(`${vendor}_CUSTOM_HEADERS`, 'x-env: env-header\nauthorization: Bearer env-key');
      vi.stubEnv(`${vendor}_LOG`, 'debug');
      vi.stubEnv(`${vendor}_PROFILE`, 'env-profile');
    }
    const server = await raw((response, _, n) =>
      n === 0 ? wire.error(response, 500, {}, atOnce) : wire.answer(response, { text: 'x' }),
    );
    try {
      await (await at(server, { model: 'claude-3-opus-20240229' })).complete(asking());
      await (await at(server, { apiKey: null })).complete(asking());
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    expect(written).toEqual([]);
    const { connection: _, host: __, ...headers } = server.requests[0]?.headers ?? {};
    expect(headers).toEqual({
      accept: 'application/json',
      'accept-encoding': expect.any(String),
      'accept-language': '*',
      'content-length': expect.any(String),
      'content-type': 'application/json',
      'sec-fetch-mode': 'cors',
      'user-agent': 'structured-agent/test',
      ...wire.headers(testKey),
    });
    const paths = ['claude-3-opus-20240229', 'claude-3-opus-20240229', 'asked'].map(wire.path);
    expect(server.requests.map((request) => request.path)).toEqual(paths);
    expect(JSON.stringify(server.requests[2]?.headers)).not.toMatch(/authorization|api-key/);
  });
});
