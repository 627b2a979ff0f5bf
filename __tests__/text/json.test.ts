import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  indentedJson,
  isArray,
  isDeeperThan,
  isObject,
  jsonPointer,
  parseJsonWithInexact,
  parseStrictJson,
} from '../../src/text/json.ts';
import { JSON_TEXT } from '../../src/text/limits.ts';
import type { Json } from '../../src/types.ts';

const problemOf = (text: string): string => {
  const parsed = parseStrictJson(text);
  return parsed.ok ? 'ok' : `${parsed.fault} at ${parsed.place}`;
};

describe('parseStrictJson', () => {
  it('agrees with JSON.parse on every text that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat(4), (text, indent) => {
        const pretty = JSON.stringify(JSON.parse(text), null, indent);
        expect(parseStrictJson(pretty)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  it.each<[fault: string, line: number, column: number, texts: readonly string[]]>([
    ['syntax', 1, 1, ['', 'nul', 'NaN']],
    ['syntax', 1, 2, [' ', '{', '"\n"', '-']],
    ['syntax', 1, 8, ['{"a":1,}']],
    ['syntax', 1, 4, ['[1,]', '1e+']],
    ['syntax', 3, 2, ['{"a"\n:\n01}']],
    ['syntax', 1, 3, ['"\\x"', '"\\u12G4"', '1 2', '1.']],
    ['number', 1, 1, ['1e999', '-1e-400']],
    ['number', 1, 2, ['[-1e999]', '[9007199254740993]']],
    ['number', 1, 14, ['{"a": [1.50, 79.99999999999999999]}']],
    ['surrogate', 1, 1, ['"\\ud800"', '"\\udc00\\ud800"', '"\ud800"']],
    ['surrogate', 1, 2, ['{"\\ud800":1}']],
    ['duplicate_key', 1, 14, ['{"a":1,"b":2,"a":3}']],
    ['duplicate_key', 1, 8, ['{"a":1,"\\u0061":3}']],
    ['duplicate_key', 1, 16, ['{"__proto__":1,"__proto__":3}']],
  ])('rejects %s at line %i, column %i: %j', (fault, line, column, texts) => {
    for (const text of texts)
      expect([text, problemOf(text)]).toEqual([text, `${fault} at line ${line}, column ${column}`]);
  });

  it('reports the JSON pointer of a duplicate key', () => {
    expect(parseStrictJson('{"x/y":[0,{"b":1,"b":2}]}')).toEqual({
      ok: false,
      fault: 'duplicate_key',
      slip: null,
      place: 'line 1, column 18',
      problem: 'The key at "/x~1y/1/b" is given twice; give each key once (line 1, column 18).',
    });
  });

  it.each([
    ['{"a": 1,}', 'a comma before the closing }', 'line 1, column 9'],
    ['[1, 2, ]', 'a comma before the closing ]', 'line 1, column 8'],
    ['{"a": 1 // why\n}', 'a comment, which JSON does not have', 'line 1, column 9'],
    ['# why\n{}', 'a comment, which JSON does not have', 'line 1, column 1'],
    ["{'a': 1}", 'a quote that is no straight double quote', 'line 1, column 2'],
    ['{“a”: 1}', 'a quote that is no straight double quote', 'line 1, column 2'],
    ['{"a": [1', 'it ends too early', 'line 1, column 9'],
    ['{"a": "b', 'it ends too early', 'line 1, column 9'],
    ['{"a": 1\n"b": 2}', 'a comma or a colon is missing', 'line 2, column 1'],
    ['{"a" "b"}', 'a comma or a colon is missing', 'line 1, column 6'],
    ['{a: 1}', 'a key without quotes', 'line 1, column 2'],
    ['{"a": 1, b: 2}', 'a key without quotes', 'line 1, column 10'],
  ])('names the common mistake in %j', (text, what, place) => {
    expect(parseStrictJson(text)).toMatchObject({ ok: false, slip: { what }, place });
  });

  it('quotes nothing of a text that is not JSON', () => {
    const problem =
      'The text is not valid JSON: it has an unexpected character where a value belongs (line 1, column 8).';
    const refused = { ok: false, fault: 'syntax', slip: null, place: 'line 1, column 8', problem };
    expect(parseStrictJson('{"ok": sk-canary-value}')).toEqual(refused);
  });

  it('keeps surrogate pairs, NUL escapes and U+2028', () => {
    expect(parseStrictJson('"\\ud83d\\ude00😀\\u0000\u2028\\u2028"')).toEqual({
      ok: true,
      value: '😀😀\0\u2028\u2028',
    });
  });

  it('S10 keeps __proto__ and constructor as own keys', () => {
    const parsed = parseStrictJson('{"__proto__":{"polluted":true},"constructor":1}');
    const value = parsed.ok && isObject(parsed.value) ? parsed.value : {};
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });

  it('accepts 500 levels and rejects 501', () => {
    expect(problemOf(`${'['.repeat(JSON_TEXT.depth)}${']'.repeat(JSON_TEXT.depth)}`)).toBe('ok');
    expect(problemOf(`${'['.repeat(JSON_TEXT.depth + 1)}${']'.repeat(JSON_TEXT.depth + 1)}`)).toBe(
      'depth at line 1, column 501',
    );
  });

  it.each(['[', '{"a":', '[{"a":'])('handles a million levels of %j', (open) => {
    expect(problemOf(open.repeat(1_000_000))).toMatch(/^depth/);
  });
});

describe('isDeeperThan', () => {
  it('counts levels of arrays and objects', () => {
    expect([isDeeperThan(1, 0), isDeeperThan([], 0)]).toEqual([false, true]);
    expect([isDeeperThan({ a: [1] }, 2), isDeeperThan({ a: [{}] }, 2)]).toEqual([false, true]);
  });
});

describe('indentedJson', () => {
  it('equals JSON.stringify with two spaces, or is null above the limit', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(200), (value, max) => {
        const json: Json = JSON.parse(JSON.stringify(value));
        const text = JSON.stringify(json, null, 2);
        expect(indentedJson(json, max)).toBe(text.length <= max ? text : null);
        expect(indentedJson(json, text.length)).toBe(text);
      }),
    );
    expect(indentedJson(JSON.parse('{"__proto__":{"a":[[],{}]}}'), 100)).toBe(
      '{\n  "__proto__": {\n    "a": [\n      [],\n      {}\n    ]\n  }\n}',
    );
  });
});

describe('isObject, isArray and jsonPointer', () => {
  it('distinguish objects, arrays and null', () => {
    expect([{}, [], null, 'x', undefined].map(isObject)).toEqual([true, false, false, false, false]);
    expect([{}, [], null, 'x', undefined].map(isArray)).toEqual([false, true, false, false, false]);
  });

  it('escape pointers as in RFC 6901', () => {
    expect(jsonPointer(['a/b', '~', 0])).toBe('/a~1b/~0/0');
    expect(jsonPointer([])).toBe('');
  });
});

describe('parseJsonWithInexact', () => {
  it('lists each inexact number with its path and its value', () => {
    const text = '{"a":[0.1,{"b/c":9007199254740993}],"4915":1e999,"d":[[],1e-400,-0,1.50]}';
    expect(parseJsonWithInexact(text)).toEqual({
      ok: true,
      value: JSON.parse(text),
      inexact: [
        { path: ['a', 1, 'b/c'], number: 9007199254740992 },
        { path: ['4915'], number: Number.POSITIVE_INFINITY },
        { path: ['d', 1], number: 0 },
      ],
    });
  });

  it('rejects other invalid text and more inexact numbers than the limit', () => {
    expect(parseJsonWithInexact('{"a":1e999,"a":1}')).toMatchObject({ ok: false, fault: 'duplicate_key' });
    expect(parseJsonWithInexact('[1e999')).toMatchObject({ ok: false, fault: 'syntax' });
    const many = (count: number) => `[${Array.from({ length: count }, () => '1e999').join()}]`;
    expect(parseJsonWithInexact(many(10_000)).ok).toBe(true);
    expect(parseJsonWithInexact(many(10_001))).toMatchObject({ ok: false, fault: 'number' });
  });
});
