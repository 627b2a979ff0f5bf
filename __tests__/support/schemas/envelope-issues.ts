/** The violations of the published schema in an envelope; the schema is closed and compiled on first use. */
import { compile } from '../../../src/contract/contract.ts';
import { envelopeSchema } from '../../../src/envelope/read.ts';
import type { Issue, JsonObject } from '../../../src/types.ts';

const compiled = await compile(envelopeSchema, 'schema');

/** Returns the issues; none for an envelope of this version. */
export function issuesOf(envelope: JsonObject): readonly Issue[] {
  const validation = compiled.validate(envelope);
  return validation.ok ? [] : validation.issues;
}
