import { describe, expect, it } from 'vitest';
import { createGate } from '../../src/contract/contract.ts';
import type { Json } from '../../src/types.ts';

const schema = { properties: { a: { enum: ['low', 'high', 'x`y'] } } };

/** What a gate over the property `a` says of a value. */
async function said(gate: Json, a: Json): Promise<readonly string[]> {
  const { evaluate } = await createGate({ kind: 'schema', schema: { properties: { a: gate } } }, { schema });
  const { status, words } = evaluate({ a });
  expect(status).toBe('not_met');
  return words ?? [];
}

describe('the words for a keyword', () => {
  it.each<[Json, Json, string]>([
    [{ const: true }, false, '`a` to be true; the payload says false'],
    [{ const: 'high' }, 'low', '`a` to be "high"; the payload says "low"'],
    [{ const: null }, 0, '`a` to be null; the payload says 0'],
    [{ enum: ['low', 'medium'] }, 'high', '`a` to be one of "low", "medium"; the payload says "high"'],
    [{ enum: ['low'] }, null, '`a` to be "low"; the payload says null'],
    [
      { enum: Array.from({ length: 12 }, (_, at) => at) },
      -1,
      '`a` to be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more; the payload says -1',
    ],
    [{ type: 'integer' }, 1.5, '`a` to be of the type integer; the payload says 1.5'],
    [
      { type: ['string', 'null'] },
      [],
      '`a` to be of the type string or null; the payload has another list there',
    ],
    [{ type: 'string' }, {}, '`a` to be of the type string; the payload has another object there'],
    [{ minimum: 80 }, 79.5, '`a` to be at least 80; the payload says 79.5'],
    [{ maximum: 3 }, 4, '`a` to be at most 3; the payload says 4'],
    [{ exclusiveMinimum: 0 }, 0, '`a` to be more than 0; the payload says 0'],
    [{ exclusiveMaximum: 1 }, 1, '`a` to be less than 1; the payload says 1'],
    [{ multipleOf: 2 }, 3, '`a` to be a multiple of 2; the payload says 3'],
    [{ maxItems: 3 }, [1, 2, 3, 4, 5], '`a` to have at most 3 entries; the payload has 5'],
    [{ maxItems: 0 }, [1], '`a` to be empty; the payload has 1'],
    [{ minItems: 1 }, [], '`a` to have at least 1 entry; the payload has none'],
    [{ uniqueItems: true }, [1, 1], '`a` to have no entry twice; the payload has 2'],
    [{ minLength: 3 }, '😀😀', '`a` to have at least 3 characters; the payload has 2'],
    [{ maxLength: 0 }, 'low', '`a` to be empty; the payload has 3'],
    [{ minProperties: 2 }, { x: 1 }, '`a` to have at least 2 properties; the payload has 1'],
    [{ maxProperties: 1 }, { x: 1, y: 2 }, '`a` to have at most 1 property; the payload has 2'],
    [
      { additionalProperties: false },
      { x: 1 },
      '`a` to have no property that is not named; the payload has "x"',
    ],
    [{ required: ['b'] }, {}, '`/a/b` to be there; the payload has none'],
    [{ pattern: '^x' }, 'high', '`a` to match the pattern "^x"; the payload says "high"'],
    [{ pattern: '^x' }, 'other', '`a` to match the pattern "^x"; the payload does not'],
    [{ format: 'date' }, 'other', '`a` to be of the format "date"; the payload does not'],
    [{ not: { const: 3 } }, 3, '`a` not to be 3; the payload says 3'],
    [{ not: { enum: [3, 4] } }, 3, '`a` not to be one of 3, 4; the payload says 3'],
    [
      { not: { type: 'array' } },
      [],
      '`a` not to satisfy `{"type":"array"}`; the payload has another list there',
    ],
    [{ contains: { const: 1 } }, [2, 3], '`a` to have an entry with `{"const":1}`; the payload does not'],
    [
      { anyOf: [{ const: 1 }, { const: 2 }] },
      3,
      '`a` to satisfy anyOf `[{"const":1},{"const":2}]`; the payload says 3',
    ],
    [
      { propertyNames: { pattern: '^x' } },
      { y: 1 },
      '`a` to satisfy propertyNames `{"pattern":"^x"}`; the payload does not',
    ],
    [
      JSON.parse('{"if": {"minimum": 3}, "then": {"multipleOf": 2}}'),
      5,
      '`a` to be a multiple of 2; the payload says 5',
    ],
    [false, 1, '`a` to be absent; the payload says 1'],
  ])('%j of %j', async (gate, a, words) => {
    expect(await said(gate, a)).toEqual([`wants ${words}`]);
  });

  it('P3 quote no text of the payload but words that the schema lists', async () => {
    expect(await said({ const: 'high' }, 'CANARY')).toEqual([
      'wants `a` to be "high"; the payload has another text there',
    ]);
    expect(await said({ const: 'high' }, '')).toEqual([
      'wants `a` to be "high"; the payload has an empty text there',
    ]);
    for (const gate of [
      { type: 'null' },
      { enum: [1] },
      { pattern: '^x' },
      { not: { type: 'string' } },
      false,
    ])
      expect((await said(gate, 'CANARY')).join()).not.toContain('CANARY');
    for (const value of [{ CANARY: 1 }, ['CANARY']])
      expect((await said({ const: 1 }, value)).join()).not.toContain('CANARY');
  });

  it('hold no backtick but their own, and are short', async () => {
    expect(await said({ const: 'b`c' }, 'x`y')).toEqual(['wants `a` to be "b\'c"; the payload says "x\'y"']);
    const [words = ''] = await said(
      { enum: Array.from({ length: 50 }, () => 'l'.repeat(500)).map((each, at) => each + at) },
      1,
    );
    expect(words.length).toBeLessThan(1_200);
    const [long = ''] = await said({ dependencies: { b: ['c'.repeat(5_000)] } }, { b: 1 });
    expect(long.length).toBeLessThan(400);
  });
});
