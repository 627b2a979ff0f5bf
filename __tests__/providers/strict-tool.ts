/** What the tests of the strict dialects have in common. */
import type { JsonObject } from '../../src/types.ts';

export const lead =
  'These parameters are simplified. The arguments must also satisfy the following, to be read as a JSON Schema laid over the parameters, keyword by keyword: ';

/** What the note holds; null where there is none. */
export function lostOf(note: string | null): JsonObject | null {
  return note === null ? null : JSON.parse(note.slice(lead.length));
}

export function tool(properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...rest };
}

export const anyType = ['string', 'number', 'boolean', 'object', 'array', 'null'];
