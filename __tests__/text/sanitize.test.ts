import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakCommands, cleanText, inertLine, jsonLine, shellSafeJson } from '../../src/text/sanitize.ts';
import { anyCharacter } from '../support/surroundings.ts';

it.each([
  ['normalizes line breaks', 'a\r\nb\nc\rd\ve\ff\u0085g\u2028h\u2029i', 'a\nb\nc\nd\ne\nf\ng\nh\ni'],
  [
    'removes invisible characters: controls, bidi, zero width, variation selectors, tags',
    'a\0\x1b\x7f\x80b\u202e\u2066\u200b\u200d\ufeff\u00adc\u034f\u115f\u3164\ufe0f\u{e0041}d',
    'abcd',
  ],
  [
    'removes whole terminal sequences and keeps tabs and letters of any script',
    '\x1b[1;31mred\x1b[0m\t\x1b]8;;http://x\x07link\x1b]8;;\x1b\\ naïve 日本 🎉',
    'red\tlink naïve 日本 🎉',
  ],
  ['replaces unpaired surrogates', 'a\ud800b\udc00c', 'a\ufffdb\ufffdc'],
])('cleanText %s', (_, text, cleaned) => {
  expect(cleanText(text)).toBe(cleaned);
});

it('cleanText is idempotent', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      expect(cleanText(cleanText(text))).toBe(cleanText(text));
    }),
  );
});

it('command markers are broken visibly, also those with an invisible character inside', () => {
  expect(breakCommands('::a:::b ##[c] ###[d] # #[e] x:y ##VSO[f]')).toBe(
    ': :a: : :b ## [c] ### [d] # #[e] x:y ## VSO[f]',
  );
  expect(inertLine(' :\u200b:error::a\n#\u00ad#[add-mask]b', 100)).toBe(': :error: :a ## [add-mask]b');
});

describe.each([
  ['jsonLine', jsonLine, /^[^\x7f-\x9f\n\r\u2028\u2029\u202e\u2066\u200f]+$/],
  ['shellSafeJson', shellSafeJson, /^[^<>&'`$\x7f-\x9f\r\n\u2028\u2029]+$/],
])('%s', (_, write, allowed) => {
  const expectInert = (value: string | readonly string[]) => {
    expect(JSON.parse(write(value))).toEqual(value);
    expect(write(value)).toMatch(allowed);
    if (write === jsonLine) expect(write(value)).not.toContain('##[');
  };

  it('D12 is one line of JSON for the same value, without characters that have an effect', () => {
    expectInert("a\x1b[2J\x9b2J\x7f\r\n\u0085\u2028\u2029\u202e\u2066\u200f\ud800<>&'`$");
    expectInert(['##[add-mask]x', '####[error]y', '\\##[z']);
    fc.assert(fc.property(fc.array(fc.string({ unit: anyCharacter })), expectInert));
  });
});

it('D12 shellSafeJson stays text in single quotes of a real shell', () => {
  const value = { summary: ['$', "{{ secrets.GITHUB_TOKEN }} $(touch pwn) `id` '; id; #"].join('') };
  const script = `printf %s '${shellSafeJson(value)}'`;
  expect(JSON.parse(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }))).toEqual(value);
});
