import { describe, expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import { rootObjection } from '../../src/contract/root.ts';
import type { JsonObject } from '../../src/types.ts';

const REFUSED: readonly JsonObject[] = [
  { type: 'array' },
  { type: null },
  { const: 1 },
  { enum: [] },
  { anyOf: [] },
  { anyOf: [{ type: 'string' }, false] },
  { allOf: [true, { oneOf: [false] }] },
  { allOf: [3] },
  { not: { type: ['null', 'object'], description: 'narrows nothing' } },
  JSON.parse('{"if":true,"then":{"type":"string"}}'),
  { if: false, else: false },
  { $ref: '#/$defs/A' },
  ...['./other.json', 'defs.json', './other.json#/$defs/A', 'https://example.com/x.json'].map(($ref) => ({
    $ref,
  })),
];

describe('rootObjection', () => {
  it('refuses a schema that admits no object, with its path and a fix', async () => {
    const entries = REFUSED.map((schema) => `${JSON.stringify(schema)}\n  ${rootObjection(schema)}\n`);
    await expect(entries.join('\n')).toMatchFileSnapshot('../golden/schemas/roots-refused.txt');
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
  ])('the suggested fix for the root $ref of %j is accepted', async (schema, follow) => {
    await expect(createContract(schema)).rejects.toMatchObject({ stage: 'root' });
    expect((await createContract(follow(schema))).schema).toEqual(follow(schema));
  });

  it.each<[JsonObject]>([
    [{}],
    [{ const: {} }],
    [{ not: { type: 'object', required: ['a'] } }],
    [JSON.parse('{"if":{},"then":false}')],
    [{ allOf: [{ $ref: '#' }] }],
  ])('accepts %j', (schema) => {
    expect(rootObjection(schema)).toBeNull();
  });
});
