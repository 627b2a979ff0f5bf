import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipped } from '../../src/merge/clipped.ts';

describe('a clipped text', () => {
  it('is the text itself where it fits, and null for none', () => {
    expect(clipped('as it is', 8)).toBe('as it is');
    expect(clipped(null, 8)).toBeNull();
  });

  it('holds each word of the text whole or not at all', () => {
    const word = fc.string({ minLength: 1, maxLength: 30 }).map((text) => text.replace(/\s/gu, '_'));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.nat(100), (words, max) => {
        const text = words.join(' ');
        const cut = clipped(text, max);
        expect(cut.length).toBeLessThanOrEqual(Math.max(text.length, max + 1));
        if (text.length <= max) return;
        const kept = cut.replace(/…$/u, '');
        expect(kept === '' || text.startsWith(`${kept} `) || kept === text).toBe(true);
      }),
    );
  });
});
