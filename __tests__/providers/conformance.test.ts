import { describe, expect, it, vi } from 'vitest';
import type { CompletionRequest } from '../../src/providers/provider.ts';
import type { ProviderName, ProviderSettings } from '../../src/providers/registry.ts';
import { objectOf } from '../../src/providers/tool-calls.ts';
import { rawSlice } from '../../src/text/json.ts';
import { JSON_TEXT } from '../../src/text/limits.ts';
import type { JsonObject } from '../../src/types.ts';
import { type Script, startModel } from '../support/fakes/model/server.ts';
import { answered, asking, providerAt, testKey, type Wire, wires } from '../support/fakes/model/wires.ts';
import type { RawRequest } from '../support/fakes/raw-server.ts';
import { atOnce, open, raw } from './conformance-server.ts';

const body = (request: RawRequest | undefined): JsonObject => objectOf(JSON.parse(request?.raw ?? '{}'));

/** A request's text from its first byte to the end of its conversation, without Anthropic's marks, which move by design. */
const prefix = (raw: string, wire: Wire): string => {
  const conversation = rawSlice(raw, [wire.conversation]) ?? '';
  const end = raw.indexOf(conversation) + conversation.length - 1;
  return raw.slice(0, end).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
};

/** The ids of calls and of their results in a request, in order. */
const idsIn = (request: RawRequest | undefined) => {
  const found = request?.raw.matchAll(/"(?:id|call_id|tool_call_id|tool_use_id)":"(call_\w+)"/gu) ?? [];
  return [...found].map(([, id]) => id);
};

const details = { cached_tokens: 7, cache_write_tokens: 11 };
const chatUsage = {
  ...{ prompt_tokens: 23, completion_tokens: 30, total_tokens: 53 },
  prompt_tokens_details: details,
};

/** The same tokens in the fields of each API: Anthropic's input excludes cached tokens, the others' includes them. */
const usageOf: Readonly<Record<ProviderName, JsonObject>> = {
  openai: { input_tokens: 23, output_tokens: 30, input_tokens_details: details },
  anthropic: {
    ...{ input_tokens: 5, output_tokens: 30 },
    ...{ cache_read_input_tokens: 7, cache_creation_input_tokens: 11 },
  },
  gemini: chatUsage,
  'azure-openai': chatUsage,
  'openai-compatible': chatUsage,
};

describe.each(wires)('$name', (wire: Wire) => {
  const at = (server: { url: string }, settings: Partial<ProviderSettings> = {}) =>
    providerAt(wire, server.url, settings);
  const once = async (answer: Parameters<Wire['answer']>[1], request: Partial<CompletionRequest> = {}) => {
    const server = await raw((response) => wire.answer(response, answer));
    const completion = await (await at(server)).complete(asking(request));
    return { completion, server };
  };

  describe('against the emulator', () => {
    const emulated = async (script: Script) => {
      const model = await startModel(script);
      open.push(model);
      return { model, provider: await at(model) };
    };

    it('returns plain text', async () => {
      const usage = { inputTokens: 7, outputTokens: 3 };
      const { provider } = await emulated(() => ({ text: 'Grüße, 👋', usage }));
      expect(await provider.complete(asking())).toEqual({
        message: { role: 'assistant', text: 'Grüße, 👋', toolCalls: [], native: expect.anything() },
        stopReason: 'end',
        usage: { inputTokens: 7, outputTokens: 3, cachedInputTokens: 0, cacheWriteTokens: 0 },
        model: 'asked',
      });
    });

    it('extends the previous request byte for byte in every turn', async () => {
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

  it('keeps the raw text of arguments: spacing, escapes, duplicate keys, large numbers', async () => {
    const rawArguments = '{ "a" : "\\u00e9\\n",\t"a": 1e2, "n": 12345678901234567890 , "t": "}{\\"]" }';
    const { completion } = await once({ calls: [{ id: 'x', name: 'shell', arguments: rawArguments }] });
    expect(completion.message.toolCalls).toEqual([
      { id: 'x', name: 'shell', rawArguments, status: 'complete' },
    ]);
  });

  it('S8 marks every call of a response that was cut inside a call as truncated', async () => {
    // A complete Anthropic response contains JSON, which cannot be cut.
    const cut = wire.provider === 'anthropic' && !wire.stream ? '{}' : '{"command":"l';
    const calls = [
      { id: 'x', name: 'shell', arguments: '{"command":"ls"}' },
      { id: 'y', name: 'shell', arguments: cut },
    ];
    const { completion } = await once({ calls, stop: wire.length });
    expect(completion.stopReason).toBe('length');
    expect(completion.message.toolCalls.map((call) => call.status)).toEqual(['truncated', 'truncated']);
  });

  it('gives calls ids that are unique in the conversation and replays those ids', async () => {
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
    const [one, two] = [first, second].map((each) => each.message.toolCalls.map(({ id }) => id));
    expect(idsIn(server.requests.at(-1))).toEqual([one, one, two, two].flat());
  });

  // These servers stream a few characters at a time.
  it.skipIf(wire.stream)(
    'drops arguments longer than 2 MiB, and replays them as an empty object',
    async () => {
      const calls = [JSON_TEXT.arguments, JSON_TEXT.arguments + 1].map((length, at) => ({
        id: `c${at}`,
        name: 'shell',
        arguments: JSON.stringify({ command: 'a'.repeat(length - JSON.stringify({ command: '' }).length) }),
      }));
      const { completion, server } = await once({ calls });
      const got = completion.message.toolCalls.map((call) => `${call.rawArguments.length} ${call.status}`);
      expect(got).toEqual([`${JSON_TEXT.arguments} complete`, '0 too_long']);
      await (await at(server)).complete(asking({ messages: answered(asking().messages, completion) }));
      const sent = server.requests.at(-1)?.raw.length ?? 0;
      expect(sent).toBeGreaterThan(JSON_TEXT.arguments);
      expect(sent).toBeLessThan(2 * JSON_TEXT.arguments);
    },
  );

  it('E2 reports an empty turn as an end and replays it with content', async () => {
    const { completion, server } = await once({});
    expect(completion.message).toMatchObject({ text: '', toolCalls: [] });
    expect(completion.stopReason).toBe('end');
    await (await at(server)).complete(
      asking({ messages: [...asking().messages, completion.message, { role: 'user', text: 'Again.' }] }),
    );
    expect(server.requests.at(-1)?.raw).toContain('(empty)');
  });

  it('N9 replays invalid arguments and tool names in a form that the API accepts', async () => {
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

  it('sends the reasoning effort in the field of its API only when it is set', async () => {
    const server = await raw((response) => wire.answer(response, { text: 'x' }));
    await (await at(server)).complete(asking());
    await (await at(server, { reasoningEffort: 'low' })).complete(asking());
    const [without, { ...asked } = {}] = server.requests.map(body);
    const chat = { reasoning_effort: 'low' };
    const own = { openai: { reasoning: { effort: 'low' } }, anthropic: { output_config: { effort: 'low' } } };
    const field = { gemini: chat, 'azure-openai': chat, 'openai-compatible': chat, ...own }[wire.provider];
    expect(asked).toEqual({ ...without, ...field });
    expect(without).not.toMatchObject(field);
  });

  it('lets user headers override the default headers', async () => {
    const server = await raw((response) => wire.answer(response, { text: 'x' }));
    const headers = { 'X-Team': 'ci', Authorization: 'Custom 1', 'User-Agent': 'mine' };
    await (await at(server, { headers })).complete(asking());
    const sent = { 'x-team': 'ci', authorization: 'Custom 1', 'user-agent': 'mine' };
    expect(server.requests[0]?.headers).toMatchObject(sent);
  });

  it('sends the key only as a bearer token when asked', async () => {
    const server = await raw((response) => wire.answer(response, { text: 'x' }));
    await (await at(server, { authScheme: 'bearer' })).complete(asking());
    const { authorization, ...others } = server.requests[0]?.headers ?? {};
    expect(authorization).toBe(`Bearer ${testKey}`);
    expect(JSON.stringify(others)).not.toContain(testKey);
  });

  it('counts cached tokens apart, read and written, and as part of the input; none if none are reported', async () => {
    const { completion } = await once({ text: 'x', usage: usageOf[wire.provider] });
    const counts = { inputTokens: 23, outputTokens: 30, cachedInputTokens: 7, cacheWriteTokens: 11 };
    expect(completion.usage).toEqual(counts);
    expect((await once({ text: 'x', usage: null })).completion.usage).toBeNull();
  });

  it('ignores the environment, prints nothing and sends only its own headers', async () => {
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
      for (const name of ['API_KEY', 'AUTH_TOKEN', 'ADMIN_KEY', 'ORG_ID', 'PROJECT_ID', 'PROFILE'])
        vi.stubEnv(`${vendor}_${name}`, 'env-value');
      vi.stubEnv(`${vendor}_BASE_URL`, 'http://127.0.0.1:9');
      vi.stubEnv(`${vendor}_CUSTOM_HEADERS`, 'x-env: env-header\nauthorization: Bearer env-value');
      vi.stubEnv(`${vendor}_LOG`, 'debug');
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
