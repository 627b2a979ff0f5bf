import { describe, expect, it } from 'vitest';
import { joinedMessage } from '../../src/providers/anthropic.ts';

describe('joinedMessage', () => {
  it('takes what each delta of a message knows, and leaves the rest', () => {
    const { message } = joinedMessage([
      {
        type: 'message_start',
        message: { id: 'm', stop_reason: null, usage: { input_tokens: 3, output_tokens: 1 } },
      },
      {
        type: 'message_delta',
        delta: { stop_reason: null },
        usage: { input_tokens: null, output_tokens: 5 },
      },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
    ]);
    expect(message).toEqual({
      id: 'm',
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 7 },
    });
  });

  it('takes deltas of a message without end in time that does not grow with their product', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n]));
    const { message } = joinedMessage([
      { type: 'message_start', message: { ...many, usage: many } },
      ...Array.from({ length: 2_000 }, () => ({ type: 'message_delta' })),
    ]);
    expect(message).toEqual({ ...many, usage: many });
  });
});
