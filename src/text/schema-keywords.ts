/** Finds the subschemas inside a schema. Everything else is a literal, whatever its keys are called. */

import type { Json, JsonObject } from '../types.ts';
import { isArray, isObject } from './json.ts';

export type Shape = 'schema' | 'list' | 'map' | 'literal';

const keywordsByShape: Readonly<Record<Exclude<Shape, 'literal'>, readonly string[]>> = {
  schema: [
    ...['additionalItems', 'additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not'],
    ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
  ],
  list: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  map: ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'],
};

const shapes = new Map(
  (['schema', 'list', 'map'] as const).flatMap((shape) =>
    keywordsByShape[shape].map((keyword): [string, Shape] => [keyword, shape]),
  ),
);

/** Returns the shape of a keyword's value, given that value: `items` is a list in draft-07 tuples. */
export function shapeOf(keyword: string, value: Json): Shape {
  const shape = shapes.get(keyword) ?? 'literal';
  if (keyword === 'items' && isArray(value)) return 'list';
  if (shape === 'list') return isArray(value) ? shape : 'literal';
  if (shape === 'map') return isObject(value) ? shape : 'literal';
  return shape;
}

/** Yields the direct subschemas of a schema with their paths. A draft-07 dependency that lists names is not one. */
export function* subschemas(node: JsonObject): Generator<[path: readonly (string | number)[], schema: Json]> {
  for (const [keyword, value] of Object.entries(node)) {
    const shape = shapeOf(keyword, value);
    if (shape === 'schema') yield [[keyword], value];
    if (shape === 'list' && isArray(value))
      for (const [index, child] of value.entries()) yield [[keyword, index], child];
    if (shape === 'map' && isObject(value))
      for (const [name, child] of Object.entries(value)) if (!isArray(child)) yield [[keyword, name], child];
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
