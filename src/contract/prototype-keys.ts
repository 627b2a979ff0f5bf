/** Closes a gap of the validator. */
import { isArray, isObject, jsonPointer } from '../text/json.ts';
import type { Issue, Json } from '../types.ts';

interface Place {
  readonly value: Json;
  readonly path: readonly (string | number)[];
}

/**
 * Under `unevaluatedProperties`, Ajv looks names up in a plain object, and so takes keys such as `constructor` or
 * `__proto__` for evaluated ones. The first such key of a payload that no `properties` of the schema declares is an
 * issue; null when there is none. Iterative.
 */
export function unevaluatedPrototypeKey(payload: Json, declared: ReadonlySet<string>): Issue | null {
  const rest: Place[] = [{ value: payload, path: [] }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { value, path } = next;
    if (isObject(value)) {
      const name = Object.keys(value).find((key) => key in Object.prototype && !declared.has(key));
      if (name !== undefined) {
        const message = `the property ${JSON.stringify(name)} is not allowed here; leave it out.`;
        return { path: jsonPointer(path), keyword: 'unevaluatedProperties', message };
      }
      for (const [key, child] of Object.entries(value)) rest.push({ value: child, path: [...path, key] });
    } else if (isArray(value)) {
      for (const [index, child] of value.entries()) rest.push({ value: child, path: [...path, index] });
    }
  }
  return null;
}
