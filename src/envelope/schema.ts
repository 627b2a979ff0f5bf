/** The published JSON Schema of an envelope, and the relaxed schema for envelopes of other versions. */
import published from '../../schemas/envelope.schema.json' with { type: 'json' };
import { type Compiled, compile } from '../contract/contract.ts';
import { isArray, isObject } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';

/** The exact format that this version writes: an unknown field is an error. */
export const envelopeSchema: JsonObject = published;

/**
 * Fields that every current envelope has but the first versions did not. A missing `leg` or `vote` means the same as
 * null; the others repeat `num_turns` and `usage`.
 */
const ADDED: readonly Json[] = ['leg', 'vote', 'turns', 'total_input_tokens', 'total_output_tokens'];

let reading: Promise<Compiled> | null = null;

/**
 * Returns the schema for envelopes of other jobs, which may run another minor version: unknown fields are allowed and
 * ignored, since no minor version may add a field that changes the meaning of others. Enumerations stay strict: an
 * envelope with an unknown conclusion, reason or exit code is not accepted as an envelope, and passes nothing.
 */
export function readingSchema(): Promise<Compiled> {
  const { required, ...rest } = envelopeSchema;
  reading ??= compile(
    { ...open(rest), required: isArray(required) ? required.filter((name) => !ADDED.includes(name)) : [] },
    'schema',
  );
  return reading;
}

function open(schema: JsonObject): JsonObject {
  const { additionalProperties: _, ...rest } = schema;
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, openValue(value)]));
}

function openValue(value: Json): Json {
  if (isArray(value)) return value.map(openValue);
  return isObject(value) ? open(value) : value;
}
