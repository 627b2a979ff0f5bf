/** The keywords of a schema as they concern what goes to a provider. */
import { isArray, isObject } from '../../text/json.ts';
import { type Shape, shapeOf } from '../../text/schema-keywords.ts';
import type { Json, JsonObject } from '../../types.ts';

/** Keywords that identify or comment: references are spelled as pointers, and providers refuse some of these. */
export const identifying = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$vocabulary',
  '$comment',
]);

/** The schemas directly inside a schema; a draft-07 dependency that is a list of names is none. */
export function subschemas(node: JsonObject): readonly Json[] {
  return Object.entries(node).flatMap(([keyword, value]) => inside(shapeOf(keyword, value), value));
}

function inside(shape: Shape, value: Json): readonly Json[] {
  if (shape === 'schema') return [value];
  if (shape === 'list') return isArray(value) ? value : [];
  return shape === 'map' && isObject(value) ? Object.values(value).filter((each) => !isArray(each)) : [];
}
