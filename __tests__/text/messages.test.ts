import { describe, expect, it } from 'vitest';
import { counted, joinWithOr, quote, suggest, truncate } from '../../src/text/messages.ts';

describe('a text in a sentence', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['ab', 1, '…'],
    ['ab', 0, '…'],
    ['a\u{1f600}bc', 3, 'a…'],
  ])('%j is cut to %i as %j, and no pair is cut in half', (text, max, cut) => {
    expect(truncate(text, max)).toBe(cut);
  });

  it('is quoted, escaped and short', () => {
    expect(quote('a\n::error::x')).toBe('"a\\n::error::x"');
    expect(quote('x'.repeat(1000))).toHaveLength(202);
    expect(quote('abcd', 3)).toBe('"ab…"');
  });

  it.each([
    [[], ''],
    [['a'], 'a'],
    [['a', 'b'], 'a or b'],
    [['a', 'b', 'c'], 'a, b or c'],
  ])('the alternatives %j are %j', (choices, text) => {
    expect(joinWithOr(choices)).toBe(text);
  });

  it('a number has its noun, and its thousands set apart', () => {
    const texts = [0, 1, 999, 1000, 1_234_567].map((count) => counted(count, 'turn'));
    expect(texts).toEqual(['0 turns', '1 turn', '999 turns', '1,000 turns', '1,234,567 turns']);
  });
});

describe('suggest', () => {
  it('gives the closest first', () => {
    expect(suggest('pased', ['summary', 'passed', 'parsed', 'findings'])).toEqual(['passed', 'parsed']);
  });

  it('ignores case and repetition', () => {
    expect(suggest('PASSED', ['passed', 'passed'])).toEqual(['passed']);
  });

  it('leaves out what is nothing like the word', () => {
    expect(suggest('zzzzzzzz', ['passed', 'summary'])).toEqual([]);
  });

  it('gives at most as many as asked', () => {
    expect(suggest('a', ['b', 'c', 'd', 'e'])).toEqual(['b', 'c', 'd']);
    expect(suggest('a', ['b', 'c'], 1)).toEqual(['b']);
  });

  it('survives words of any length', () => {
    expect(suggest('x'.repeat(1_000_000), ['passed'])).toEqual([]);
    expect(suggest('', ['ab'])).toEqual(['ab']);
  });
});
