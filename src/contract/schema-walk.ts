/** Walks over the subschemas of a schema, so that literals and property names are not mistaken for keywords. */
import { isObject } from '../text/json.ts';
import { resolvePointer, subschemas } from '../text/schema-keywords.ts';
import type { Json, JsonObject } from '../types.ts';

/** A subschema with its path from the root. */
export interface SchemaNode {
  readonly node: JsonObject;
  readonly path: readonly string[];
}

/** Yields every object where draft-07 or 2020-12 expects a schema, starting with the root; iterative. */
export function* schemaNodes(root: JsonObject): Generator<SchemaNode> {
  const rest: SchemaNode[] = [{ node: root, path: [] }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    yield next;
    for (const [segments, node] of subschemas(next.node))
      rest.push({ node, path: [...next.path, ...segments] });
  }
}

/**
 * Returns schemas with what applies to the same value, in order: the target of a local `$ref`, and the branches under the
 * given keywords, at any level.
 */
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
    const target = typeof $ref === 'string' ? pointedAt(root, $ref) : null;
    const branches = through.flatMap((keyword) => keywords[keyword] ?? []);
    rest.push(target, ...branches.toReversed());
  }
  return [...found];
}

/** Follows `#` and `#/…` references from a schema to their target; null when there is none or they are circular. */
export function resolveLocal(root: JsonObject, schema: JsonObject): JsonObject | null {
  const last = withBranches(root, [schema], []).at(-1);
  return last === undefined || typeof last['$ref'] === 'string' ? null : last;
}

/** Returns the target of a `#` or `#/…` reference if it is an object; null otherwise. */
function pointedAt(root: JsonObject, reference: string): JsonObject | null {
  const target = resolvePointer(root, reference);
  return isObject(target) ? target : null;
}
