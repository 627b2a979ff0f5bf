/** What a schema declares: properties, the outputs they get, and findings. */
import { isArray, isObject } from '../text/json.ts';
import { quote } from '../text/messages.ts';
import { resolveLocal, withBranches } from '../text/schema-walk.ts';
import type { Json, JsonObject } from '../types.ts';

interface Declaration {
  readonly name: string;
  readonly schema: Json;
}

const BRANCHES = ['allOf', 'anyOf', 'oneOf'] as const;

/**
 * Returns the properties declared at the root and, through any level of the given keywords, in its branches. A name may
 * occur several times.
 * @param start the subschema to start from
 */
export function declarations(
  root: JsonObject,
  through: readonly (typeof BRANCHES)[number][],
  start: JsonObject = root,
): readonly Declaration[] {
  return withBranches(root, [start], through)
    .flatMap(({ properties }) => (isObject(properties) ? Object.entries(properties) : []))
    .map(([name, schema]) => ({ name, schema }));
}

/** Returns the names declared at the root and in its `allOf`, `anyOf` and `oneOf` branches, in order and once. */
export function declaredProperties(root: JsonObject, start: JsonObject = root): readonly string[] {
  return [...new Set(declarations(root, BRANCHES, start).map(({ name }) => name))];
}

/** Returns the declared names whose schema says that they are booleans. */
export function declaredBooleans(root: JsonObject): readonly string[] {
  const all = declarations(root, BRANCHES);
  return [...new Set(all.filter(({ schema }) => isBoolean(schema, root)).map(({ name }) => name))];
}

function isBoolean(schema: Json, root: JsonObject): boolean {
  const { type, const: value, enum: values } = (isObject(schema) && resolveLocal(root, schema)) || {};
  if ([type ?? null].flat().includes('boolean') || typeof value === 'boolean') return true;
  return isArray(values) && values.length > 0 && values.every((each) => typeof each === 'boolean');
}

/** Whether a schema forbids properties that it does not declare by name. */
export function isClosed({ additionalProperties, patternProperties }: JsonObject): boolean {
  const hasPatterns = isObject(patternProperties) && Object.keys(patternProperties).length > 0;
  return additionalProperties === false && !hasPatterns;
}

/** Whether a schema declares a property itself, not in its branches. */
export function declares({ properties }: JsonObject, name: string): boolean {
  return isObject(properties) && Object.hasOwn(properties, name);
}

/** Returns the names in a schema's own `required`. */
export function requiredProperties({ required }: JsonObject): readonly string[] {
  return isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

/**
 * Returns the names that get their own output, in order, and a warning for each other one: an output has a valid name, no
 * two names differ only in case (the runner's are case-insensitive), and none is that of a run's own output.
 */
export function outputNames(declared: readonly string[]) {
  const spellings = Map.groupBy(declared, (name) => name.toLowerCase());
  const names: string[] = [];
  const warnings: string[] = [];
  for (const name of declared) {
    const other = spellings.get(name.toLowerCase())?.find((each) => each !== name);
    const objection = objectionTo(name, other);
    if (objection === null) names.push(name);
    else
      warnings.push(
        `The property ${quote(name)} gets no step output of its own: ${objection}. Read it from structured_output.`,
      );
  }
  return { names, warnings };
}

function objectionTo(name: string, other: string | undefined): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name))
    return 'the name of an output is a letter or underscore, then letters, digits, underscores and hyphens';
  if (name.toLowerCase() === 'structured_output') return 'structured_output holds the whole payload';
  if (name.toLowerCase().startsWith('run-')) return 'names that begin with run- tell about the run';
  return other === undefined ? null : `outputs ignore case, and ${quote(other)} is declared too`;
}

export interface DeclaredFindings {
  /** The root property that contains the rows. */
  readonly list: string;
  /** The properties that the schema declares for a row; empty if it does not say. */
  readonly properties: readonly string[];
}

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

/** Names and texts that mean that something passes. */
export const PASSING =
  /^(?:is_?)?(?:pass(?:ed|es)?|ok|okay|approved?|accept(?:ed)?|success|safe(?:_to_merge)?|ready|green)$/iu;

/** Returns the listed texts with a value like `pass`, each with the gate that requires it. */
export function gatesOfTexts(schema: JsonObject): readonly (readonly [name: string, gate: string])[] {
  return declarations(schema, ['allOf', 'anyOf', 'oneOf']).flatMap(({ name, schema: own }) => {
    const values = withBranches(schema, [own], []).flatMap((part) => part['enum'] ?? []);
    const good = values.find((each) => typeof each === 'string' && PASSING.test(each));
    const gate = JSON.stringify({ properties: { [name]: { const: good } } });
    return good === undefined ? [] : [[name, gate] as const];
  });
}
