/** Paths of a payload as logs, transcripts and envelopes may hold them: keys that the model chose are left out. */
import { isArray, isObject, jsonPointer } from '../text/json.ts';
import type { Json } from '../types.ts';

/** Keys, and indexes of arrays as numbers, from the root. */
export type PayloadPath = readonly (string | number)[];

/**
 * The JSON Pointer of a path with `*` for every key that the schema does not declare under `properties`: such a key is text
 * of the model, as a value is. Indexes of arrays stay.
 */
export function redactPath(path: PayloadPath, declared: ReadonlySet<string>): string {
  return jsonPointer(
    path.map((segment) => (typeof segment === 'number' || declared.has(segment) ? segment : '*')),
  );
}

/** The path that a JSON Pointer names in a value; what leads nowhere counts as a key. */
export function pathIn(value: Json, pointer: string): PayloadPath {
  let current: Json | undefined = value;
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => {
      const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
      if (isArray(current) && /^\d+$/.test(key)) {
        current = current[Number(key)];
        return Number(key);
      }
      current = isObject(current) && Object.hasOwn(current, key) ? current[key] : undefined;
      return key;
    });
}
