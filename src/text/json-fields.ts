/** Reads fields of untrusted objects: the type of each is checked, and only own properties count. */
import type { JsonObject, Usage } from '../types.ts';
import { isObject } from './json.ts';

/** Returns a field that is an object; null otherwise. */
export function findObject(object: JsonObject, name: string): JsonObject | null {
  const value = readOwn(object, name);
  return isObject(value) ? value : null;
}

/** Returns a field that is an object; an empty object otherwise. */
export function readObject(object: JsonObject, name: string): JsonObject {
  return findObject(object, name) ?? {};
}

/** Returns the objects in a field that is a list; an empty list otherwise. */
export function readObjects(object: JsonObject, name: string): readonly JsonObject[] {
  const value = readOwn(object, name);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns a field that is a string; null otherwise. */
export function readText(object: JsonObject, name: string): string | null {
  const value = readOwn(object, name);
  return typeof value === 'string' ? value : null;
}

/** Returns a field that is a number from 0 to the largest safe integer; null otherwise. */
export function readCount(object: JsonObject, name: string): number | null {
  const value = readOwn(object, name);
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** Whether a field is `true`. */
export function readFlag(object: JsonObject, name: string): boolean {
  return readOwn(object, name) === true;
}

/** Returns a field that holds token counts in the envelope's format; null when it is not an object. */
export function readUsage(object: JsonObject, name: string): Usage | null {
  const value = findObject(object, name);
  if (value === null) return null;
  const tokens = (field: string) => Math.round(readCount(value, field) ?? 0);
  return {
    inputTokens: tokens('input_tokens'),
    outputTokens: tokens('output_tokens'),
    cachedInputTokens: tokens('cached_input_tokens'),
    cacheWriteTokens: tokens('cache_write_tokens'),
  };
}

/** Returns the value of an own field; undefined when it is inherited or missing. */
function readOwn(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
