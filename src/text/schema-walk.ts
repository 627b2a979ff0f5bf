/** Finds the subschemas inside a schema. Everything else is a literal, whatever its keys are called. */

import type { Json, JsonObject } from '../types.ts';
import { isArray, isObject } from './json.ts';

type Shape = 'schema' | 'list' | 'map' | 'literal';

const SCHEMAS: ReadonlySet<string> = new Set([
  ...['additionalItems', 'additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not'],
  ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
]);
/** `items` is a list in draft-07 tuples. */
const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
const MAPS: ReadonlySet<string> = new Set([
  ...['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'],
]);

/** Returns the shape of a keyword's value, given that value. */
export function shapeOf(keyword: string, value: Json): Shape {
  if (isArray(value)) return LISTS.has(keyword) ? 'list' : 'literal';
  if (isObject(value) && MAPS.has(keyword)) return 'map';
  return SCHEMAS.has(keyword) ? 'schema' : 'literal';
}

/** Yields the direct subschemas of a schema that are objects, with their paths. */
export function* subschemas(node: JsonObject): Generator<[path: readonly string[], schema: JsonObject]> {
  for (const [keyword, value] of Object.entries(node)) {
    const shape = shapeOf(keyword, value);
    if (shape === 'schema' && isObject(value)) yield [[keyword], value];
    if (shape !== 'list' && shape !== 'map') continue;
    for (const [name, child] of Object.entries<Json>(Object(value)))
      if (isObject(child)) yield [[keyword, name], child];
  }
}

/** Resolves a `#` or `#/…` reference; undefined for any other reference, and when the target does not exist. */
export function resolvePointer(root: JsonObject, reference: string): Json | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let current: Json | undefined = root;
  for (const segment of reference.split('/').slice(1)) {
    const key = decodeSegment(segment);
    if (isArray(current)) current = current[Number(key)];
    else current = isObject(current) && Object.hasOwn(current, key) ? current[key] : undefined;
  }
  return current;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return segment;
  }
}

/** Returns schemas with the targets of local `$ref`s and the branches under these keywords, at any level, in order. */
export function withBranches(
  root: JsonObject,
  schemas: readonly Json[],
  through: readonly ('allOf' | 'anyOf' | 'oneOf')[],
): readonly JsonObject[] {
  const found = new Set<JsonObject>();
  // Pushed in reverse, so that the stack preserves the order of the document.
  const rest = schemas.toReversed();
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (!isObject(next) || found.has(next)) continue;
    found.add(next);
    const { $ref, ...keywords } = next;
    const target = typeof $ref === 'string' ? resolvePointer(root, $ref) : null;
    const branches = through.flatMap((keyword) => keywords[keyword] ?? []);
    rest.push(target ?? null, ...branches.toReversed());
  }
  return [...found];
}

/** Follows `#` and `#/…` references from a schema to their target; null when there is none or they are circular. */
export function resolveLocal(root: JsonObject, schema: JsonObject): JsonObject | null {
  const last = withBranches(root, [schema], []).at(-1);
  return last === undefined || typeof last['$ref'] === 'string' ? null : last;
}
