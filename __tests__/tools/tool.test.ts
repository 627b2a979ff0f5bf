import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutToBytes, cutToCharacters } from '../../src/tools/tool.ts';

it('cutToBytes returns a prefix within the byte limit without splitting a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(50), (text, max) => {
      const cut = cutToBytes(text, max);
      expect(text.startsWith(cut)).toBe(true);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max);
      expect(Buffer.byteLength(text) - Buffer.byteLength(cut) > 3 && max - Buffer.byteLength(cut) > 3).toBe(
        false,
      );
    }),
  );
});

it('cutToCharacters does not split a character', () => {
  expect([cutToCharacters('ab😀', 3), cutToCharacters('ab😀', 4), cutToCharacters('abc', 2)]).toEqual([
    'ab',
    'ab😀',
    'ab',
  ]);
});
