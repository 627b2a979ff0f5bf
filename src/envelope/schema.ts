/** The published JSON Schema of an envelope, and how strictly the envelopes of other versions are held to it. */
import published from '../../schemas/envelope.schema.json' with { type: 'json' };
import { type Compiled, compile } from '../contract/contract.ts';
import { isArray, isObject } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';

/** What this version writes, exactly: a field that it does not name is an error. */
export const envelopeSchema: JsonObject = published;

/**
 * Fields that every envelope has by now and that the first ones did not have. Without `leg`, `vote` or `reuse` it says
 * the same as with null there; the others repeat `num_turns` and `usage`.
 */
const ADDED: readonly Json[] = ['leg', 'vote', 'reuse', 'turns', 'total_input_tokens', 'total_output_tokens'];

let reading: Promise<Compiled> | null = null;

/**
 * Judges what other jobs wrote, maybe with another minor version: fields that the schema does not name are let pass and
 * never looked at, since no minor version may add one that changes what the others mean. Words are not: an envelope with
 * a conclusion, a reason or an exit code that is not in the table counts as no envelope, which passes nothing.
 */
export function readingSchema(): Promise<Compiled> {
  const { required, ...rest } = envelopeSchema;
  reading ??= compile(
    { ...open(rest), required: isArray(required) ? required.filter((name) => !ADDED.includes(name)) : [] },
    'schema',
    true,
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
