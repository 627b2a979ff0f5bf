/** The findings that a schema declares: the rows that can be looked up in the judged files. */
import { isArray, isObject } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';
import { declarations } from './root.ts';
import { resolveLocal } from './schema-walk.ts';

export interface DeclaredFindings {
  /** The root property that contains the rows. */
  readonly list: string;
  /** The properties that the schema declares for a row; empty if it does not say. */
  readonly properties: readonly string[];
}

const BRANCHES = ['allOf', 'anyOf', 'oneOf'] as const;

/**
 * Returns the findings that a schema declares: the list `findings` at its root, or else its only list of rows with a
 * `path`. null if there is neither.
 */
export function declaredFindings(root: JsonObject): DeclaredFindings | null {
  const lists = new Map<string, Set<string>>();
  for (const { name, schema } of declarations(root, BRANCHES)) {
    const properties = propertiesOfRows(schema, root);
    if (properties === null) continue;
    const known = lists.get(name) ?? new Set();
    for (const property of properties) known.add(property);
    lists.set(name, known);
  }
  const named = lists.get('findings');
  if (named !== undefined) return { list: 'findings', properties: [...named] };
  const [only, ...others] = [...lists].filter(([, properties]) => properties.has('path'));
  return only === undefined || others.length > 0 ? null : { list: only[0], properties: [...only[1]] };
}

/** Returns the declared properties of the rows of a list; null if the value cannot be a list. */
function propertiesOfRows(schema: Json, root: JsonObject): readonly string[] | null {
  const parts = isObject(schema) ? alternatives(schema, root) : [];
  const lists = parts.filter(({ type }) => type === undefined || [type].flat().includes('array'));
  // A schema whose alternatives are all of another type, such as a text or null.
  if (lists.length === 0) return null;
  return lists.flatMap(({ items }) =>
    isObject(items) ? declarations(root, BRANCHES, items).map(({ name }) => name) : [],
  );
}

/** The alternatives of a schema, such as a list or null; a schema without any is the only one. */
function alternatives(schema: JsonObject, root: JsonObject): readonly JsonObject[] {
  const target = resolveLocal(root, schema);
  if (target === null) return [];
  const branches = [target['anyOf'], target['oneOf']].flatMap((each) =>
    isArray(each) ? each.filter(isObject) : [],
  );
  if (branches.length === 0) return [target];
  return branches.map((branch) => resolveLocal(root, branch)).filter((each) => each !== null);
}
