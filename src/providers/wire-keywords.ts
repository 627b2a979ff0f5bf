/** Where schemas stand inside a schema; everything else in it is a literal, whatever its keys are called. */
import { isArray, isObject } from '../json.ts';
import type { Json, JsonObject } from '../types.ts';

/** Keywords that identify or comment: references are spelled as pointers, and providers refuse some of these. */
export const identifying = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$vocabulary',
  '$comment',
]);

/** What a keyword's value is made of. */
export type Shape = 'schema' | 'list' | 'map' | 'literal';

const shapes: ReadonlyMap<string, Shape> = new Map([
  ...[
    'additionalItems',
    'additionalProperties',
    'contains',
    'contentSchema',
    'else',
    'if',
    'items',
    'not',
  ].map((keyword): [string, Shape] => [keyword, 'schema']),
  ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'].map(
    (keyword): [string, Shape] => [keyword, 'schema'],
  ),
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((keyword): [string, Shape] => [keyword, 'list']),
  ...['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'].map(
    (keyword): [string, Shape] => [keyword, 'map'],
  ),
]);

/** The shape of a keyword's value, given that value: `items` is a list in draft-07 tuples. */
export function shapeOf(keyword: string, value: Json): Shape {
  const shape = shapes.get(keyword) ?? 'literal';
  if (keyword === 'items' && isArray(value)) return 'list';
  if (shape === 'list') return isArray(value) ? shape : 'literal';
  if (shape === 'map') return isObject(value) ? shape : 'literal';
  return shape;
}

/** The schemas directly inside a schema; a draft-07 dependency that is a list of names is none. */
export function subschemas(node: JsonObject): readonly Json[] {
  return Object.entries(node).flatMap(([keyword, value]) => inside(shapeOf(keyword, value), value));
}

function inside(shape: Shape, value: Json): readonly Json[] {
  if (shape === 'schema') return [value];
  if (shape === 'list') return isArray(value) ? value : [];
  return shape === 'map' && isObject(value) ? Object.values(value).filter((each) => !isArray(each)) : [];
}
