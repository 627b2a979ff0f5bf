import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { options } from '../../src/contract/ajv-options.ts';
import { toothless } from '../../src/contract/gate-bite.ts';
import type { Json, JsonObject } from '../../src/types.ts';

const loop: JsonObject = { $ref: '#/$defs/a' };

describe('a gate schema that every object satisfies', () => {
  it.each<JsonObject>([
    {},
    { properties: { passed: {} } },
    { properties: { passed: { description: 'must be true' } } },
    { properties: { verdict: { properties: { ok: {} } } } },
    { allOf: [{}] },
    { allOf: [{ type: 'object' }, { properties: { passed: true } }] },
    { anyOf: [{ required: ['passed'] }, {}] },
    { oneOf: [false, {}, { not: true }] },
    { not: false },
    { not: { not: {} } },
    { not: { anyOf: [{ not: {} }, false] } },
    { not: { allOf: [{ required: ['a'] }, { not: {} }] } },
    { $defs: { passed: { const: true } } },
    JSON.parse('{"if": {"required": ["a"]}, "then": {}, "else": {"minProperties": 0}}'),
    { properties: { rows: { items: { properties: { ok: {} } } } } },
    { properties: { rows: { uniqueItems: false, minItems: 0, items: [{}, true] } } },
    { patternProperties: { '^x': {} }, propertyNames: {}, additionalProperties: true },
    { dependencies: { a: [], b: {} } },
    { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { properties: { x: { $ref: '#/$defs/b' } } }, b: {} } },
    { properties: { x: { type: ['object', 'array', 'string', 'number', 'boolean', 'null'] } } },
  ])('is %j', (gate) => {
    expect(toothless(gate, null)).toEqual({ forbidden: [] });
  });

  it.each<JsonObject>([
    { required: ['passed'] },
    { properties: { passed: { const: true } } },
    { properties: { passed: { type: 'boolean' } } },
    { properties: { verdict: { type: 'object' } } },
    { properties: { mail: { format: 'email' } } },
    { properties: { x: false } },
    { additionalProperties: false },
    { minProperties: 1 },
    { not: {} },
    { not: { required: ['a'] } },
    { oneOf: [{}, {}] },
    { oneOf: [{}, { required: ['a'] }] },
    { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    JSON.parse('{"if": {"required": ["a"]}, "then": {"required": ["b"]}}'),
    { properties: { rows: { contains: {} } } },
    { dependencies: { a: ['b'] } },
    { propertyNames: { maxLength: 3 } },
    { patternProperties: { '^x': { const: 1 } } },
    { unevaluatedProperties: {} },
    { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { required: ['a'] } } },
    { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $ref: '#/$defs/b', minProperties: 1 }, b: {} } },
    { allOf: [{ $ref: '#/$defs/none' }] },
    { allOf: [{ $ref: '#' }] },
    { allOf: [loop], $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: loop } },
    { anyOf: [{}, { $ref: '#' }] },
    { properties: { x: { $id: 'y', $defs: { a: { const: 1 } }, allOf: [loop] } }, $defs: { a: {} } },
    { unknown: true },
  ])('is not %j', (gate) => {
    expect(toothless(gate, null)).toBeNull();
  });

  it('is looked for no longer than it takes, where parts are shared without end', () => {
    const names = Array.from({ length: 60 }, (_, index) => `d${index}`);
    const $defs = Object.fromEntries(
      names.map((name, index) => {
        const next = { $ref: `#/$defs/d${index + 1}` };
        return [name, index === 59 ? {} : { properties: { a: next, b: next } }];
      }),
    );
    expect(toothless({ allOf: [{ $ref: '#/$defs/d0' }], $defs }, null)).toBeNull();
  });
});

describe('a gate that the schema has said already', () => {
  const schema: JsonObject = {
    type: 'object',
    required: ['passed', 'verdict'],
    properties: {
      passed: { type: 'boolean' },
      score: { type: 'integer', minimum: 3, enum: [3, 4] },
      verdict: { allOf: [{ $ref: '#/$defs/verdict' }] },
      rows: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^a' } },
    },
    additionalProperties: false,
    $defs: { verdict: { type: 'object', properties: { ok: { const: true } }, additionalProperties: false } },
  };

  it.each<JsonObject>([
    schema,
    { required: ['passed'] },
    { properties: { passed: { type: ['boolean', 'null'] } } },
    { properties: { score: { type: 'number', minimum: 3 } } },
    { properties: { score: { enum: [5, 4, 3] } } },
    { properties: { verdict: { type: 'object', properties: { ok: { const: true } } } } },
    { properties: { rows: { minItems: 1, items: { pattern: '^a' } } } },
    { dependencies: { score: ['passed'] } },
  ])('is %j', (gate) => {
    expect(toothless(gate, schema)).toEqual({ forbidden: [] });
    expect(toothless(gate, null)).toBeNull();
  });

  it.each<JsonObject>([
    { required: ['score'] },
    { properties: { score: { minimum: 4 } } },
    { properties: { score: { enum: [3] } } },
    { properties: { rows: { items: { pattern: '^b' } } } },
    { additionalProperties: false },
    { additionalProperties: { required: ['passed'] } },
    { patternProperties: { '^v': { required: ['passed'] } } },
    { properties: { passed: { const: true } } },
  ])('is not %j', (gate) => {
    expect(toothless(gate, schema)).toBeNull();
  });

  it('is not one that takes what the schema takes as null', () => {
    const maybe = { type: 'boolean', nullable: true };
    expect(toothless({ properties: { maybe: { type: 'boolean' } } }, { properties: { maybe } })).toBeNull();
  });

  it('names what may not be there', () => {
    const gate = { properties: { verdict: { properties: { okay: { const: true } } } } };
    expect(toothless(gate, schema)).toEqual({ forbidden: ['/verdict/okay'] });
  });
});

const names = fc.constantFrom('a', 'b', 'passed');
const scalar = fc.constantFrom<Json>(true, false, null, 1, 'x');
const flat = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 2 }),
  fc.dictionary(names, scalar, { maxKeys: 2 }),
);
const payload = fc.dictionary(names, fc.oneof(flat, fc.dictionary(names, flat, { maxKeys: 2 })), {
  maxKeys: 3,
});
const { part } = fc.letrec<{ part: Json; node: JsonObject }>((tie) => {
  const parts = fc.array(tie('part'), { minLength: 1, maxLength: 2 });
  const keyword = fc.oneof(
    { maxDepth: 3 },
    fc.tuple(fc.constantFrom('description'), fc.constant<Json>('words')),
    fc.tuple(
      fc.constant('type'),
      fc.constantFrom<Json>('object', ['object', 'array', 'boolean', 'null', 'number', 'string']),
    ),
    fc.tuple(fc.constantFrom('const'), scalar),
    fc.tuple(fc.constantFrom('enum'), fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 })),
    fc.tuple(fc.constantFrom('required'), fc.uniqueArray(names, { maxLength: 1 })),
    fc.tuple(fc.constantFrom('minProperties', 'minItems'), fc.constantFrom<Json>(0, 1)),
    fc.tuple(fc.constantFrom('$ref'), fc.constantFrom<Json>('#/$defs/one', '#/$defs/two')),
    fc.tuple(
      fc.constantFrom('properties', 'dependencies'),
      fc.dictionary(names, tie('part'), { maxKeys: 2 }),
    ),
    fc.tuple(fc.constantFrom('allOf', 'anyOf', 'oneOf'), parts),
    fc.tuple(fc.constantFrom('not', 'items', 'propertyNames', 'additionalProperties'), tie('part')),
  );
  return {
    part: fc.oneof({ maxDepth: 3 }, fc.boolean(), fc.constant({}), tie('node')),
    node: fc.array(keyword, { maxLength: 2 }).map((entries): JsonObject => Object.fromEntries(entries)),
  };
});
const few = fc
  .array(
    fc.oneof(
      fc.tuple(fc.constantFrom('properties'), fc.dictionary(names, part, { minKeys: 1, maxKeys: 2 })),
      fc.tuple(fc.constantFrom('allOf', 'anyOf', 'oneOf'), fc.array(part, { minLength: 1, maxLength: 2 })),
      fc.tuple(fc.constantFrom('not', 'additionalProperties'), part),
      fc.tuple(fc.constantFrom('required'), fc.uniqueArray(names, { maxLength: 2 })),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((entries): JsonObject => Object.fromEntries(entries));
const hundred = fc.array(payload, { minLength: 100, maxLength: 100 });
const ajv = () => new Ajv({ ...options, strictSchema: false });
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 300);

/** What a compiled schema says; false where it breaks off. */
function accepts(schema: object): ((value: unknown) => boolean) | null {
  try {
    const validate = ajv().compile(schema);
    return (given) => {
      try {
        return validate(given) === true;
      } catch {
        return false;
      }
    };
  } catch {
    return null;
  }
}

describe('by chance', () => {
  it('whatever is said to ask for nothing accepts a hundred payloads', () => {
    let count = 0;
    fc.assert(
      fc.property(few, part, part, hundred, (root, one, two, payloads) => {
        const gate: JsonObject = { ...root, $defs: { one, two } };
        if (toothless(gate, null) === null) return;
        count += 1;
        const validate = accepts(gate) ?? (() => true);
        for (const given of payloads) if (!validate(given)) expect([gate, given]).toEqual('accepted');
      }),
      { numRuns: RUNS },
    );
    expect(count).toBeGreaterThan(RUNS / 20);
  });

  it('whatever a schema is said to have asked already accepts every payload of it', () => {
    let count = 0;
    fc.assert(
      fc.property(few, few, part, hundred, fc.boolean(), (a, b, one, payloads, isCopy) => {
        const schema: JsonObject = { ...a, $defs: { one, two: true } };
        // A part of the schema itself is often a gate that asks for nothing more.
        const gate: JsonObject = { ...(isCopy ? a : b), $defs: { one, two: true } };
        if (toothless(gate, schema) === null) return;
        count += 1;
        const [judge, validate] = [accepts(schema), accepts(gate)];
        if (judge === null || validate === null) return;
        for (const given of payloads)
          if (judge(given) && !validate(given)) expect([schema, gate, given]).toEqual('accepted');
      }),
      { numRuns: RUNS },
    );
    expect(count).toBeGreaterThan(RUNS / 20);
  });
});
