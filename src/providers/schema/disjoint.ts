/** Whether the branches of a `oneOf` can be told from each other at sight, so that `anyOf` says the same. */
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';
import { typeOf, typesOf } from './plain.ts';

/** Whether no value can match two of the branches, because of their types, their literals or a tag in each. */
export function areDisjoint(branches: readonly Json[]): boolean {
  return haveOwnTypes(branches) || haveOwnLiterals(branches) || haveOwnTags(branches);
}

function haveOwnTypes(branches: readonly Json[]): boolean {
  const types = branches.flatMap((branch) => [...new Set(typesIn(branch).map(numeric))]);
  return new Set(types).size === types.length;
}

function typesIn(branch: Json): readonly string[] {
  const literals = literalsOf(branch);
  return literals === null ? typesOf(isObject(branch) ? branch['type'] : undefined) : literals.map(typeOf);
}

function numeric(type: string): string {
  return type === 'integer' ? 'number' : type;
}

function haveOwnLiterals(branches: readonly Json[]): boolean {
  const lists = branches.map(literalsOf);
  const literals = lists.flatMap((list) => [...new Set((list ?? []).map((each) => JSON.stringify(each)))]);
  return lists.every((list) => list !== null) && new Set(literals).size === literals.length;
}

function literalsOf(schema: Json | undefined): readonly Json[] | null {
  if (!isObject(schema)) return null;
  if (schema['const'] !== undefined) return [schema['const']];
  return isArray(schema['enum']) ? schema['enum'] : null;
}

/** A property that all branches ask for, each with another string. */
function haveOwnTags(branches: readonly Json[]): boolean {
  const [first, ...others] = branches.map(tagsOf);
  if (first === undefined) return false;
  return [...first].some(([name, value]) => {
    const values = [value, ...others.map((tags) => tags.get(name))];
    return values.every((each) => each !== undefined) && new Set(values).size === values.length;
  });
}

function tagsOf(branch: Json): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  if (!isObject(branch) || branch['type'] !== 'object') return tags;
  const { properties, required }: JsonObject = branch;
  for (const name of isArray(required) ? required : []) {
    if (typeof name !== 'string' || !isObject(properties) || !Object.hasOwn(properties, name)) continue;
    const [value, ...more] = literalsOf(properties[name]) ?? [];
    if (typeof value === 'string' && more.length === 0) tags.set(name, value);
  }
  return tags;
}
