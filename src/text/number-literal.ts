/** Whether a number as it is written in JSON survives being read: JavaScript rounds what a double cannot hold. */

/** A decimal value other than zero, sign aside: `digits` without zeros at either end, times 10 to the power `exponent`. */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

/**
 * Whether the decimal value of a JSON number literal equals that of `String(Number(literal))`, so that nothing changes
 * when it is read and written again. Linear: digits and exponents are compared, never expanded.
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

/** null for zero, whatever its sign and exponent. */
function decimalOf(literal: string): Decimal | null {
  const [mantissa = '', power = '0'] = literal.split(/e/i);
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === '0') first += 1;
  let end = digits.length;
  while (end > first && digits[end - 1] === '0') end -= 1;
  if (first === end) return null;
  // An exponent too long for a double is far from that of any number that was read, and so compares as unequal.
  return {
    digits: digits.slice(first, end),
    exponent: Number(power) - fraction.length + digits.length - end,
  };
}
