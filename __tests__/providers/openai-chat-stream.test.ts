import { describe, expect, it } from 'vitest';
import { joinedChat } from '../../src/providers/openai-chat-stream.ts';
import type { JsonObject } from '../../src/types.ts';

const chunk = (delta: JsonObject): JsonObject => ({ choices: [{ index: 0, delta }] });

describe('joinedChat', () => {
  it('joins text, grows lists, and takes the last of anything else but null', () => {
    const { message } = joinedChat([
      chunk({ role: 'assistant', content: 'a', reasoning_details: [{ n: 1 }], mood: 'x', kind: ['old'] }),
      chunk({ content: 'b', reasoning_details: [{ n: 2 }, { n: 3 }], mood: 'y', kind: 'word' }),
      chunk({ content: null, reasoning_details: null, kind: ['new'] }),
    ]);
    expect(message).toEqual({
      role: 'assistant',
      content: 'ab',
      reasoning_details: [{ n: 1 }, { n: 2 }, { n: 3 }],
      mood: 'y',
      kind: ['new'],
    });
  });

  it('finds the call that a chunk goes on with by its index, by its id, or as the last', () => {
    const piece = (fields: JsonObject, name: string, args: string) =>
      chunk({ tool_calls: [{ ...fields, function: { ...(name === '' ? {} : { name }), arguments: args } }] });
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

  it('is linear in the chunks, the calls and the elements of lists', () => {
    const count = 200_000;
    const chunks = Array.from({ length: count }, (_, index) =>
      chunk({
        list: [index],
        tool_calls: [{ index, id: `call_${index}`, function: { name: 'shell', arguments: '{}' } }],
      }),
    );
    const { calls, message } = joinedChat(chunks);
    expect(calls).toHaveLength(count);
    expect(message['list']).toHaveLength(count);
  });

  it('takes fields of a function from chunks without end in time that does not grow with their product', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n]));
    const piece = chunk({ tool_calls: [{ index: 0, function: { last: 1, arguments: ' ' } }] });
    const { calls } = joinedChat([
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'x', ...many } }] }),
      ...Array.from({ length: 4_000 }, () => piece),
    ]);
    expect(calls).toMatchObject([
      {
        name: 'x',
        rawArguments: ' '.repeat(4_000),
        native: { id: 'a', function: { ...many, name: 'x', last: 1 } },
      },
    ]);
  });
});
