/** The dialects of wire schemas, and what a wire schema accepts. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { objectOf } from '../../../src/providers/reading.ts';
import type { Dialect } from '../../../src/providers/schema/project.ts';
import type { Json, JsonObject } from '../../../src/types.ts';
import { asJsonSchema } from '../../support/schemas/wire-rules.ts';

export const dialects: readonly Dialect[] = ['openai', 'anthropic', 'gemini', 'compatible'];

export function wireJudge(parameters: JsonObject, dialect: Dialect = 'openai'): (payload: Json) => boolean {
  const wire = dialect === 'gemini' ? objectOf(asJsonSchema(parameters)) : parameters;
  const validate = new Ajv2020({
    strict: false,
    validateFormats: false,
    ownProperties: true,
    validateSchema: false,
  }).compile(wire);
  return (payload) => verdict(() => validate(payload));
}

/** A validator that overflows the stack (endless recursion) accepts nothing. */
export function verdict(validate: () => unknown): boolean {
  try {
    return validate() === true;
  } catch {
    return false;
  }
}
