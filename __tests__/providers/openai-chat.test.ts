import { describe, expect, it } from 'vitest';
import { chatUsage } from '../../src/providers/openai-chat.ts';
import { asking } from '../support/fakes/model/wires.ts';
import { serving } from './chat-server.ts';

describe('a complete response', () => {
  it.each([
    ['missing', '', ''],
    ['null', ',"arguments":null', ''],
    [
      'an object',
      ',"arguments":{ "a" : 1, "a": 12345678901234567890 }',
      '{ "a" : 1, "a": 12345678901234567890 }',
    ],
  ])('S6 can have arguments that are %s', async (_, sent, rawArguments) => {
    const call = `{"id":"x","function":{"name":"shell"${sent}}}`;
    const { provider } = await serving(`{"choices":[{"message":{"tool_calls":[${call}]}}]}`);
    const { message } = await provider.complete(asking());
    expect(message.toolCalls).toEqual([{ id: 'x', name: 'shell', rawArguments, status: 'complete' }]);
  });

  it('E18 reports a refusal with its text although the finish reason is ordinary', async () => {
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
  ])('E18 maps the finish reason %s to %s', async (finish_reason, expected) => {
    const { provider } = await serving(
      JSON.stringify({ choices: [{ message: { role: 'assistant' }, finish_reason }] }),
    );
    expect((await provider.complete(asking())).stopReason).toBe(expected);
  });

  it('joins text that arrives in parts', async () => {
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
    ['cached tokens', { completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } }, [2, 4]],
    ['cached tokens in another field', { completion_tokens: 2, prompt_cache_hit_tokens: 6 }, [2, 6]],
    ['at most the input', { completion_tokens: 2, prompt_tokens_details: { cached_tokens: 40 } }, [2, 10]],
    ['thinking that the output includes', { completion_tokens: 400, total_tokens: 410 }, [400, 0]],
    ['thinking that only the total includes', { completion_tokens: 12, total_tokens: 410 }, [400, 0]],
    ['only thinking of Gemini', { total_tokens: 410 }, [400, 0]],
    ['output without a total', { completion_tokens: 12 }, [12, 0]],
    ['output with a total that is too small', { completion_tokens: 12, total_tokens: 3 }, [12, 0]],
  ])('counts %s', (_, usage, [outputTokens, cachedInputTokens]) => {
    const counted = { inputTokens: 10, outputTokens, cachedInputTokens, cacheWriteTokens: 0 };
    expect(chatUsage({ prompt_tokens: 10, ...usage })).toEqual(counted);
  });

  it('rejects a body that is not a completion and mentions base-url', async () => {
    const { provider } = await serving('{"hello":"world"}');
    await expect(provider.complete(asking())).rejects.toMatchObject({
      failure: 'error',
      message: expect.stringContaining('That is no completion: check `base-url`, which often ends in /v1.'),
    });
  });
});
