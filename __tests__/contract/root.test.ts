import { describe, expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
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

  it.each<[JsonObject, (schema: JsonObject) => JsonObject]>([
    [
      { $ref: '#/$defs/A', $defs: { A: { type: 'object' } } },
      ({ $ref, ...beside }) => ({ allOf: [{ $ref: $ref ?? '' }], ...beside }),
    ],
    [
      { $ref: '#/definitions/A', definitions: { A: { type: 'object' } } },
      ({ $ref, ...beside }) => ({ allOf: [{ $ref: $ref ?? '' }], ...beside }),
    ],
    [{ $ref: '#' }, () => ({ type: 'object', properties: {} })],
    [{ $ref: './other.json' }, () => ({ type: 'object' })],
    [{ $ref: 'https://example.com/x.json' }, () => ({ type: 'object' })],
  ])('the advice for the root $ref of %j leads to a schema that is taken', async (schema, follow) => {
    await expect(createContract(schema)).rejects.toMatchObject({ stage: 'root' });
    expect((await createContract(follow(schema))).schema).toEqual(follow(schema));
  });

  it.each([
    ['./other.json', 'Name that file itself in place of this schema, or copy what it holds here.'],
    ['defs.json', 'Name that file itself in place of this schema, or copy what it holds here.'],
    ['./other.json#/$defs/A', 'Copy what it leads to here, in place of the $ref.'],
    ['https://example.com/x.json', 'Copy what it leads to here, in place of the $ref.'],
  ])('a root $ref to %s is not wrapped, for nothing is read from elsewhere', (reference, fix) => {
    expect(rootObjection({ $ref: reference })).toBe(
      `has a $ref at its root to another document, "${reference}", and nothing is read from elsewhere. ${fix}`,
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
