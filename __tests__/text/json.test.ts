import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJsonWithInexact, parseStrictJson } from '../../src/text/json.ts';

const faultOf = (text: string): string => {
  const parsed = parseStrictJson(text);
  return parsed.ok ? 'none' : parsed.fault;
};

/** Compares two decimal numbers as integers of 10⁻⁴⁰⁰. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((literal) => {
    const [mantissa = '', power = '0'] = literal.toLowerCase().split('e');
    const [whole = '', fraction = ''] = mantissa.split('.');
    return BigInt(whole.replace('-', '') + fraction) * 10n ** BigInt(400 + Number(power) - fraction.length);
  });
  return a === b;
}

const NUMBER = 'holds a number that cannot be represented exactly; write fewer digits, or a string';
const TWICE = 'gives a key twice in one object';
const BEHIND = 'is not valid JSON: Unexpected non-whitespace character after JSON (line 1 column 3)';

it('parseStrictJson agrees with JSON.parse on every text that JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.nat(4), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseStrictJson(text)).toEqual({ ok: true, value: JSON.parse(text), inexact: [] });
    }),
  );
});

it.each<[fault: string, texts: readonly string[]]>([
  ['is not valid JSON: Unexpected end of JSON input', ['', ' ']],
  ['is not valid JSON: it has an unexpected character', ['nulo', 'NaN', '[1,]', '{"ok": sk-canary-value}']],
  ['is not valid JSON: Expected double-quoted property name (line 3 column 1)', ['{\n"a": 1,\n}']],
  [BEHIND, ['1 2', '[]"canary"']],
  [NUMBER, ['1e999', '[-1e-400]', '9007199254740993', '{"a": [1.50, 79.99999999999999999]}']],
  [NUMBER, ['4.9e-324', '1.79769313486231571e308', `1e${'9'.repeat(400)}`, `1e-${'9'.repeat(400)}`]],
  ['holds half of a surrogate pair', ['"\\ud800"', '"\\udc00\\ud800"', '"\ud800"', '{"\\ud800":[]}']],
  [TWICE, ['{"a":1,"b":2,"a":3}', '[{"a":1,"\\u0061":3}]', '{"__proto__":1,"__proto__":3}']],
  [TWICE, ['{"a":{"b":{}},"a":1}', '{"a\\"":1,"a\\"":3}', '{"":":","":":"}']],
])('parseStrictJson refuses what %s: %j', (fault, texts) => {
  for (const text of texts) expect([text, faultOf(text)]).toEqual([text, fault]);
});

it.each([
  ...['0', '-0', '1.50', '1E+2', '-1.5e-7', '0.1', '5e-324', '1.7976931348623157e308', '9007199254740992'],
  ...['0e999999999', '0.000e-999999999999999999999999', '1e0000000000000000000000001', '-120.0340e-1'],
  ...[`0.${'0'.repeat(1_000)}1e1001`, `1${'0'.repeat(1_000)}e-1000`, '100000000000000000000'],
])('parseStrictJson reads the number %.60s', (literal) => {
  expect(parseStrictJson(`[${literal}]`)).toMatchObject({ ok: true, value: [Number(literal)] });
});

it('parseStrictJson refuses a number exactly if its parsed value is another one', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0001234567899'), minLength: 1, maxLength: 22 });
  const whole = digits.map((text) => text.replace(/^0+(?=.)/, ''));
  const fraction = fc.oneof(
    fc.constant(''),
    digits.map((text) => `.${text}`),
  );
  const power = fc.oneof(
    fc.constant(''),
    fc.integer({ min: -340, max: 320 }).map((e) => `E${e}`),
  );
  fc.assert(
    fc.property(fc.constantFrom('', '-'), whole, fraction, power, (...parts) => {
      const literal = parts.join('');
      const isExact = Number.isFinite(Number(literal)) && isEqual(literal, String(Number(literal)));
      expect([literal, faultOf(literal)]).toEqual([literal, isExact ? 'none' : NUMBER]);
    }),
    { numRuns: 2_000 },
  );
});

it('S10 parseStrictJson keeps __proto__ and constructor as own keys, and escaped characters as they are', () => {
  const text = '{"__proto__":{"polluted":true},"constructor":"\\ud83d\\ude00😀\\u0000\u2028\\u2028"}';
  const parsed = parseStrictJson(text);
  expect(Object.entries(Object(parsed.ok && parsed.value))).toEqual([
    ['__proto__', { polluted: true }],
    ['constructor', '😀😀\0\u2028\u2028'],
  ]);
  expect('polluted' in {}).toBe(false);
});

it('parseStrictJson accepts 500 levels and refuses 501, and a million', () => {
  const nested = (levels: number) => faultOf(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  const refused = 'nests deeper than 500 levels';
  expect([500, 501, 1_000_000].map(nested)).toEqual(['none', refused, refused]);
  expect(faultOf(`${'{"a":'.repeat(501)}1${'}'.repeat(501)}`)).toBe(refused);
});

it('parseStrictJson reads a string of millions of escapes', () => {
  expect(faultOf(`"${'\\n'.repeat(8_000_000)}"`)).toBe('none');
});

it('parseJsonWithInexact lists each inexact number with its path and its value', () => {
  const text = '{"a":[0.1,{"b/c":9007199254740993}],"4915":1e999,"d":[[],1.0000000000000000001,-0,1.50]}';
  expect(parseJsonWithInexact(text)).toEqual({
    ok: true,
    value: JSON.parse(text),
    inexact: [
      { path: ['4915'], number: Number.POSITIVE_INFINITY },
      { path: ['a', '1', 'b/c'], number: 9007199254740992 },
      { path: ['d', '1'], number: 1 },
    ],
  });
});

it('parseJsonWithInexact refuses the other faults, and more inexact numbers than can be listed', () => {
  expect(parseJsonWithInexact('{"a":1e999,"a":1}').ok).toBe(false);
  expect(parseJsonWithInexact('[[1]]', 1)).toMatchObject({ fault: 'nests deeper than 1 levels' });
  const many = (count: number) => parseJsonWithInexact(`[${'1e999,'.repeat(count - 1)}1e999]`);
  expect(many(1_000)).toMatchObject({ ok: true });
  expect(many(1_001)).toMatchObject({ fault: NUMBER });
});
