import { mkdirSync, writeFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeMetaSchema } from '../../scripts/meta-schema.ts';
import { createDraft07, options } from '../../src/contract/ajv.ts';

const outcome = (ajv: Ajv, schema: object, payload: unknown) => {
  try {
    const validate = ajv.compile(schema);
    return [validate(payload), validate.errors];
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

/** The module that the build makes, imported from where it finds its packages. */
async function importMetaSchema() {
  const file = new URL('../../build/meta-schema-test.js', import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, makeMetaSchema());
  const { validateSchema } = await import(file.href);
  return validateSchema;
}

/** An Ajv with the precompiled meta-schema. */
function precompiled(validate: ValidateFunction): Ajv {
  const ajv = new Ajv(options);
  const meta = ajv.schemas['http://json-schema.org/draft-07/schema'];
  if (meta === undefined) throw new Error('there is no meta-schema');
  meta.validate = validate;
  return ajv;
}

it('the meta-schema that the build compiles judges any schema as the one that Ajv compiles', async () => {
  const validate = await importMetaSchema();
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
      expect(outcome(precompiled(validate), schema, { a: 'b' })).toEqual(
        outcome(createDraft07(), schema, { a: 'b' }),
      );
    }),
    { numRuns: 150 },
  );
});
