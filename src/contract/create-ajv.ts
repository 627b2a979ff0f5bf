/** The Ajv instances that compile schemas. */
import { Ajv, type Options } from 'ajv';
import { validateSchema } from './draft-07-meta-schema.ts';

/** Strict, complete and silent: unknown keywords are refused, all errors are reported, nothing is modified. */
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
  // A validator that checks a handful of payloads is not worth optimizing, which takes a few milliseconds at the start.
  code: { optimize: false },
};

/** Creates an Ajv for draft-07 with the meta-schema that the build compiled, which would take a tenth of the start. */
export function createDraft07(): Ajv {
  const ajv = new Ajv(options);
  const meta = ajv.schemas['http://json-schema.org/draft-07/schema'];
  if (meta !== undefined && validateSchema !== null) meta.validate = validateSchema;
  return ajv;
}

/** Creates an Ajv for 2020-12, imported on demand. */
export async function createDraft2020(): Promise<Ajv> {
  const { default: ajv2020 } = await import('ajv/dist/2020.js');
  // Ajv resolves $anchor but does not recognize it as a keyword.
  return new ajv2020.Ajv2020(options).addVocabulary(['$anchor']);
}
