import { describe, expect, it } from 'vitest';
import { declaredProperties } from '../../src/contract/root.ts';
import { resolveLocal } from '../../src/contract/schema-walk.ts';
import type { JsonObject } from '../../src/types.ts';

const schema: JsonObject = {
  properties: { z: {}, a: {} },
  allOf: [{ properties: { b: {} }, anyOf: [{ properties: { c: {} } }] }, { $ref: '#/$defs/d~1x' }],
  anyOf: [
    true,
    { properties: { a: {}, e: {} } },
    { $ref: '#/$defs/circle' },
    { $ref: 'https://elsewhere/x' },
  ],
  oneOf: [{ properties: { f: {} } }, { $ref: '#' }],
  not: { properties: { no: {} } },
  $defs: {
    'd/x': { properties: { d: {} } },
    circle: { $ref: '#/$defs/circle' },
  },
};

it('declaredProperties returns the names of the root, then of its branches, in order and once', () => {
  expect(declaredProperties(schema)).toEqual(['z', 'a', 'b', 'c', 'd', 'e', 'f']);
});

describe('resolveLocal', () => {
  const root: JsonObject = {
    $defs: { 'a/b~ c': { title: 'x' }, list: [{ title: 'y' }], again: { $ref: '#/$defs/list/0' } },
  };

  it('follows pointers, escapes and chains', () => {
    expect(resolveLocal(root, { $ref: '#/$defs/a~1b~0%20c' })).toEqual({ title: 'x' });
    expect(resolveLocal(root, { $ref: '#/$defs/again' })).toEqual({ title: 'y' });
    expect(resolveLocal(root, { $ref: '#' })).toBe(root);
  });

  it.each(['#/$defs/nope', '#/constructor', '#anchor', 'https://x/y', '#/$defs/list/7', '#/%zz'])(
    'returns null for %s',
    ($ref) => {
      expect(resolveLocal(root, { $ref })).toBeNull();
    },
  );
});
