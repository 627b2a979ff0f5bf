import { describe, expect, it } from 'vitest';
import { createContract, createGate } from '../../src/contract/contract.ts';
import { metWords } from '../../src/contract/gate-words.ts';
import type { Json, JsonObject } from '../../src/types.ts';

const severities = { properties: { severity: { enum: ['high', 'medium', 'low'] } } };
const schema: JsonObject = {
  properties: { passed: { type: ['boolean', 'string'] }, findings: { items: severities } },
};
const wordsOf = async (gate: Json, payload: JsonObject) =>
  (await createGate({ kind: 'schema', schema: gate }, await createContract(schema))).evaluate(payload).words;

describe('a gate that is a schema', () => {
  const low = {
    properties: { findings: { items: { properties: { severity: { enum: ['medium', 'low'] } } } } },
  };
  const findings = (...words: readonly string[]) => ({ findings: words.map((severity) => ({ severity })) });

  it('names the path of a single failure', async () => {
    expect(await wordsOf(low, findings('low', 'medium', 'high'))).toEqual([
      'wants `/findings/2/severity` to be one of "medium", "low"; the payload says "high"',
    ]);
  });

  it('groups failures of the same requirement, with some of their paths', async () => {
    expect(await wordsOf(low, findings('high', 'low', 'high'))).toEqual([
      'wants every `severity` in `findings` to be one of "medium", "low"; the payload says "high" (`/findings/0/severity`), says "high" (`/findings/2/severity`)',
    ]);
    const [words = '', ...others] = (await wordsOf(low, findings(...Array(1_000).fill('high')))) ?? [];
    expect(others).toEqual([]);
    expect(words).toMatch(/ and 997 more do not fit$/u);
    expect(await wordsOf({ properties: { a: { items: { type: 'null' } } } }, { a: [1, 2] })).toEqual([
      'wants every entry of `a` to be of the type null; the payload says 1 (`/a/0`), says 2 (`/a/1`)',
    ]);
    const deep = { properties: { a: { items: { items: { const: 1 } } } } };
    expect(await wordsOf(deep, { a: [[2], [3]] })).toEqual([
      'wants `/a/*/*` to be 1; the payload says 2 (`/a/0/0`), says 3 (`/a/1/0`)',
    ]);
  });

  it('leaves out failures inside a branch or a condition, unless there are no others', async () => {
    const branches = {
      anyOf: [{ required: ['x'] }, { properties: { anyOf: { const: 1 } }, required: ['anyOf'] }],
    };
    expect(await wordsOf(branches, { anyOf: 2 })).toEqual([
      expect.stringMatching(/^wants the payload to satisfy anyOf `\[.*\]`; the payload does not$/u),
    ]);
    const condition: JsonObject = JSON.parse('{"if": {"required": ["a"]}, "then": {"required": ["b"]}}');
    expect(await wordsOf(condition, { a: 1 })).toEqual(['wants `b` to be there; the payload has none']);
    expect(
      await wordsOf(
        { properties: { contains: { properties: { b: { const: 1 } } } } },
        { contains: { b: 2 } },
      ),
    ).toEqual(['wants `/contains/b` to be 1; the payload says 2']);
  });
});

const MET: readonly JsonObject[] = [
  {},
  { title: 'a', required: ['a'] },
  { properties: { a: {} } },
  { properties: { a: { type: 'integer', minimum: 3, maximum: 5 }, b: { type: 'null' } } },
  { allOf: [{ $ref: '#/$defs/g' }], $defs: { g: { properties: { passed: { const: true } } } } },
  { allOf: [{ $ref: '#' }] },
  JSON.parse('{"if": {"required": ["a"]}, "then": {"required": ["b"]}}'),
];

it('a gate that is met says what it required, or nothing when that cannot be put into words', async () => {
  const text = MET.map((gate) => `${JSON.stringify(gate)}\n  ${metWords(gate).join('; ')}\n`).join('\n');
  await expect(text).toMatchFileSnapshot('../golden/gates/words-met.txt');
});

/** Lists words for `b`, and allows anything for `a`. */
const listing = { properties: { a: {}, b: { enum: ['low', 'high', 'x`y'] } } };

/** The clauses of a gate on the property `a` for a value. */
async function clausesOf(gate: Json, a: Json): Promise<readonly string[]> {
  const { evaluate } = await createGate(
    { kind: 'schema', schema: { properties: { a: gate } } },
    await createContract(listing),
  );
  const { status, words } = evaluate({ a });
  expect(status).toBe('not_met');
  return words ?? [];
}

/** Gates on the property `a`, and values that do not meet them. */
const UNMET: readonly (readonly [gate: Json, a: Json])[] = [
  [{ const: true }, false],
  [{ const: 'high' }, 'low'],
  [{ const: null }, 0],
  [{ enum: ['low', 'medium'] }, 'high'],
  [{ enum: ['low'] }, null],
  [{ enum: Array.from({ length: 12 }, (_, at) => at) }, -1],
  [{ type: 'integer' }, 1.5],
  [{ type: ['string', 'null'] }, []],
  [{ type: 'string' }, {}],
  [{ minimum: 80 }, 79.5],
  [{ maximum: 3 }, 4],
  [{ exclusiveMinimum: 0 }, 0],
  [{ exclusiveMaximum: 1 }, 1],
  [{ multipleOf: 2 }, 3],
  [{ maxItems: 3 }, [1, 2, 3, 4, 5]],
  [{ maxItems: 0 }, [1]],
  [{ minItems: 1 }, []],
  [{ uniqueItems: true }, [1, 1]],
  [{ minLength: 3 }, '😀😀'],
  [{ maxLength: 0 }, 'low'],
  [{ minProperties: 2 }, { x: 1 }],
  [{ maxProperties: 1 }, { x: 1, y: 2 }],
  [{ additionalProperties: false }, { x: 1 }],
  [{ additionalProperties: false }, { b: 1 }],
  [{ additionalProperties: { const: 1 } }, { CANARY: 2 }],
  [{ additionalProperties: { const: 1 } }, { b: 2 }],
  [{ required: ['b'] }, {}],
  [{ pattern: '^x' }, 'high'],
  [{ pattern: '^x' }, 'other'],
  [{ format: 'date' }, 'other'],
  [{ not: { const: 3 } }, 3],
  [{ not: { enum: [3, 4] } }, 3],
  [{ not: { type: 'array' } }, []],
  [{ contains: { const: 1 } }, [2, 3]],
  [{ anyOf: [{ const: 1 }, { const: 2 }] }, 3],
  [{ propertyNames: { pattern: '^x' } }, { y: 1 }],
  [JSON.parse('{"if": {"minimum": 3}, "then": {"multipleOf": 2}}'), 5],
];

const asText = (value: unknown) => JSON.stringify(value);

describe('the words for a keyword', () => {
  it('say what was required, and what the payload has', async () => {
    const entries = UNMET.map(async ([gate, a]) => [gate, a, ...(await clausesOf(gate, a))]);
    const text = (await Promise.all(entries)).map(
      ([gate, a, words]) => `${asText(gate)} of ${asText(a)}\n  ${words}\n`,
    );
    await expect(text.join('\n')).toMatchFileSnapshot('../golden/gates/words-unmet.txt');
  });

  it('P3 quote no text of the payload except words in the schema', async () => {
    expect(await clausesOf({ const: 'high' }, 'CANARY')).toEqual([
      'wants `a` to be "high"; the payload has another text there',
    ]);
    expect(await clausesOf({ const: 'high' }, '')).toEqual([
      'wants `a` to be "high"; the payload has an empty text there',
    ]);
    for (const gate of [{ type: 'null' }, { enum: [1] }, { pattern: '^x' }, { not: { type: 'string' } }])
      expect((await clausesOf(gate, 'CANARY')).join()).not.toContain('CANARY');
    for (const value of [{ CANARY: 1 }, ['CANARY']])
      expect((await clausesOf({ const: 1 }, value)).join()).not.toContain('CANARY');
  });

  it('name no key of the payload that neither the schema nor the gate declares', async () => {
    const gates: readonly JsonObject[] = [
      ...[{ additionalProperties: { const: 1 } }, { additionalProperties: false }],
      ...[{ patternProperties: { CAN: { const: 1 } } }, { propertyNames: { maxLength: 2 } }],
      ...[{ additionalProperties: { additionalProperties: { items: { const: 1 } } } }, { maxProperties: 0 }],
    ];
    const hidden: Json = { CANARY: { CANARY: ['CANARY', { CANARY: 2 }] } };
    for (const gate of gates) {
      expect((await clausesOf(gate, hidden)).join(), JSON.stringify(gate)).not.toContain('CANARY');
      const { words = [] } = (
        await createGate({ kind: 'schema', schema: gate }, await createContract(listing))
      ).evaluate({ ...hidden, a: 1 });
      expect(words.join(), JSON.stringify(gate)).not.toContain('CANARY');
    }
    const declaring = { additionalProperties: { properties: { score: { minimum: 5 } } } };
    expect(await clausesOf(declaring, { CANARY: { score: 2 }, b: { score: 3 } })).toEqual([
      'wants every `score` in `a` to be at least 5; the payload says 2',
      'wants `/a/b/score` to be at least 5; the payload says 3',
    ]);
  });
});
