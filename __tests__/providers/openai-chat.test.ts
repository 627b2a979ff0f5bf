import { describe, expect, it } from 'vitest';
import { asking } from '../support/fakes/model/wires.ts';
import { replay, serving } from './chat-server.ts';

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
