/** The dialects of wire schemas, and validators for them. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Dialect } from '../../../src/providers/schema/project.ts';
import { objectOf } from '../../../src/providers/tool-calls.ts';
import type { Json, JsonObject } from '../../../src/types.ts';
import { asJsonSchema } from '../../support/schemas/wire-rules.ts';

export const dialects: readonly Dialect[] = ['openai', 'anthropic', 'gemini', 'compatible'];

export function validatorOfWire(
  parameters: JsonObject,
  dialect: Dialect,
  validateFormats = false,
): (payload: Json) => boolean {
  const wire = dialect === 'gemini' ? objectOf(asJsonSchema(parameters)) : parameters;
  const loose = { strict: false, validateSchema: false, logger: false } as const;
  const ajv = new Ajv2020({ ...loose, validateFormats, ownProperties: true });
  formats.default(ajv, { mode: 'full' });
  const validate = ajv.compile(wire);
  return (payload) => isAccepted(() => validate(payload));
}

/** A validator that overflows the stack (endless recursion) accepts nothing. */
export function isAccepted(validate: () => unknown): boolean {
  try {
    return validate() === true;
  } catch {
    return false;
  }
}

const lead =
  'These parameters are simplified: the arguments must also satisfy the following keywords of JSON Schema, each line for the place in the parameters that it begins with.';

/** The note that keywords of the root are missing. */
export function noteOf(keywords: JsonObject): string {
  return `${lead}\n# ${JSON.stringify(keywords)}`;
}

/** The lines of a note: places and keywords. */
export function lossesOf(note: string | null): readonly (readonly [pointer: string, keywords: JsonObject])[] {
  const [first, ...lines] = note?.split('\n') ?? [];
  if (note !== null && first !== lead) throw new Error(`Another note: ${note}`);
  return lines.map((line) => [line.slice(0, line.indexOf(' ')), JSON.parse(line.slice(line.indexOf(' ')))]);
}

export function tool(properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...rest };
}
