import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { truncate } from '../../src/text/messages.ts';
import { breakCommands, cleanText, inertLine, sanitize, singleLine } from '../../src/text/sanitize.ts';
import { createSecrets } from '../../src/text/secrets.ts';

describe('cleanText', () => {
  it('ends lines wherever any reader of logs does', () => {
    expect(cleanText('a\r\nb\nc\rd\ve\ff\u0085g\u2028h\u2029i')).toBe('a\nb\nc\nd\ne\nf\ng\nh\ni');
  });

  it('takes out what is invisible: controls, bidi, zero width, variation selectors, tags', () => {
    expect(
      cleanText('a\0\x1b\x7f\x80b\u202e\u2066\u200b\u200d\ufeff\u00adc\u034f\u115f\u3164\ufe0f\u{e0041}d'),
    ).toBe('abcd');
  });

  it('takes out terminal sequences whole, and keeps tabs and letters of any script', () => {
    expect(cleanText('\x1b[1;31mred\x1b[0m\t\x1b]8;;http://x\x07link\x1b]8;;\x1b\\ naïve 日本 🎉')).toBe(
      'red\tlink naïve 日本 🎉',
    );
  });

  it('replaces unpaired surrogates', () => {
    expect(cleanText('a\ud800b\udc00c')).toBe('a\ufffdb\ufffdc');
  });

  it('cleans a second time to the same text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(cleanText(cleanText(text))).toBe(cleanText(text));
      }),
    );
  });
});

it('an inert line is no command, also not one that an invisible character hid', () => {
  expect(inertLine(' :\u200b:error::a\n#\u00ad#[add-mask]b', 100)).toBe(': :error: :a ## [add-mask]b');
});

describe('singleLine', () => {
  it('collapses blanks and cuts, never inside a pair', () => {
    expect([
      singleLine(' a \n\t b ', 10),
      singleLine('abcdef', 4),
      truncate('a🎉b', 3),
      truncate('abc', 3),
    ]).toEqual(['a b', 'abc…', 'a…', 'abc']);
  });
});

describe('breakCommands', () => {
  it('takes every marker apart, visibly', () => {
    expect(breakCommands('::a:::b ##[c] ###[d] # #[e] x:y ##VSO[f]')).toBe(
      ': :a: : :b ## [c] ### [d] # #[e] x:y ## VSO[f]',
    );
  });
});

describe('sanitize', () => {
  const secrets = createSecrets();
  secrets.add('sk-canary-0123');

  it('masks before and after it cleans', () => {
    expect(sanitize('a sk-canary-0123 b sk-can\x1b[0mary-0123 c\u200b', secrets)).toBe('a *** b *** c');
  });

  it.each(['', '\u200b', ' ', '`', '\u200b` '])(
    'leaves no part of a secret at the end of what is read, with %j between its letters',
    (between) => {
      const secret = [...'sk-canary-0123'].join(between);
      for (let read = 1; read < secret.length; read += 1)
        expect(sanitize(`${'.'.repeat(100)}${secret}`, secrets, 100 + read)).toMatch(/^\.*…$/u);
    },
  );

  it('leaves a text alone that is no longer than what is read', () => {
    expect(sanitize('x'.repeat(64 * 1024), secrets)).toBe('x'.repeat(64 * 1024));
  });
});
