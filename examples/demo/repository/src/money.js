/** Whole cents from a decimal text such as "12.50". */
export function toCents(text) {
  const match = /^(\d+)(?:\.(\d{1,2}))?$/.exec(text);
  if (match === null) throw new RangeError(`not a price: ${text}`);
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
}

/** A decimal text with two places from whole cents. */
export function format(cents) {
  return (cents / 100).toFixed(2);
}
