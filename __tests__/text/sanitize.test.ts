import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakCommands, cleanText, inertLine, sanitize } from '../../src/text/sanitize.ts';
import { knowSecrets } from '../support/surroundings.ts';

describe('cleanText', () => {
  it('normalizes every kind of line break', () => {
    expect(cleanText('a\r\nb\nc\rd\ve\ff\u0085g\u2028h\u2029i')).toBe('a\nb\nc\nd\ne\nf\ng\nh\ni');
  });

  it('removes invisible characters: controls, bidi, zero width, variation selectors, tags', () => {
    expect(
      cleanText('a\0\x1b\x7f\x80b\u202e\u2066\u200b\u200d\ufeff\u00adc\u034f\u115f\u3164\ufe0f\u{e0041}d'),
    ).toBe('abcd');
  });

  it('removes whole terminal sequences and keeps tabs and letters of any script', () => {
    expect(cleanText('\x1b[1;31mred\x1b[0m\t\x1b]8;;http://x\x07link\x1b]8;;\x1b\\ naïve 日本 🎉')).toBe(
      'red\tlink naïve 日本 🎉',
    );
  });

  it('replaces unpaired surrogates', () => {
    expect(cleanText('a\ud800b\udc00c')).toBe('a\ufffdb\ufffdc');
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(cleanText(cleanText(text))).toBe(cleanText(text));
      }),
    );
  });
});

it('inertLine breaks workflow commands, also those with an invisible character inside', () => {
  expect(inertLine(' :\u200b:error::a\n#\u00ad#[add-mask]b', 100)).toBe(': :error: :a ## [add-mask]b');
});

describe('breakCommands', () => {
  it('breaks every command marker visibly', () => {
    expect(breakCommands('::a:::b ##[c] ###[d] # #[e] x:y ##VSO[f]')).toBe(
      ': :a: : :b ## [c] ### [d] # #[e] x:y ## VSO[f]',
    );
  });
});

describe('sanitize', () => {
  const secrets = knowSecrets('sk-canary-0123');

  it('masks before and after it cleans', () => {
    expect(sanitize('a sk-canary-0123 b sk-can\x1b[0mary-0123 c\u200b', secrets)).toBe('a *** b *** c');
  });

  it('leaves no part of a secret at the end of the text that is shown', () => {
    for (let read = 1; read < 14; read += 1)
      expect(sanitize(`${'.'.repeat(100)}sk-canary-0123`, secrets, 100 + read)).toMatch(/^\.{99,}\**…?$/u);
  });

  it('keeps a text within the read limit', () => {
    expect(sanitize('x'.repeat(64 * 1024), secrets)).toBe('x'.repeat(64 * 1024));
  });
});
