import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createDraft07, options } from '../../src/contract/ajv.ts';

const outcome = (ajv: Ajv, schema: object, payload: unknown) => {
  try {
    const validate = ajv.compile(schema);
    return [validate(payload), validate.errors];
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

const both = (schema: object, payload: unknown = {}) => [
  outcome(createDraft07(), schema, payload),
  outcome(new Ajv(options), schema, payload),
];

it('any schema has the same outcome as with an Ajv that compiles its own meta-schema', () => {
  const keyword = fc.constantFrom(
    'type',
    'properties',
    'items',
    'minimum',
    'enum',
    'required',
    '$ref',
    'pattern',
    'x',
  );
  const value = fc.oneof(
    fc.constantFrom<unknown>('string', 'object', '#', '(', 1, -1, true, null),
    fc.array(fc.constantFrom<unknown>('a', 'b', 1), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'type'), fc.constantFrom<unknown>('string', {}, { type: 'x' }, true)),
  );
  fc.assert(
    fc.property(fc.dictionary(keyword, value, { noNullPrototype: true }), (schema) => {
      const [ours, theirs] = both(schema, { a: 'b' });
      expect(ours).toEqual(theirs);
    }),
    { numRuns: 150 },
  );
});
