/** Checks whether the root of a schema can accept an object: tool arguments are always objects. Best effort. */
import { isArray, isObject, jsonPointer } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote, truncate } from '../text/messages.ts';
import type { Json, JsonObject } from '../types.ts';
import { resolveLocal, withBranches } from './schema-walk.ts';

type Path = readonly (string | number)[];

/** Keywords that restrict nothing: `not` around `type` and these still refuses every object. */
const ANNOTATIONS =
  /^(?:type|\$comment|default|deprecated|description|examples|nullable|readOnly|title|writeOnly)$/;

/**
 * Returns why the root of a schema never accepts an object, as a sentence with the fix; null when it may. Branches are
 * followed, but not `$ref` inside them or `if` with a schema. The schema must not be nested deeper than
 * `JSON_TEXT.depth`.
 */
export function rootObjection(schema: JsonObject): string | null {
  const { $ref } = schema;
  if (typeof $ref === 'string')
    return $ref.startsWith('#/')
      ? `has a $ref at its root, which model APIs refuse. Wrap it: {"allOf": [{"$ref": ${quote($ref, DISPLAY.value)}}], …}.`
      : 'has a $ref at its root. Copy what it leads to here: nothing is read from elsewhere.';
  const objection = refusal(schema, []);
  if (objection === null) return null;
  return `can never accept an object at its root, and a payload is always an object: ${objection}. Give the root "type": "object"; to deliver another value, put it into a property.`;
}

/** Returns why a branch never accepts an object; null when it may. Recursion is bounded by the depth of the schema. */
function refusal(branch: Json, path: Path): string | null {
  if (branch === true) return null;
  if (branch === false) return `${describePath(path)} is false, which accepts nothing`;
  if (!isObject(branch)) return `${describePath(path)} is neither an object nor a boolean`;
  return ownRefusal(branch, path) ?? anyRefusal(branch, path) ?? allRefusal(branch, path);
}

/** Whether a `type` allows objects. */
function includesObject(type: Json | undefined): boolean {
  return [type ?? null].flat().includes('object');
}

function ownRefusal(branch: JsonObject, path: Path): string | null {
  const { type, const: value, enum: values, not } = branch;
  const at = (keyword: string) => describePath([...path, keyword]);
  if (type !== undefined && !includesObject(type))
    return `${at('type')} is ${truncate(JSON.stringify(type), DISPLAY.value)}, without "object"`;
  if (value !== undefined && !isObject(value)) return `${at('const')} is not an object`;
  if (isArray(values) && !values.some(isObject)) return `${at('enum')} lists no object`;
  const rulesOut =
    isObject(not) &&
    includesObject(not['type']) &&
    Object.keys(not).every((keyword) => ANNOTATIONS.test(keyword));
  return rulesOut ? `${at('not')} rules out every object` : null;
}

/** Returns why no branch of an `anyOf` or `oneOf` accepts an object; an empty one has no branch. */
function anyRefusal(branch: JsonObject, path: Path): string | null {
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = branch[keyword];
    if (!isArray(branches)) continue;
    const where = [...path, keyword];
    const refusals = branches.map((each, index) => refusal(each, [...where, index]));
    if (!refusals.includes(null))
      return `no branch of ${describePath(where)} admits an object (${refusals[0] ?? 'it is empty'})`;
  }
  return null;
}

/** Returns why a branch that always applies never accepts an object: one of `allOf`, or that of a boolean `if`. */
function allRefusal(branch: JsonObject, path: Path): string | null {
  const { if: condition, then: positive = true, else: negative = true, allOf } = branch;
  const branches: readonly (readonly [Json, Path])[] = [
    ...(isArray(allOf) ? allOf : []).map((each, index) => [each, [...path, 'allOf', index]] as const),
    ...(condition === true ? [[positive, [...path, 'then']] as const] : []),
    ...(condition === false ? [[negative, [...path, 'else']] as const] : []),
  ];
  for (const [each, where] of branches) {
    const refused = refusal(each, where);
    if (refused !== null) return refused;
  }
  return null;
}

/** The end of a long path says more than its beginning. */
function describePath(path: Path): string {
  const pointer = jsonPointer(path);
  return pointer.length > DISPLAY.phrase ? `…${pointer.slice(-DISPLAY.phrase)}` : pointer || 'the root';
}

interface Declaration {
  readonly name: string;
  readonly schema: Json;
}

type Branching = 'allOf' | 'anyOf' | 'oneOf';

/**
 * Returns the properties declared at the root and, through any level of the given keywords, in its branches. A name may
 * occur several times.
 * @param start the subschema to start from
 */
export function declarations(
  root: JsonObject,
  through: readonly Branching[],
  start: JsonObject = root,
): readonly Declaration[] {
  return withBranches(root, [start], through)
    .flatMap(({ properties }) => (isObject(properties) ? Object.entries(properties) : []))
    .map(([name, schema]) => ({ name, schema }));
}

/** Returns the names declared at the root and in its `allOf`, `anyOf` and `oneOf` branches, in order and once. */
export function declaredProperties(root: JsonObject, start: JsonObject = root): readonly string[] {
  return [...new Set(declarations(root, ['allOf', 'anyOf', 'oneOf'], start).map(({ name }) => name))];
}

/** Returns the declared names whose schema says that they are booleans. */
export function declaredBooleans(root: JsonObject): readonly string[] {
  const all = declarations(root, ['allOf', 'anyOf', 'oneOf']);
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

/** The names that get their own output, in order, and a sentence for each declared name that does not. */
interface OutputNames {
  readonly names: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Applies the rules for outputs: a valid output name, no two that differ only in case (the runner's names are
 * case-insensitive), and none that a run's own outputs use.
 */
export function outputNames(declared: readonly string[]): OutputNames {
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
