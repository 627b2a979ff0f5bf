import { afterEach, describe, expect, it } from 'vitest';
import type { Provider } from '../../src/providers/provider.ts';
import { objectOf } from '../../src/providers/reading.ts';
import type { Message } from '../../src/types.ts';
import { answered, asking, providerAt, wireOf } from '../support/provider-wires.ts';
import { type RawServer, sendEvents, sendJson, startRawServer } from '../support/raw-server.ts';

const whole = wireOf('openai-compatible', 'whole');
const streamed = wireOf('openai-compatible', 'streamed');
const open: RawServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** A provider whose server answers every request with this body, or with these chunks. */
async function serving(
  answer: string | readonly unknown[],
): Promise<{ provider: Provider; server: RawServer }> {
  const server = await startRawServer((response) =>
    typeof answer === 'string' ? sendJson(response, answer) : sendEvents(response, answer),
  );
  open.push(server);
  const wire = typeof answer === 'string' ? whole : streamed;
  return { provider: await providerAt(wire, server.url), server };
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const part = (fields: object) => chunk({ tool_calls: [fields] });

async function replay(provider: Provider, server: RawServer) {
  const first = await provider.complete(asking());
  await provider.complete(asking({ messages: answered(asking().messages, first) }));
  return { first, sent: objectOf(JSON.parse(server.requests[1]?.raw ?? '{}'))['messages'] };
}

describe('a whole answer', () => {
  it('takes arguments that are an object from the text of the body', async () => {
    const call = '{"id":"x","function":{"name":"shell","arguments": {"a": 1,  "a":12345678901234567890} }}';
    const { provider } = await serving(
      `{"choices":[{"message":{"tool_calls":[${call}]},"finish_reason":"stop"}]}`,
    );
    const { message, stopReason } = await provider.complete(asking());
    expect(message.toolCalls).toEqual([
      { id: 'x', name: 'shell', rawArguments: '{"a": 1,  "a":12345678901234567890}', status: 'complete' },
    ]);
    expect(stopReason).toBe('tool_calls');
  });

  it('S6 missing and null arguments are an empty text', async () => {
    const calls =
      '[{"id":"x","function":{"name":"shell"}},{"id":"y","function":{"name":"shell","arguments":null}}]';
    const { provider } = await serving(`{"choices":[{"message":{"tool_calls":${calls}}}]}`);
    const { message } = await provider.complete(asking());
    expect(message.toolCalls.map((call) => [call.rawArguments, call.status])).toEqual([
      ['', 'complete'],
      ['', 'complete'],
    ]);
  });

  it('replays fields that it does not know verbatim', async () => {
    const call = {
      id: 'x',
      type: 'function',
      function: { name: 'shell', arguments: '{"a" : 1}' },
      extra_content: { google: { thought_signature: 's' } },
    };
    const message = {
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm.',
      tool_calls: [call],
      annotations: [],
    };
    const { provider, server } = await serving(
      JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] }),
    );
    const { sent } = await replay(provider, server);
    expect(sent).toEqual([
      { role: 'system', content: 'Be good.' },
      { role: 'user', content: 'Go.' },
      message,
      { role: 'tool', tool_call_id: 'x', content: 'result 0' },
    ]);
  });

  it('E18 a refusal beside an ordinary finish reason is a refusal, with its words', async () => {
    const { provider } = await serving(
      '{"choices":[{"message":{"content":null,"refusal":"I will not."},"finish_reason":"stop"}]}',
    );
    expect(await provider.complete(asking())).toMatchObject({
      stopReason: 'refusal',
      message: { text: 'I will not.' },
    });
  });

  it.each([
    ['content_filter', 'refusal'],
    ['content_filter: PROHIBITED_CONTENT', 'refusal'],
    ['SAFETY', 'refusal'],
    ['RECITATION', 'refusal'],
    ['MAX_TOKENS', 'length'],
    ['model_length', 'length'],
    ['incomplete', 'length'],
    ['function_call_filter: MALFORMED_FUNCTION_CALL', 'end'],
    ['STOP', 'end'],
  ])('E18 the finish reason %s is %s', async (finish_reason, expected) => {
    const { provider } = await serving(
      JSON.stringify({ choices: [{ message: { role: 'assistant' }, finish_reason }] }),
    );
    expect((await provider.complete(asking())).stopReason).toBe(expected);
  });

  it('reads prose that comes in parts', async () => {
    const content = [
      { type: 'thinking', thinking: [] },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const { provider } = await serving(
      JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] }),
    );
    expect((await provider.complete(asking())).message.text).toBe('ab');
  });

  it.each([
    [
      {
        prompt_tokens: 10,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
      },
      [10, 2, 4, 3],
    ],
    [{ prompt_tokens: 10, completion_tokens: 2, prompt_cache_hit_tokens: 6 }, [10, 2, 6, 0]],
    [
      { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 40 } },
      [10, 2, 10, 0],
    ],
    [{ prompt_tokens: '10', completion_tokens: -2 }, null],
  ])('counts the tokens of %j', async (usage, expected) => {
    const { provider } = await serving(JSON.stringify({ usage, choices: [{ message: { content: 'x' } }] }));
    const got = (await provider.complete(asking())).usage;
    expect(got && [got.inputTokens, got.outputTokens, got.cachedInputTokens, got.cacheWriteTokens]).toEqual(
      expected,
    );
  });

  it('an error inside a 200 is an error, with its own status', async () => {
    const { provider } = await serving('{"error":{"code":429,"message":"upstream is busy"}}');
    await expect(provider.complete(asking())).rejects.toMatchObject({ failure: 'rate_limit', status: 429 });
  });

  it('a body that is no completion is an error that points at base-url', async () => {
    const { provider } = await serving('{"hello":"world"}');
    await expect(provider.complete(asking())).rejects.toMatchObject({
      failure: 'error',
      message: expect.stringContaining('That is no completion: check `base-url`, which often ends in /v1.'),
    });
  });
});

describe('a stream', () => {
  const calls = async (...chunks: readonly unknown[]) => {
    const { provider } = await serving([...chunks, chunk({}, 'tool_calls'), '[DONE]']);
    return (await provider.complete(asking())).message.toolCalls.map(({ id, name, rawArguments, status }) => [
      id,
      name,
      rawArguments,
      status,
    ]);
  };

  it('joins calls by index, in any order', async () => {
    const given = await calls(
      part({ index: 0, id: 'a', function: { name: 'shell', arguments: '{"a"' } }),
      part({ index: 1, id: 'b', function: { name: 'edit', arguments: '{"b"' } }),
      part({ index: 0, function: { arguments: ':1}' } }),
      part({ index: 1, id: 'b', function: { name: 'edit', arguments: ':2}' } }),
    );
    expect(given).toEqual([
      ['a', 'shell', '{"a":1}', 'complete'],
      ['b', 'edit', '{"b":2}', 'complete'],
    ]);
  });

  it('joins calls without an index, by id and by order', async () => {
    const given = await calls(
      part({ id: 'a', function: { name: 'shell', arguments: '{"a"' } }),
      part({ function: { arguments: ':1}' } }),
      part({ id: 'b', function: { name: 'edit', arguments: '{}' } }),
    );
    expect(given).toEqual([
      ['a', 'shell', '{"a":1}', 'complete'],
      ['b', 'edit', '{}', 'complete'],
    ]);
  });

  it('tells whole calls apart that have neither index nor id, or all index 0', async () => {
    const one = { function: { name: 'shell', arguments: '{}' } };
    expect(await calls(chunk({ tool_calls: [one, one] }))).toEqual([
      ['call_1_1', 'shell', '{}', 'complete'],
      ['call_1_2', 'shell', '{}', 'complete'],
    ]);
    expect(await calls(part({ index: 0, id: 'a', ...one }), part({ index: 0, id: 'b', ...one }))).toEqual([
      ['a', 'shell', '{}', 'complete'],
      ['b', 'shell', '{}', 'complete'],
    ]);
  });

  it('arguments that arrive as an object have lost their text', async () => {
    expect(
      await calls(part({ index: 0, id: 'a', function: { name: 'shell', arguments: { a: 1 } } })),
    ).toEqual([['a', 'shell', '', 'malformed']]);
  });

  it('replays fields that it does not know, joined', async () => {
    const { provider, server } = await serving([
      chunk({ role: 'assistant', content: null, reasoning_content: 'H' }),
      chunk({ reasoning_content: 'm.', reasoning_details: [{ n: 1 }] }),
      chunk({ content: 'Prose', reasoning_details: [{ n: 2 }] }),
      part({
        index: 0,
        id: 'x',
        type: 'function',
        extra_content: { s: 1 },
        function: { name: 'shell', arguments: '{"a":' },
      }),
      part({ index: 0, function: { arguments: '1}' } }),
      chunk({}, 'tool_calls'),
    ]);
    const { sent } = await replay(provider, server);
    expect(Array.isArray(sent) && sent[2]).toEqual({
      role: 'assistant',
      content: 'Prose',
      reasoning_content: 'Hm.',
      reasoning_details: [{ n: 1 }, { n: 2 }],
      tool_calls: [
        {
          id: 'x',
          type: 'function',
          extra_content: { s: 1 },
          function: { name: 'shell', arguments: '{"a":1}' },
        },
      ],
    });
  });

  it('fields that are repeated in every chunk are not joined', async () => {
    const { provider, server } = await serving([
      chunk({ role: 'assistant', content: 'a', kind: 'k' }),
      chunk({ role: 'assistant', content: 'b', kind: 'k' }, 'stop'),
    ]);
    const { sent } = await replay(provider, server);
    expect(Array.isArray(sent) && sent[2]).toEqual({ role: 'assistant', content: 'ab', kind: 'k' });
  });

  it('a key __proto__ in a delta is data', async () => {
    const { provider } = await serving([
      '{"choices":[{"delta":{"__proto__":{"polluted":1},"content":"x"},"finish_reason":"stop"}]}',
    ]);
    expect((await provider.complete(asking())).message.text).toBe('x');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('an answer that is not streamed is read all the same', async () => {
    const server = await startRawServer((response) =>
      sendJson(response, '{"choices":[{"message":{"content":"x"}}]}'),
    );
    open.push(server);
    const provider = await providerAt(streamed, server.url);
    expect((await provider.complete(asking())).message.text).toBe('x');
  });

  it('what breaks after the finish reason does not undo the answer', async () => {
    const server = await startRawServer((response) =>
      sendEvents(response, [chunk({ content: 'x' }, 'stop')], 'cut'),
    );
    open.push(server);
    expect((await (await providerAt(streamed, server.url)).complete(asking())).message.text).toBe('x');
    expect(server.requests).toHaveLength(1);
  });

  it('an error inside a stream ends the run when another try cannot help, and is tried again when it may', async () => {
    const { provider, server } = await serving([
      chunk({ content: 'x' }),
      { error: { code: 'bad', message: 'no' } },
    ]);
    await expect(provider.complete(asking())).rejects.toMatchObject({
      failure: 'error',
      message: expect.stringContaining('"no"'),
    });
    expect(server.requests).toHaveLength(1);
    const passing = await serving([chunk({ content: 'x' }), { error: { code: 502, message: 'upstream' } }]);
    await expect(passing.provider.complete(asking())).rejects.toMatchObject({
      failure: 'error',
      status: 502,
    });
    expect(passing.server.requests).toHaveLength(3);
  });

  it.each(['error', 'abort', 'insufficient_system_resource'])(
    'the finish reason %s is a broken answer, in one piece too',
    async (reason) => {
      const tool_calls = [{ index: 0, id: 'x', function: { name: 'shell', arguments: '{"command":"ls"}' } }];
      const body = { choices: [{ message: { content: 'x', tool_calls }, finish_reason: reason }] };
      for (const answer of [[chunk({ tool_calls }), chunk({}, reason)], JSON.stringify(body)]) {
        const { provider, server } = await serving(answer);
        await expect(provider.complete(asking())).rejects.toMatchObject({
          failure: 'error',
          status: null,
          message: expect.stringContaining('broke off in every try'),
        });
        expect(server.requests).toHaveLength(3);
      }
    },
  );
});

describe('a request', () => {
  it('asks a compatible server for max_tokens, and for usage only where it streams', async () => {
    const fields = async (stream: 'on' | 'off') => {
      const server = await startRawServer((response) =>
        sendJson(response, '{"choices":[{"message":{"content":"x"}}]}'),
      );
      open.push(server);
      await (await providerAt(whole, server.url, { stream, maxOutputTokens: 9 })).complete(asking());
      const { messages: _, tools: __, ...rest } = objectOf(JSON.parse(server.requests[0]?.raw ?? '{}'));
      return rest;
    };
    expect(await fields('off')).toEqual({ model: 'asked', max_tokens: 9 });
    expect(await fields('on')).toEqual({
      model: 'asked',
      max_tokens: 9,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('sends Gemini no field that it does not know', async () => {
    const server = await startRawServer((response) =>
      sendJson(response, '{"choices":[{"message":{"content":"x"}}]}'),
    );
    open.push(server);
    const settings = { maxOutputTokens: 9, reasoningEffort: 'low' };
    const provider = await providerAt(wireOf('gemini', 'streamed'), server.url, settings);
    await provider.complete(asking({ toolChoice: { tool: 'shell' } }));
    const { messages: _, tools: __, ...rest } = objectOf(JSON.parse(server.requests[0]?.raw ?? '{}'));
    expect(rest).toEqual({
      model: 'asked',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 9,
      reasoning_effort: 'low',
      tool_choice: { type: 'function', function: { name: 'shell' } },
    });
  });

  it("E16 Google's 400 for a wrong key is a refused key", async () => {
    // As quoted in an issue of continuedev/continue (8516), trimmed.
    const error = {
      code: 400,
      message: 'API key not valid. Please pass a valid API key.',
      status: 'INVALID_ARGUMENT',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'API_KEY_INVALID',
          domain: 'googleapis.com',
        },
      ],
    };
    const server = await startRawServer((response) => sendJson(response, JSON.stringify([{ error }]), 400));
    open.push(server);
    const provider = await providerAt(wireOf('gemini', 'whole'), server.url);
    await expect(provider.complete(asking())).rejects.toMatchObject({
      failure: 'auth',
      status: 400,
      message: expect.stringContaining('the input api-key'),
    });
  });

  it('sends neither an empty list of tools nor an empty system message', async () => {
    const { provider, server } = await serving('{"choices":[{"message":{"content":"x"}}]}');
    const messages: readonly Message[] = [{ role: 'user', text: 'Go.' }];
    await provider.complete(asking({ system: '', tools: [], messages }));
    expect(JSON.parse(server.requests[0]?.raw ?? '{}')).toEqual({
      model: 'asked',
      messages: [{ role: 'user', content: 'Go.' }],
    });
  });
});
