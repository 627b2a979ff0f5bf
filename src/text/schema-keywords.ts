/** Where schemas stand inside a schema; everything else in it is a literal, whatever its keys are called. */

import type { Json } from '../types.ts';
import { isArray, isObject } from './json.ts';

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
