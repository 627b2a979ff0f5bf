import { describe, expect, it } from 'vitest';
import { suggest } from '../../src/text/messages.ts';

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
