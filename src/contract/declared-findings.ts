/** The findings that a schema declares: the rows that can be looked up in the judged files. */
import { isObject } from '../text/json.ts';
import type { JsonObject } from '../types.ts';
import { declarations } from './root.ts';
import { withBranches } from './schema-walk.ts';

export interface DeclaredFindings {
  /** The root property that contains the rows. */
  readonly list: string;
  /** The properties that the schema declares for a row; empty if it does not say. */
  readonly properties: readonly string[];
}

const BRANCHES = ['allOf', 'anyOf', 'oneOf'] as const;

/** Returns the list `findings` at the root, or else its only list of rows with a `path`; null if there is neither. */
export function declaredFindings(root: JsonObject): DeclaredFindings | null {
  const lists: DeclaredFindings[] = [];
  for (const [list, declared] of Map.groupBy(declarations(root, BRANCHES), ({ name }) => name)) {
    const schemas = declared.map(({ schema }) => schema);
    const arrays = withBranches(root, schemas, BRANCHES).filter(mayBeArray);
    const items = arrays.map((schema) => schema['items']).filter(isObject);
    const rows = items.flatMap((each) => declarations(root, BRANCHES, each));
    if (arrays.length > 0) lists.push({ list, properties: [...new Set(rows.map(({ name }) => name))] });
  }
  const withPath = lists.filter(({ properties }) => properties.includes('path'));
  const only = withPath.length === 1 ? withPath[0] : undefined;
  return lists.find(({ list }) => list === 'findings') ?? only ?? null;
}

function mayBeArray({ type, $ref, anyOf, oneOf }: JsonObject): boolean {
  if (type !== undefined) return [type].flat().includes('array');
  return $ref === undefined && anyOf === undefined && oneOf === undefined;
}
