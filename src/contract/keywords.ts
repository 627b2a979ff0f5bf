/** Where schemas stand inside a schema, so that literals and names of properties are never taken for keywords. */
import { isArray, isObject } from '../text/json.ts';
import { shapeOf } from '../text/schema-keywords.ts';
import type { Json, JsonObject } from '../types.ts';

/** A schema inside a schema, with its path of keys and indexes from the root. */
export interface SchemaNode {
  readonly node: JsonObject;
  readonly path: readonly (string | number)[];
}

/** Every object that stands where draft-07 or 2020-12 expects a schema, the root first; iterative. */
export function* schemaNodes(root: JsonObject): Generator<SchemaNode> {
  const rest: SchemaNode[] = [{ node: root, path: [] }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    yield next;
    for (const [keyword, value] of Object.entries(next.node)) {
      for (const [segments, child] of children(keyword, value)) {
        if (isObject(child)) rest.push({ node: child, path: [...next.path, ...segments] });
      }
    }
  }
}

function* children(keyword: string, value: Json): Generator<[readonly (string | number)[], Json]> {
  const shape = shapeOf(keyword, value);
  if (shape === 'schema') yield [[keyword], value];
  if (shape === 'list' && isArray(value))
    for (const [index, child] of value.entries()) yield [[keyword, index], child];
  if (shape === 'map' && isObject(value))
    for (const [name, child] of Object.entries(value)) yield [[keyword, name], child];
}

/** Follows `#` and `#/…` references from a schema to the one they name; null where that leads nowhere or in a circle. */
export function resolveLocal(root: JsonObject, schema: JsonObject): JsonObject | null {
  const seen = new Set<JsonObject>();
  let current = schema;
  while (typeof current['$ref'] === 'string') {
    if (seen.has(current)) return null;
    seen.add(current);
    const target = pointedAt(root, current['$ref']);
    if (target === null) return null;
    current = target;
  }
  return current;
}

/** The object that a `#` or `#/…` reference names; null for any other, and where there is none. */
export function pointedAt(root: JsonObject, reference: string): JsonObject | null {
  if (reference !== '#' && !reference.startsWith('#/')) return null;
  let current: Json | undefined = root;
  for (const segment of reference.split('/').slice(1)) {
    const key = unescaped(segment);
    if (isArray(current)) current = current[Number(key)];
    else if (isObject(current) && Object.hasOwn(current, key)) current = current[key];
    else return null;
  }
  return isObject(current) ? current : null;
}

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return segment;
  }
}
