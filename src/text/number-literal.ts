/** Checks whether a JSON number survives parsing: JavaScript rounds what a double cannot represent. */

/**
 * A non-zero decimal value without its sign: `digits`, without leading or trailing zeros, times 10 to the power
 * `exponent`.
 */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

/**
 * Whether the decimal value of a JSON number literal equals that of `String(Number(literal))`, so that parsing and
 * serializing do not change it. Linear: digits and exponents are compared, never expanded.
 */
export function isExactNumber(literal: string): boolean {
  const number = Number(literal);
  const written = String(number);
  if (written === literal) return true;
  if (!Number.isFinite(number)) return false;
  const given = decimalOf(literal);
  const read = decimalOf(written);
  if (given === null || read === null) return given === read;
  return given.digits === read.digits && given.exponent === read.exponent;
}

/** Returns null for zero, whatever its sign and exponent. */
function decimalOf(literal: string): Decimal | null {
  const [mantissa = '', power = '0'] = literal.split(/e/i);
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === '0') first += 1;
  let end = digits.length;
  while (end > first && digits[end - 1] === '0') end -= 1;
  if (first === end) return null;
  // An exponent too long for a double differs from that of any parsed number, so the comparison fails as it should.
  return {
    digits: digits.slice(first, end),
    exponent: Number(power) - fraction.length + digits.length - end,
  };
}
