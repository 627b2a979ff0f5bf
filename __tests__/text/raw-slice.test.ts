import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rawSlice } from '../../src/text/json.ts';
import type { Json } from '../../src/types.ts';

describe('rawSlice', () => {
  it('keeps duplicate keys inside the value', () => {
    expect(rawSlice('{"input":{"passed":false,"passed":true}}', ['input'])).toBe(
      '{"passed":false,"passed":true}',
    );
  });

  it('returns null when a key of the path is duplicated', () => {
    expect(rawSlice('{"input":{"a":1},"x":0,"input":{"a":2}}', ['input'])).toBeNull();
    expect(rawSlice('{"input":1,"\\u0069nput":2}', ['input'])).toBeNull();
    expect(rawSlice('{"x":[{"i":1},{"i":1,"i":2}]}', ['x', 1, 'i'])).toBeNull();
    expect(rawSlice('{"x":[{"i":1},{"i":1,"i":2}]}', ['x', 0, 'i'])).toBe('1');
  });

  it('returns what JSON.parse finds at every path of any text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(3), (generated, indent) => {
        const text = JSON.stringify(generated, null, indent);
        const visit = (value: Json, path: readonly (string | number)[]): void => {
          expect(JSON.parse(rawSlice(text, path) ?? 'nothing')).toEqual(value);
          if (typeof value !== 'object' || value === null) return;
          const isList = Array.isArray(value);
          for (const [key, child] of Object.entries(value))
            visit(child, [...path, isList ? Number(key) : key]);
        };
        visit(JSON.parse(text), []);
      }),
    );
  });
});
