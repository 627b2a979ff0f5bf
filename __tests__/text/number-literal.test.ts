import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExactNumber } from '../../src/text/number-literal.ts';

/** The rule implemented with a decimal library, which keeps every digit. */
function isExactDecimal(literal: string): boolean {
  const number = Number(literal);
  return Number.isFinite(number) && new Decimal(literal).eq(new Decimal(String(number)));
}

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });
/** Zeros at either end, where the comparison of digits could go wrong. */
const padded = fc
  .tuple(fc.nat(30), digits(0, 25), fc.nat(30))
  .map(([before, middle, after]) => '0'.repeat(before) + middle + '0'.repeat(after));
const literals = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(padded, digits(1, 20)).map((text) => text.replace(/^0+(?=.)/, '') || '0'),
    fraction: fc.option(fc.oneof(padded, digits(1, 20)).filter((text) => text !== '')),
    exponent: fc.option(
      fc.tuple(
        fc.constantFrom('e', 'E'),
        fc.constantFrom('', '+', '-'),
        fc.oneof(fc.nat(30), fc.nat(400), fc.nat(999_999_999)).map(String),
      ),
    ),
  })
  .map(
    ({ sign, whole, fraction, exponent }) =>
      sign + whole + (fraction === null ? '' : `.${fraction}`) + (exponent ?? []).join(''),
  );

/** A double in another notation: shifted point, zeros appended, so that most are exact. */
const respelled = fc
  .tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: -40, max: 40 }), fc.nat(5))
  .map(([number, shift, zeros]) => {
    const shifted = new Decimal(String(number)).times(new Decimal(10).pow(shift)).toFixed();
    return `${shifted}${shifted.includes('.') ? '' : '.'}${'0'.repeat(zeros + 1)}e${-shift}`;
  });

describe('isExactNumber', () => {
  it('agrees with a decimal library on any literal', () => {
    fc.assert(
      fc.property(literals, (literal) => {
        expect([literal, isExactNumber(literal)]).toEqual([literal, isExactDecimal(literal)]);
      }),
      { numRuns: 5_000 },
    );
  });

  it('agrees with a decimal library on doubles in any notation and accepts what JavaScript writes', () => {
    fc.assert(
      fc.property(respelled, fc.double({ noNaN: true, noDefaultInfinity: true }), (literal, number) => {
        expect([literal, isExactNumber(literal)]).toEqual([literal, isExactDecimal(literal)]);
        expect(isExactNumber(JSON.stringify(number))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ...['0', '-0', '0e999999999', '0.000e-999999999999999999999999', '1e0000000000000000000000001'],
    ...[`0.${'0'.repeat(1_000)}1e1001`, `1${'0'.repeat(1_000)}e-1000`, '5e-324', '1.7976931348623157e308'],
  ])('accepts %.60s', (literal) => {
    expect(isExactNumber(literal)).toBe(true);
  });

  it.each([
    ...[
      '9007199254740993',
      '79.99999999999999999',
      '-1e-400',
      '1e999',
      '4.9e-324',
      '1.79769313486231571e308',
    ],
    ...[`1e${'9'.repeat(400)}`, `1e-${'9'.repeat(400)}`],
  ])('rejects %.60s', (literal) => {
    expect(isExactNumber(literal)).toBe(false);
  });

  it('handles literals with ten million digits in linear time', () => {
    const many = 10_000_000;
    expect(isExactNumber('9'.repeat(many))).toBe(false);
    expect(isExactNumber(`0.${'3'.repeat(many)}`)).toBe(false);
    expect(isExactNumber(`0.${'0'.repeat(many)}5e${many + 1}`)).toBe(true);
    expect(isExactNumber(`0.${'0'.repeat(many)}1${'0'.repeat(many)}2`)).toBe(false);
    expect(isExactNumber(`1e${'0'.repeat(many)}2`)).toBe(true);
    expect(isExactNumber(`1e-${'9'.repeat(many)}`)).toBe(false);
  });
});
