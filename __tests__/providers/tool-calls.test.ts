import { describe, expect, it } from 'vitest';
import { replayableArguments, replayableInput, toolCalls } from '../../src/providers/tool-calls.ts';
import { JSON_TEXT } from '../../src/text/limits.ts';

const call = { id: 'a', name: 'x', arguments: '{}' };

describe('toolCalls', () => {
  it('skips an id that an earlier turn or another call already has', () => {
    const calls = toolCalls([{ ...call, id: 'a_2' }, call, call], 'tool_calls', [
      {
        role: 'assistant',
        text: '',
        toolCalls: [{ id: 'a', name: 'x', rawArguments: '{}', status: 'complete' }],
        native: null,
      },
    ]);
    expect(calls.map(({ id }) => id)).toEqual(['a_2', 'a_3', 'a_4']);
  });

  it.each([
    [undefined, '{}'],
    [null, '{}'],
    ['', ''],
    [{ a: 1 }, '{"a":1}'],
  ])('takes arguments that are %j', (given, rawArguments) => {
    const calls = toolCalls([{ id: null, name: undefined, arguments: given }], 'tool_calls', []);
    expect(calls).toEqual([{ id: 'call_1_1', name: '', rawArguments, status: 'complete' }]);
  });

  it('drops arguments longer than 2 MiB', () => {
    const texts = [JSON_TEXT.arguments, JSON_TEXT.arguments + 1].map((length) => 'x'.repeat(length));
    const calls = toolCalls(
      texts.map((text) => ({ ...call, arguments: text })),
      'tool_calls',
      [],
    );
    const got = calls.map(({ rawArguments, status }) => [rawArguments.length, status]);
    expect(got).toEqual([
      [JSON_TEXT.arguments, 'complete'],
      [0, 'too_long'],
    ]);
  });
});

describe('replayableArguments', () => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;

  it.each<[string, string, string]>([
    ['whole', '{"a": 1}', '{"a": 1}'],
    ['none', '', '{}'],
    ['cut', '{"a":1', '{}'],
    ['a list', '[1]', '{}'],
    ['longer than 2 MiB', JSON.stringify({ a: 'x'.repeat(JSON_TEXT.arguments) }), '{}'],
    ['nested too deeply', deep, '{}'],
    ['an escaped unpaired surrogate', '{"a":["\\ud83d"]}', '{"a":["\uFFFD"]}'],
    ['an unpaired surrogate', '{"a":"\ud83d"}', '{"a":"\uFFFD"}'],
    ['an escaped surrogate pair', '{"a":"\\ud83d\\ude00"}', '{"a":"\u{1F600}"}'],
    ['__proto__ as a name', '{"__proto__":"\\ud83d"}', '{"__proto__":"\uFFFD"}'],
  ])('handles arguments: %s', (_, raw, expected) => {
    expect(replayableArguments(raw)).toBe(expected);
    expect(replayableInput(raw)).toEqual(JSON.parse(expected));
  });
});
