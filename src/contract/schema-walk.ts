/** Walks over the subschemas of a schema, so that literals and property names are not mistaken for keywords. */
import { type InexactNumber, isArray, isObject, jsonPointer } from '../text/json.ts';
import { LISTED } from '../text/limits.ts';
import { resolvePointer, shapeOf, subschemas } from '../text/schema-keywords.ts';
import type { Json, JsonObject } from '../types.ts';

/** A subschema with its path of keys and indexes from the root. */
export interface SchemaNode {
  readonly node: JsonObject;
  readonly path: readonly (string | number)[];
}

/** Yields every object where draft-07 or 2020-12 expects a schema, starting with the root; iterative. */
export function* schemaNodes(root: JsonObject): Generator<SchemaNode> {
  const rest: SchemaNode[] = [{ node: root, path: [] }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    yield next;
    for (const [segments, child] of subschemas(next.node))
      if (isObject(child)) rest.push({ node: child, path: [...next.path, ...segments] });
  }
}

/** Follows `#` and `#/…` references from a schema to their target; null when there is none or they are circular. */
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

/** Returns the target of a `#` or `#/…` reference if it is an object; null otherwise. */
export function pointedAt(root: JsonObject, reference: string): JsonObject | null {
  const target = resolvePointer(root, reference);
  return isObject(target) ? target : null;
}

/** Keywords whose values a payload must equal. */
const compared: readonly (string | number)[] = ['const', 'enum'];

/**
 * Returns why a schema must be refused because of an inexact number, as a clause with the fix; null when it may be
 * compiled. In `const` and `enum` a different number would be required than was written, and an infinite one is not
 * valid JSON.
 */
export function inexactObjection(schema: Json, inexact: readonly InexactNumber[]): string | null {
  const found = inexact.find(({ path, number }) => !Number.isFinite(number) || isCompared(schema, path));
  if (found === undefined) return null;
  const { path, number } = found;
  const fix = Number.isFinite(number)
    ? `it would be read as ${number}. Write fewer digits, or declare a string`
    : 'it is too large. Write a smaller number';
  return `has a number at ${describePath(path)} that cannot be represented exactly: ${fix}.`;
}

/** Returns a sentence for each of the first few numbers, and one with the count of the rest. */
export function inexactWarnings(inexact: readonly InexactNumber[]): readonly string[] {
  const more = inexact.length - LISTED.some;
  const warnings = inexact
    .slice(0, LISTED.some)
    .map(
      ({ path, number }) =>
        `The number at ${describePath(path)} in the schema cannot be represented exactly: it is read as ${number}. Write fewer digits.`,
    );
  if (more <= 0) return warnings;
  return [...warnings, `${more} more numbers in the schema cannot be represented exactly.`];
}

/** Follows a path through a schema, so that a property named like a keyword is treated as a property. */
function isCompared(schema: Json, path: InexactNumber['path']): boolean {
  let node: Json | undefined = schema;
  for (let depth = 0; depth < path.length; ) {
    const keyword = path[depth];
    if (typeof keyword !== 'string' || !isObject(node)) return false;
    const value: Json | undefined = node[keyword];
    const shape = value === undefined ? 'literal' : shapeOf(keyword, value);
    // A `$ref` may use a literal such as a default as a schema; there the two keywords count at any depth.
    if (shape === 'literal') return path.slice(depth).some((segment) => compared.includes(segment));
    const inner = path[depth + 1];
    if (shape === 'schema') node = value;
    else if (isArray(value)) node = value[Number(inner)];
    else node = isObject(value) ? value[String(inner)] : undefined;
    depth += shape === 'schema' ? 1 : 2;
  }
  return false;
}

export function describePath(path: InexactNumber['path']): string {
  const pointer = jsonPointer(path);
  return pointer.length > 200 ? `…${pointer.slice(-200)}` : pointer || 'the root';
}
