import { describe, expect, it } from 'vitest';
import { rootObjection } from '../../src/contract/root.ts';
import type { JsonObject } from '../../src/types.ts';

describe('rootObjection', () => {
  it.each<[JsonObject, string]>([
    [{ type: 'array' }, '/type is "array", without "object"'],
    [{ type: null }, '/type is null, without "object"'],
    [{ const: 1 }, '/const is not an object'],
    [{ enum: [] }, '/enum lists no object'],
    [{ anyOf: [] }, '/anyOf is empty, so nothing matches it'],
    [
      { anyOf: [{ type: 'string' }, false] },
      'no branch of /anyOf admits an object (/anyOf/0/type is "string", without "object")',
    ],
    [
      { allOf: [true, { oneOf: [false] }] },
      'every branch of /allOf must admit an object (no branch of /allOf/1/oneOf admits an object (/allOf/1/oneOf/0 is false, which accepts nothing))',
    ],
    [{ allOf: [3] }, '/allOf/0 is neither an object nor a boolean, so it is no schema'],
    [{ not: { type: ['null', 'object'], description: 'narrows nothing' } }, '/not rules out every object'],
    [JSON.parse('{"if":true,"then":{"type":"string"}}'), '/then/type is "string", without "object"'],
    [{ if: false, else: false }, '/else is false, which accepts nothing'],
  ])('%j is refused with its place and the fix', (schema, why) => {
    const objection = rootObjection(schema) ?? '';
    expect(objection).toContain(why);
    expect(objection).toContain('Give the root "type": "object"');
  });

  it('a root $ref is refused with the wrapping to paste', () => {
    expect(rootObjection({ $ref: '#/$defs/A' })).toBe(
      'has a $ref at its root, which model APIs refuse. Wrap it: {"allOf": [{"$ref": "#/$defs/A"}], …} with the definitions beside allOf.',
    );
  });

  it.each<[JsonObject]>([
    [{}],
    [{ const: {} }],
    [{ not: { type: 'object', required: ['a'] } }],
    [JSON.parse('{"if":{},"then":false}')],
    [{ allOf: [{ $ref: '#' }] }],
  ])('%j is let through', (schema) => {
    expect(rootObjection(schema)).toBeNull();
  });
});
