/** Reads fields of objects that anybody may have written. */
import { isObject } from '../../text/json.ts';
import type { JsonObject, Usage } from '../../types.ts';

const NOTHING: JsonObject = {};

/** An object's own field that is an object; an empty one otherwise. */
export function objectIn(object: JsonObject, name: string): JsonObject {
  const value = ownOf(object, name);
  return isObject(value) ? value : NOTHING;
}

/** The objects of a field that is a list. */
export function objectsIn(object: JsonObject, name: string): readonly JsonObject[] {
  const value = ownOf(object, name);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A field that is a text; null otherwise. */
export function textIn(object: JsonObject, name: string): string | null {
  const value = ownOf(object, name);
  return typeof value === 'string' ? value : null;
}

/** A field that is a number from 0 on; null otherwise. */
export function countIn(object: JsonObject, name: string): number | null {
  const value = ownOf(object, name);
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** The texts of a field that is a list. */
export function textsIn(object: JsonObject, name: string): readonly string[] {
  const value = ownOf(object, name);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Whether a field is `true`. */
export function flagIn(object: JsonObject, name: string): boolean {
  return ownOf(object, name) === true;
}

/** A field that is tokens as the wire has them; null where it is none. */
export function usageIn(object: JsonObject, name: string): Usage | null {
  const value = ownOf(object, name);
  if (!isObject(value)) return null;
  const tokens = (field: string) => Math.round(countIn(value, field) ?? 0);
  return {
    inputTokens: tokens('input_tokens'),
    outputTokens: tokens('output_tokens'),
    cachedInputTokens: tokens('cached_input_tokens'),
    cacheWriteTokens: tokens('cache_write_tokens'),
  };
}

function ownOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
