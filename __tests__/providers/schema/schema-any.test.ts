import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { projectSchema } from '../../../src/providers/schema/project.ts';
import { objectOf } from '../../../src/providers/tool-calls.ts';
import type { Json, JsonObject } from '../../../src/types.ts';
import { testAll } from '../../support/all.ts';
import { wireViolations } from '../../support/schemas/wire-rules.ts';
import { dialects, isAccepted, validatorOfWire } from './validate-wire.ts';

const rows: readonly { schema: JsonObject; expect: string; why: string }[] = JSON.parse(
  readFileSync(new URL('../../fixtures/root-schemas.json', import.meta.url), 'utf8'),
);
const accepted = rows.filter((row) => row.expect === 'accept');

/** The contract's validator in lenient mode: only its result for a payload matters here. */
function validateFully(schema: JsonObject): ((payload: Json) => boolean) | null {
  const is2020 = String(schema['$schema'] ?? '').includes('2020-12');
  const options = { strict: false, validateFormats: false, ownProperties: true, logger: false } as const;
  try {
    const validate = (is2020 ? new Ajv2020(options) : new Ajv(options)).compile(schema);
    return (payload) => isAccepted(() => validate(payload));
  } catch {
    return null;
  }
}

const names = ['a', 'b', '$ref', 'format', 'x y'];
const leaf: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(null, true, 0, 1, 2.5, 'a', 'b', '', [], {});
const payloads: fc.Arbitrary<JsonObject> = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, leaf, tie('object'), fc.array(tie('value'), { maxLength: 3 })),
  object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }),
})).object;

function conditional(condition: Json, consequence: Json): JsonObject {
  return Object.fromEntries([
    ['if', condition],
    ['then', consequence],
    ['else', { not: consequence }],
  ]);
}

const typeNames: readonly Json[] = [
  ...['object', 'string', 'array', 'number'],
  ...[['object', 'null'] as const, ['array', 'string'] as const],
];
const plainKeywords: readonly JsonObject[] = [
  { type: 'string', nullable: true },
  { $comment: 'c' },
  { minProperties: 1 },
  ...['#', '#/definitions/a', '#/definitions/b', '#/properties/a'].map(($ref) => ({ $ref })),
];

/** Schemas with every keyword that the projection treats specially; many contradict themselves. */
function schemas(is2020: boolean): fc.Arbitrary<JsonObject> {
  const nodes = fc.letrec<{ node: Json; map: JsonObject; list: readonly Json[]; keyword: JsonObject }>(
    (tie) => ({
      map: fc.dictionary(fc.constantFrom(...names), tie('node'), { maxKeys: 3 }),
      list: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      keyword: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(...plainKeywords),
        fc.record({ type: fc.constantFrom(...typeNames) }),
        fc.record({ required: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }) }),
        fc.record({ const: payloads }),
        fc.record({ enum: fc.array(fc.oneof(leaf, payloads), { minLength: 1, maxLength: 3 }) }),
        fc.record({ properties: tie('map') }),
        fc.record({ properties: tie('map'), additionalProperties: fc.oneof(fc.boolean(), tie('node')) }),
        fc.record({
          patternProperties: fc.constant({ '^a': { type: 'string' } }),
          additionalProperties: fc.boolean(),
        }),
        ...['allOf', 'anyOf', 'oneOf'].map((name) => fc.record({ [name]: tie('list') })),
        ...['not', 'contains', 'propertyNames'].map((name) => fc.record({ [name]: tie('node') })),
        fc.tuple(tie('node'), tie('node')).map(([first, second]) => conditional(first, second)),
        is2020
          ? fc.record({ type: fc.constant('array'), prefixItems: tie('list'), items: tie('node') })
          : fc.record({ type: fc.constant('array'), items: tie('list'), additionalItems: tie('node') }),
        is2020
          ? fc.record({ unevaluatedProperties: tie('node') })
          : fc.record({ dependencies: fc.oneof(fc.constant({ a: ['b'] }), tie('map')) }),
      ),
      node: fc.oneof(
        { maxDepth: 4 },
        fc.boolean(),
        fc.array(tie('keyword'), { maxLength: 3 }).map((parts): JsonObject => Object.assign({}, ...parts)),
      ),
    }),
  ).node;
  return nodes.chain((node) => {
    const root = objectOf(node);
    const circle = { properties: { a: { $ref: '#' } } };
    return fc.constantFrom<Json[]>({ type: 'string' }, circle, true).map((a): JsonObject => {
      const dialect = is2020 ? { $schema: 'https://json-schema.org/draft/2020-12/schema' } : {};
      const properties = { a: { type: ['string', 'object', 'number'] }, ...objectOf(root['properties']) };
      return { ...dialect, ...root, properties, definitions: { a, b: { not: { $ref: '#/properties/a' } } } };
    });
  });
}

describe('projectSchema', () => {
  it.each(accepted)(
    'projects a root schema to a valid tool that accepts the same payloads: $why',
    ({ schema }) => {
      const validate = validateFully(schema);
      const valid = fc.sample(payloads, { numRuns: 60, seed: 1 }).filter((each) => validate?.(each) === true);
      for (const dialect of dialects) {
        const { parameters } = projectSchema(schema, dialect);
        expect(wireViolations(parameters, dialect)).toEqual([]);
        const wire = validatorOfWire(parameters, dialect);
        expect(valid.filter((each) => !wire(each))).toEqual([]);
      }
    },
  );

  for (const is2020 of [false, true]) {
    it(`projects random ${is2020 ? '2020-12' : 'draft-07'} schemas to valid tools that accept every valid payload`, () => {
      let compared = 0;
      const sample = fc.array(payloads, { minLength: 25, maxLength: 25 });
      const property = fc.property(
        schemas(is2020),
        sample,
        fc.constantFrom(...dialects),
        (schema, candidates, dialect) => {
          const validate = validateFully(schema);
          fc.pre(validate !== null);
          const { parameters } = projectSchema(schema, dialect);
          expect(wireViolations(parameters, dialect)).toEqual([]);
          const wire = validatorOfWire(parameters, dialect);
          for (const candidate of candidates) {
            if (validate?.(candidate) !== true) continue;
            compared += 1;
            expect({ candidate, wire: wire(candidate) }).toEqual({ candidate, wire: true });
          }
        },
      );
      fc.assert(property, { numRuns: testAll ? 1_000 : 50 });
      expect(compared).toBeGreaterThan(10);
    });
  }
});
