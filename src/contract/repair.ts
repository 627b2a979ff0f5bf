/** Repairs two kinds of almost valid payloads, and nothing else. */
import type { ErrorObject } from 'ajv';
import { isArray, isDeeperThan, isObject, jsonPointer, parseStrictJson } from '../text/json.ts';
import { JSON_TEXT } from '../text/limits.ts';
import type { Json, JsonObject, Repair } from '../types.ts';
import type { Compiled } from './compile.ts';

/** A repaired payload that the schema accepts, and the repair. */
export interface Repaired {
  readonly payload: JsonObject;
  readonly repaired: Repair;
}

/** Keys in which models wrap the arguments of a tool. */
const WRAPPERS = ['output', 'arguments', 'input', '$PARAMETER_NAME'];

/** Returns the object under the only key of a rejected one, if the key is a wrapper's or the title of the schema. */
export function unwrap(value: JsonObject, { schema, validate }: Compiled): Repaired | null {
  const [key = '', ...others] = Object.keys(value);
  const inner = value[key];
  if (others.length > 0 || !(WRAPPERS.includes(key) || key === schema['title'])) return null;
  if (!isObject(inner) || !validate(inner).ok) return null;
  return { payload: inner, repaired: { kind: 'unwrapped', key } };
}

/** Parses the JSON strings of a rejected value, if there an object or array is required and the schema accepts the result. */
export function parseStrings(
  value: Json,
  errors: readonly Pick<ErrorObject, 'instancePath' | 'keyword' | 'params' | 'data'>[],
  { validate }: Compiled,
): Repaired | null {
  const held = new Map<string, Json>();
  for (const { instancePath, keyword, params, data } of errors) {
    if (keyword !== 'type' || typeof data !== 'string') continue;
    const inner = containerIn(data);
    const wanted: unknown[] = [params['type']].flat();
    if (inner !== null && wanted.includes(isArray(inner) ? 'array' : 'object')) held.set(instancePath, inner);
  }
  const payload = held.size === 0 ? null : replaceStrings(value, '', held);
  if (!isObject(payload) || isDeeperThan(payload, JSON_TEXT.payloadDepth) || !validate(payload).ok)
    return null;
  return { payload, repaired: { kind: 'parsed', paths: [...held.keys()] } };
}

/** Parses an object or array from a string; null for anything else, without parsing prose and numbers. */
function containerIn(text: string): Json {
  const parsed = /^[ \t\r\n]*[[{]/.test(text) ? parseStrictJson(text) : { ok: false as const };
  return parsed.ok ? parsed.value : null;
}

/** `Object.fromEntries` makes `__proto__` an ordinary own key. */
function replaceStrings(value: Json, path: string, held: ReadonlyMap<string, Json>): Json {
  if (typeof value === 'string') return held.get(path) ?? value;
  const replace = (child: Json, key: string | number) =>
    replaceStrings(child, `${path}${jsonPointer([key])}`, held);
  if (isArray(value)) return value.map(replace);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, replace(child, key)]));
}
