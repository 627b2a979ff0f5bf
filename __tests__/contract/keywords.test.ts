import { describe, expect, it } from 'vitest';
import { resolveLocal, schemaNodes } from '../../src/contract/schema-walk.ts';
import { jsonPointer } from '../../src/text/json.ts';
import type { JsonObject } from '../../src/types.ts';

const places = (schema: JsonObject) => [...schemaNodes(schema)].map(({ path }) => jsonPointer(path)).sort();

describe('schemaNodes', () => {
  it('finds schemas at keyword positions, and nothing in literals', () => {
    const literal = { properties: { x: {} }, items: {} };
    expect(
      places({
        properties: { const: { items: [{}, {}] }, properties: {} },
        dependencies: { a: ['b'], c: {} },
        additionalProperties: { not: {} },
        anyOf: [true, {}],
        const: literal,
        enum: [literal],
        default: literal,
        examples: [literal],
        required: ['items'],
      }),
    ).toEqual([
      '',
      '/additionalProperties',
      '/additionalProperties/not',
      '/anyOf/1',
      '/dependencies/c',
      '/properties/const',
      '/properties/const/items/0',
      '/properties/const/items/1',
      '/properties/properties',
    ]);
  });
});

describe('resolveLocal', () => {
  const root: JsonObject = {
    $defs: { 'a/b~ c': { title: 'x' }, list: [{ title: 'y' }], again: { $ref: '#/$defs/list/0' } },
  };

  it('follows pointers, escapes and chains', () => {
    expect(resolveLocal(root, { $ref: '#/$defs/a~1b~0%20c' })).toEqual({ title: 'x' });
    expect(resolveLocal(root, { $ref: '#/$defs/again' })).toEqual({ title: 'y' });
    expect(resolveLocal(root, { $ref: '#' })).toBe(root);
    expect(resolveLocal(root, { title: 'z' })).toEqual({ title: 'z' });
  });

  it.each(['#/$defs/nope', '#/constructor', '#anchor', 'https://x/y', '#/$defs/list/7', '#/%zz'])(
    'gives null for %s',
    ($ref) => {
      expect(resolveLocal(root, { $ref })).toBeNull();
    },
  );
});
