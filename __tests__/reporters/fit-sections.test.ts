import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitSections } from '../../src/reporters/markdown.ts';

describe('fitSections', () => {
  it('gives up what matters least, and says what', () => {
    const sections = [
      { name: 'first', rank: 1, texts: ['1111', '11'] },
      { name: 'second', rank: 0, texts: ['222'] },
      { name: 'third', rank: 2, texts: ['33'] },
    ];
    expect(fitSections(sections, 9)).toEqual({ text: '111122233', lost: [] });
    expect(fitSections(sections, 6)).toEqual({ text: '11222', lost: ['third'] });
    expect(fitSections(sections, 2)).toEqual({ text: '11', lost: ['second', 'third'] });
  });

  it('never takes more bytes than there are', () => {
    const section = fc.record({
      name: fc.string(),
      rank: fc.nat(3),
      texts: fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(section), fc.nat(100), (sections, max) => {
        expect(Buffer.byteLength(fitSections(sections, max).text)).toBeLessThanOrEqual(max);
      }),
    );
  });
});
