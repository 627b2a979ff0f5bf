/** What is wrong with an envelope by the published schema, which is closed; compiled when it is first needed. */
import { compile } from '../../../src/contract/contract.ts';
import { envelopeSchema } from '../../../src/envelope/schema.ts';
import type { Issue, JsonObject } from '../../../src/types.ts';

const compiled = await compile(envelopeSchema, 'schema', true);

/** The issues; none for what this version writes. */
export function issuesOf(envelope: JsonObject): readonly Issue[] {
  const validation = compiled.validate(envelope);
  return validation.ok ? [] : validation.issues;
}
