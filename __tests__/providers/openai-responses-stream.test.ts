import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/types.ts';
import { asking } from '../support/fakes/model/wires.ts';
import { call, completed, item, message, piece, serving } from './responses-server.ts';

describe('a stream', () => {
  const callsOf = async (...events: readonly JsonObject[]) => {
    const { provider, server } = await serving([events]);
    const { message: got, stopReason } = await provider.complete(asking());
    return {
      calls: got.toolCalls.map((each) => [each.rawArguments, each.status]),
      stopReason,
      tries: server.requests.length,
    };
  };

  it('joins interleaved calls by their index, in order', async () => {
    const given = await callsOf(
      item(1, 'added', { ...call, call_id: 'b', arguments: '' }),
      item(0, 'added', { ...call, call_id: 'a', arguments: '' }),
      piece(0, '{"a"'),
      piece(1, '{"b"'),
      piece(0, ':1}'),
      piece(1, ':2}'),
      item(1, 'done', { ...call, call_id: 'b', arguments: '{"b":2}' }),
      item(0, 'done', { ...call, call_id: 'a', arguments: '{"a":1}' }),
      completed(),
    );
    expect(given.calls).toEqual([
      ['{"a":1}', 'complete'],
      ['{"b":2}', 'complete'],
    ]);
  });

  it('accepts arguments that arrive at once or only in the last event', async () => {
    expect((await callsOf(item(0, 'done', call), completed())).calls).toEqual([['{"a":1}', 'complete']]);
    expect((await callsOf(completed({ output: [call] }))).calls).toEqual([['{"a":1}', 'complete']]);
  });

  it('marks a call as malformed when its final arguments differ from the deltas', async () => {
    const given = await callsOf(
      item(0, 'added', { ...call, arguments: '' }),
      piece(0, '{"a":2}'),
      item(0, 'done', call),
      completed(),
    );
    expect(given.calls).toEqual([['{"a":2}', 'malformed']]);
  });

  it('S8 marks a call without an end as malformed although the response is complete', async () => {
    const given = await callsOf(
      item(0, 'added', { ...call, arguments: '' }),
      piece(0, '{"a":1}'),
      completed(),
    );
    expect(given.calls).toEqual([['{"a":1}', 'malformed']]);
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
