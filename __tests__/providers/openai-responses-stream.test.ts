import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/types.ts';
import { asking } from '../support/fakes/model/wires.ts';
import { call, completed, item, message, piece, serving } from './responses-server.ts';

describe('a stream', () => {
  const begun = item(0, 'added', { ...call, arguments: '' });
  const interleaved = [
    item(1, 'added', { ...call, call_id: 'b', arguments: '' }),
    item(0, 'added', { ...call, call_id: 'a', arguments: '' }),
    piece(0, '{"a"'),
    piece(1, '{"b"'),
    piece(0, ':1}'),
    piece(1, ':2}'),
    item(1, 'done', { ...call, call_id: 'b', arguments: '{"b":2}' }),
    item(0, 'done', { ...call, call_id: 'a', arguments: '{"a":1}' }),
  ];
  it.each<[string, readonly JsonObject[], string]>([
    ['interleaved calls, in order', [...interleaved, completed()], '{"a":1} complete {"b":2} complete'],
    ['arguments at once', [item(0, 'done', call), completed()], '{"a":1} complete'],
    ['arguments in its last event only', [completed({ output: [call] })], '{"a":1} complete'],
    ['an object for arguments', [completed({ output: [{ ...call, arguments: { a: 1 } }] })], ' malformed'],
    ['two versions', [begun, piece(0, '{"a":2}'), item(0, 'done', call), completed()], '{"a":2} malformed'],
    ['a call without an end', [begun, piece(0, '{"a":1}'), completed()], '{"a":1} malformed'],
  ])('can have %s', async (_, events, calls) => {
    const { provider } = await serving([events]);
    const { toolCalls } = (await provider.complete(asking())).message;
    expect(toolCalls.map((each) => `${each.rawArguments} ${each.status}`).join(' ')).toBe(calls);
  });

  it('joins the text of an item without an end', async () => {
    const { provider } = await serving([
      [
        item(0, 'added', { ...message, content: [] }),
        { type: 'response.output_text.delta', output_index: 0, delta: 'Pro' },
        { type: 'response.output_text.delta', output_index: 0, delta: 'se.' },
        completed(),
      ],
    ]);
    expect((await provider.complete(asking())).message.text).toBe('Prose.');
  });
});
