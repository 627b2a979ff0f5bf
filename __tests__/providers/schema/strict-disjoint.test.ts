import { describe, expect, it } from 'vitest';
import { areDisjoint } from '../../../src/providers/schema/strict.ts';
import type { Json } from '../../../src/types.ts';

function tagged(value: Json, rest = {}): Json {
  return { type: 'object', properties: { kind: value }, required: ['kind'], ...rest };
}

const rows: readonly (readonly [why: string, branches: readonly Json[], disjoint: boolean])[] = [
  ['other types', [{ type: 'string' }, { type: ['integer', 'null'] }, { type: 'object' }], true],
  ['an integer is a number', [{ type: 'integer' }, { type: 'number' }], false],
  ['no type is every type', [{ type: 'string' }, {}], false],
  ['true is every type', [{ type: 'string' }, true], false],
  ['other literals', [{ const: 'a' }, { enum: ['b', 'c'] }], true],
  ['a literal in two', [{ const: 'a' }, { enum: ['b', 'a'] }], false],
  ['a literal of another type', [{ const: 1 }, { type: 'string' }], true],
  ['other tags', [tagged({ const: 'a' }), tagged({ enum: ['b'] })], true],
  ['the same tag', [tagged({ const: 'a' }), tagged({ const: 'a' })], false],
  ['a tag that may be missing', [tagged({ const: 'a' }), tagged({ const: 'b' }, { required: [] })], false],
  ['a tag that may be two things', [tagged({ const: 'a' }), tagged({ enum: ['b', 'a'] })], false],
  [
    'a tag on what need be no object',
    [tagged({ const: 'a' }), tagged({ const: 'b' }, { type: ['object', 'null'] })],
    false,
  ],
];

describe('areDisjoint', () => {
  it.each(rows)('%s', (_, branches, disjoint) => {
    expect(areDisjoint(branches)).toBe(disjoint);
  });
});
