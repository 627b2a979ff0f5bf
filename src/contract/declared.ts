/** What a schema declares at its root: the names of properties, and which of them are booleans. */
import { isArray, isObject } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';
import { resolveLocal } from './keywords.ts';

/** A property with the schema that declares it. */
export interface Declaration {
  readonly name: string;
  readonly schema: Json;
}

type Branching = 'allOf' | 'anyOf' | 'oneOf';

/**
 * The properties declared at the root and, through any level of the given branchings, in branches of the root; a
 * branch that is a local `$ref` counts as what it names. A name may come several times.
 */
export function declarations(root: JsonObject, through: readonly Branching[]): readonly Declaration[] {
  const found: Declaration[] = [];
  const seen = new Set<JsonObject>();
  // A stack with the branches pushed in reverse keeps the order of the text.
  const rest: JsonObject[] = [root];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (isObject(next['properties'])) {
      for (const [name, schema] of Object.entries(next['properties'])) found.push({ name, schema });
    }
    const branches = through.flatMap((keyword) => listed(next[keyword]));
    const target = next === root ? null : resolveLocal(root, next);
    for (const branch of [...branches, ...(target === null ? [] : [target])].reverse()) rest.push(branch);
  }
  return found;
}

/** The names declared at a schema's root and its `allOf`, `anyOf` and `oneOf` branches, in order, each once. */
export function declaredProperties(root: JsonObject): readonly string[] {
  return [...new Set(declarations(root, ['allOf', 'anyOf', 'oneOf']).map(({ name }) => name))];
}

/** The names among them whose schema says that they are booleans. */
export function declaredBooleans(root: JsonObject): readonly string[] {
  const all = declarations(root, ['allOf', 'anyOf', 'oneOf']);
  return [...new Set(all.filter(({ schema }) => isBoolean(schema, root)).map(({ name }) => name))];
}

function isBoolean(schema: Json, root: JsonObject): boolean {
  const target = isObject(schema) ? resolveLocal(root, schema) : null;
  if (target === null) return false;
  const { type } = target;
  if (type === 'boolean' || (isArray(type) && type.includes('boolean'))) return true;
  if (typeof target['const'] === 'boolean') return true;
  const members = target['enum'];
  return isArray(members) && members.length > 0 && members.every((each) => typeof each === 'boolean');
}

function listed(branches: Json | undefined): readonly JsonObject[] {
  return isArray(branches) ? branches.filter(isObject) : [];
}

/** Whether a schema forbids what it does not declare by name. */
export function isClosed({ additionalProperties, patternProperties }: JsonObject): boolean {
  const hasPatterns = isObject(patternProperties) && Object.keys(patternProperties).length > 0;
  return additionalProperties === false && !hasPatterns;
}

/** Whether a schema itself declares a property, its branches aside. */
export function declares({ properties }: JsonObject, name: string): boolean {
  return isObject(properties) && Object.hasOwn(properties, name);
}

/** The names in a schema's own `required`. */
export function requiredProperties({ required }: JsonObject): readonly string[] {
  return isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}
