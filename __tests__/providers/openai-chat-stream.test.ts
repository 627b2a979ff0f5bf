import { describe, expect, it } from 'vitest';
import { joinedChat } from '../../src/providers/openai-chat.ts';
import type { JsonObject } from '../../src/types.ts';
import { asking, providerAt } from '../support/fakes/model/wires.ts';
import { sendEvents, sendJson } from '../support/fakes/raw-server.ts';
import { chunk, part, replay, serving, streamed } from './chat-server.ts';
import { raw } from './conformance-server.ts';

const event = (delta: JsonObject): JsonObject => ({ choices: [{ index: 0, delta }] });

describe('joinedChat', () => {
  it('matches chunks to calls by index, by id, or to the last call', () => {
    const piece = (fields: JsonObject, name: string, args: string) =>
      event({ tool_calls: [{ ...fields, function: { ...(name === '' ? {} : { name }), arguments: args } }] });
    const { calls } = joinedChat([
      piece({ index: 0, id: 'a' }, 'one', '{'),
      piece({ index: 1, id: 'b' }, 'two', '['),
      piece({ index: 0 }, '', '}'),
      piece({ id: 'b' }, '', ']'),
      piece({ index: 0, id: 'c' }, 'three', '<'),
      piece({ index: 0 }, '', '>'),
      piece({}, '', '!'),
    ]);
    expect(calls.map(({ id, name, rawArguments }) => [id, name, rawArguments])).toEqual([
      ['a', 'one', '{}'],
      ['b', 'two', '[]'],
      ['c', 'three', '<>!'],
    ]);
  });
});

describe('a stream', () => {
  const calls = async (...chunks: readonly unknown[]) => {
    const { provider } = await serving([...chunks, chunk({}, 'tool_calls'), '[DONE]']);
    const { message } = await provider.complete(asking());
    return message.toolCalls.map(({ id, name, rawArguments, status }) => [id, name, rawArguments, status]);
  };

  it('separates complete calls that have no index or id, or that all have index 0', async () => {
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

  it('accepts no arguments that are an object, whose text is lost', async () => {
    const whole = { name: 'shell', arguments: { a: 1 } };
    expect(await calls(part({ index: 0, id: 'a', function: whole }))).toEqual([
      ['a', 'shell', '', 'malformed'],
    ]);
  });

  it('replays unknown fields, joined', async () => {
    const begun = { id: 'x', type: 'function', extra_content: { s: 1 } };
    const { provider, server } = await serving([
      chunk({ role: 'assistant', content: null, reasoning_content: 'H' }),
      chunk({ reasoning_content: 'm.', reasoning_details: [{ n: 1 }] }),
      chunk({ content: 'Prose', reasoning_details: [{ n: 2 }] }),
      part({ index: 0, ...begun, function: { name: 'shell', arguments: '{"a":' } }),
      part({ index: 0, function: { arguments: '1}' } }),
      chunk({}, 'tool_calls'),
    ]);
    const { sent } = await replay(provider, server);
    expect(Array.isArray(sent) && sent[2]).toEqual({
      role: 'assistant',
      content: 'Prose',
      reasoning_content: 'Hm.',
      reasoning_details: [{ n: 1 }, { n: 2 }],
      tool_calls: [{ ...begun, function: { name: 'shell', arguments: '{"a":1}' } }],
    });
  });

  it('treats a __proto__ key in a delta as data', async () => {
    const { provider } = await serving([
      '{"choices":[{"delta":{"__proto__":{"polluted":1},"content":"x"},"finish_reason":"stop"}]}',
    ]);
    expect((await provider.complete(asking())).message.text).toBe('x');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('reads a response that is not streamed', async () => {
    const server = await raw((response) => sendJson(response, '{"choices":[{"message":{"content":"x"}}]}'));
    const provider = await providerAt(streamed, server.url);
    expect((await provider.complete(asking())).message.text).toBe('x');
  });

  it('keeps the response when the connection breaks after the finish reason', async () => {
    const server = await raw((response) => sendEvents(response, [chunk({ content: 'x' }, 'stop')], 'cut'));
    expect((await (await providerAt(streamed, server.url)).complete(asking())).message.text).toBe('x');
    expect(server.requests).toHaveLength(1);
  });

  it.each(['error', 'abort', 'insufficient_system_resource'])(
    'rejects the finish reason %s, streamed or not',
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
