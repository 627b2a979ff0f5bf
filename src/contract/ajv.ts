/** The validators that schemas are compiled with. */
import { Ajv, type Options } from 'ajv';
import { validateSchema } from './draft-07-meta-schema.ts';

/** Strict, complete and silent: every keyword is known, every issue is reported, nothing is changed or printed. */
export const options: Options = {
  strictSchema: true,
  strictRequired: false,
  strictTypes: false,
  strictTuples: false,
  allowUnionTypes: true,
  ownProperties: true,
  allErrors: true,
  verbose: true,
  logger: false,
  // A validator that sees a handful of payloads is not worth optimizing: a few milliseconds of the start.
  code: { optimize: false },
};

/** The address of the draft-07 meta-schema. */
export const draft07Id = 'http://json-schema.org/draft-07/schema';

/** A new Ajv for draft-07 that does not compile the meta-schema first: that alone took a tenth of the start of a run. */
export function createDraft07(): Ajv {
  const ajv = new Ajv(options);
  const meta = ajv.schemas[draft07Id];
  if (meta !== undefined) meta.validate = validateSchema;
  return ajv;
}

/** A new Ajv for 2020-12, loaded on demand. */
export async function createDraft2020(): Promise<Ajv> {
  const { default: ajv2020 } = await import('ajv/dist/2020.js');
  // Ajv resolves $anchor and yet does not know it as a keyword.
  return new ajv2020.Ajv2020(options).addVocabulary(['$anchor']);
}
