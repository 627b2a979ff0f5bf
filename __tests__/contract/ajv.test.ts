import { mkdirSync, writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeMetaSchema } from '../../scripts/meta-schema.ts';
import { createDraft07, options } from '../../src/contract/ajv.ts';

const outcome = (ajv: Ajv, schema: object) => {
  try {
    const validate = ajv.compile(schema);
    return [validate({ a: 'b' }), validate.errors];
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

it('the meta-schema that the build compiles judges any schema as the one that Ajv compiles', async () => {
  // Imported from where the build's module finds its packages.
  const file = new URL('../../build/meta-schema-test.js', import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, makeMetaSchema());
  const { validateSchema } = await import(file.href);
  const createPrecompiled = () => {
    const ajv = new Ajv(options);
    Object.assign(ajv.schemas['http://json-schema.org/draft-07/schema'] ?? {}, { validate: validateSchema });
    return ajv;
  };
  const keywords = 'type properties items minimum enum required $ref pattern x'.split(' ');
  const value = fc.oneof(
    fc.constantFrom<unknown>('string', 'object', '#', '(', 1, -1, true, null),
    fc.array(fc.constantFrom<unknown>('a', 'b', 1), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'type'), fc.constantFrom<unknown>('string', {}, { type: 'x' }, true)),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...keywords), value, { noNullPrototype: true }), (schema) => {
      expect(outcome(createPrecompiled(), schema)).toEqual(outcome(createDraft07(), schema));
    }),
    { numRuns: 150 },
  );
});
