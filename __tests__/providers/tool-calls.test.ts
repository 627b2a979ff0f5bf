import { describe, expect, it } from 'vitest';
import { identify, MAX_ARGUMENTS, replayable } from '../../src/providers/call.ts';

const call = { id: 'a', name: 'x', arguments: '{}' };

describe('identify', () => {
  it.each([
    [undefined, '{}'],
    [null, '{}'],
    ['', ''],
    [{ a: 1 }, '{"a":1}'],
  ])('takes arguments that are %j', (given, rawArguments) => {
    const calls = identify([{ id: null, name: undefined, arguments: given }], false, []);
    expect(calls).toEqual([{ id: 'call_1_1', name: '', rawArguments, status: 'complete' }]);
  });

  it.each([
    [MAX_ARGUMENTS, MAX_ARGUMENTS, 'complete'],
    [MAX_ARGUMENTS + 1, 0, 'too_long'],
  ])('of arguments with %i characters keeps %i, and calls them %s', (length, kept, status) => {
    const [made] = identify([{ ...call, arguments: 'x'.repeat(length) }], false, []);
    expect([made?.rawArguments.length, made?.status]).toEqual([kept, status]);
  });
});

describe('replayable', () => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;

  it.each<[string, string, string]>([
    ['whole', '{"a": 1}', '{"a": 1}'],
    ['none', '', '{}'],
    ['nested too deeply', deep, '{}'],
    ['an escaped unpaired surrogate', '{"a":["\\ud83d"]}', '{"a":["\uFFFD"]}'],
    ['an unpaired surrogate', '{"a":"\ud83d"}', '{"a":"\uFFFD"}'],
    ['an escaped surrogate pair', '{"a":"\\ud83d\\ude00"}', '{"a":"\u{1F600}"}'],
    ['__proto__ as a name', '{"__proto__":"\\ud83d"}', '{"__proto__":"\uFFFD"}'],
  ])('handles arguments: %s', (_, raw, expected) => {
    const made = replayable({ id: 'a', name: 'x', rawArguments: raw, status: 'complete' });
    expect(made).toEqual({ id: 'a', name: 'x', input: JSON.parse(expected), arguments: expected });
  });
});
