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

describe('isExactNumber', () => {
  it('agrees with a decimal library on any literal', () => {
    fc.assert(
      fc.property(literals, (literal) => {
        expect([literal, isExactNumber(literal)]).toEqual([literal, isExactDecimal(literal)]);
      }),
      { numRuns: 5_000 },
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
});
