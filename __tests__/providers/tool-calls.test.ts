import { describe, expect, it } from 'vitest';
import { replayableArguments, replayableInput, toolCalls } from '../../src/providers/tool-calls.ts';

describe('toolCalls', () => {
  const call = { id: 'a', name: 'x', rawArguments: '{}', isRaw: true };

  it('gives calls with duplicate ids unique ids in linear time', () => {
    const calls = toolCalls(
      Array.from({ length: 40_000 }, () => call),
      'tool_calls',
      [],
    );
    expect(new Set(calls.map(({ id }) => id)).size).toBe(40_000);
    expect([calls[0]?.id, calls[1]?.id, calls.at(-1)?.id]).toEqual(['a', 'a_2', 'a_40000']);
  });

  it('skips an id that an earlier turn or another call already has', () => {
    const calls = toolCalls([{ ...call, id: 'a_2' }, call, call], 'tool_calls', [
      { role: 'assistant', text: '', toolCalls: [{ ...call, status: 'complete' }], native: null },
    ]);
    expect(calls.map(({ id }) => id)).toEqual(['a_2', 'a_3', 'a_4']);
  });
});

describe('replayableArguments', () => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;

  it.each<[string, string, string]>([
    ['whole', '{"a": 1}', '{"a": 1}'],
    ['none', '', '{}'],
    ['cut', '{"a":1', '{}'],
    ['a list', '[1]', '{}'],
    ['nested too deeply', deep, '{}'],
    ['an escaped unpaired surrogate', '{"a":["\\ud83d"]}', '{"a":["\uFFFD"]}'],
    ['an unpaired surrogate in a name', '{"\\uDE00":1}', '{"\uFFFD":1}'],
    ['an unpaired surrogate', '{"a":"\ud83d"}', '{"a":"\uFFFD"}'],
    ['an escaped surrogate pair', '{"a":"\\ud83d\\ude00"}', '{"a":"\u{1F600}"}'],
    ['__proto__ as a name', '{"__proto__":"\\ud83d"}', '{"__proto__":"\uFFFD"}'],
  ])('handles arguments: %s', (_, raw, expected) => {
    expect(replayableArguments(raw)).toBe(expected);
    expect(replayableInput(raw)).toEqual(JSON.parse(expected));
  });
});
