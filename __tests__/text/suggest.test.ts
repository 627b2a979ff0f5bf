import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/text/suggest.ts';

describe('nearest', () => {
  it('gives the closest first', () => {
    expect(nearest('pased', ['summary', 'passed', 'parsed', 'findings'])).toEqual(['passed', 'parsed']);
  });

  it('ignores case and repetition', () => {
    expect(nearest('PASSED', ['passed', 'passed'])).toEqual(['passed']);
  });

  it('leaves out what is nothing like the word', () => {
    expect(nearest('zzzzzzzz', ['passed', 'summary'])).toEqual([]);
  });

  it('gives at most as many as asked', () => {
    expect(nearest('a', ['b', 'c', 'd', 'e'])).toEqual(['b', 'c', 'd']);
    expect(nearest('a', ['b', 'c'], 1)).toEqual(['b']);
  });

  it('survives words of any length', () => {
    expect(nearest('x'.repeat(1_000_000), ['passed'])).toEqual([]);
    expect(nearest('', ['ab'])).toEqual(['ab']);
  });
});
