/**
 * Checks whether the root of a schema can accept an object: tool arguments are always objects. Deliberately best
 * effort.
 */

import { isArray, isObject } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote, suggest, truncate } from '../text/messages.ts';
import type { Json, JsonObject } from '../types.ts';
import { describePath, resolveLocal } from './schema-walk.ts';

type Path = readonly (string | number)[];

/** Keywords that restrict nothing: `not` around `type` and these still refuses every object. */
const annotations = new Set([
  'type',
  '$comment',
  'default',
  'deprecated',
  'description',
  'examples',
  'nullable',
  'readOnly',
  'title',
  'writeOnly',
]);

/**
 * Returns why the root of a schema never accepts an object, as a sentence with the fix; null when it may. Branches are
 * followed, but not `$ref` inside them or `if` with a schema. The schema must not be nested deeper than
 * `JSON_TEXT.depth`.
 */
export function rootObjection(schema: JsonObject): string | null {
  if (typeof schema['$ref'] === 'string') {
    return referenceObjection(schema['$ref']);
  }
  const objection = refusal(schema, []);
  if (objection === null) return requiredObjection(schema);
  return `can never accept an object at its root, and a payload is always an object: ${objection}. Give the root "type": "object"; to deliver another value, put it into a property.`;
}

/**
 * A reference to a definition in the same document works when wrapped in `allOf`; one to another document would still
 * be refused.
 */
function referenceObjection(reference: string): string {
  const shown = truncate(JSON.stringify(reference), DISPLAY.value);
  if (reference === '#' || reference === '#/')
    return `has a $ref at its root that leads to itself, ${shown}. Replace it by "type": "object" and "properties".`;
  if (reference.startsWith('#'))
    return `has a $ref at its root, which model APIs refuse. Wrap it: {"allOf": [{"$ref": ${shown}}], …} with the definitions beside allOf.`;
  const isFile = /^(?:\.{0,2}\/)?[\w./ -]+$/u.test(reference);
  const fix = isFile
    ? 'Name that file itself in place of this schema, or copy what it holds here.'
    : 'Copy what it leads to here, in place of the $ref.';
  return `has a $ref at its root to another document, ${shown}, and nothing is read from elsewhere. ${fix}`;
}

/** No payload can have a name that is both required and forbidden: usually a typo, found before calling a model. */
function requiredObjection(schema: JsonObject): string | null {
  if (!isClosed(schema)) return null;
  const name = requiredProperties(schema).find((each) => !declares(schema, each));
  if (name === undefined) return null;
  const guess = suggest(name, declaredProperties(schema), 1)[0];
  const fix =
    guess === undefined
      ? 'Declare it, or take it out of required.'
      : `Did you mean ${truncate(JSON.stringify(guess), DISPLAY.value)}?`;
  return `can never be satisfied: required names ${truncate(JSON.stringify(name), DISPLAY.value)}, which properties does not declare and additionalProperties forbids. ${fix}`;
}

/** Returns why a branch never accepts an object; null when it may. Recursion is bounded by the depth of the schema. */
function refusal(branch: Json | undefined, path: Path): string | null {
  if (branch === true) return null;
  if (branch === false) return `${describePath(path)} is false, which accepts nothing`;
  if (!isObject(branch))
    return `${describePath(path)} is neither an object nor a boolean, so it is no schema`;
  return (
    typeRefusal(branch, path) ??
    valueRefusal(branch, path) ??
    anyRefusal(branch, path, 'anyOf') ??
    anyRefusal(branch, path, 'oneOf') ??
    allRefusal(branch, path) ??
    notRefusal(branch, path) ??
    conditionRefusal(branch, path)
  );
}

function typeRefusal(branch: JsonObject, path: Path): string | null {
  const type = branch['type'];
  if (type === undefined || includesObject(type)) return null;
  return `${describePath([...path, 'type'])} is ${truncate(JSON.stringify(type), DISPLAY.value)}, without "object"`;
}

function includesObject(type: Json | undefined): boolean {
  return type === 'object' || (isArray(type) && type.includes('object'));
}

function valueRefusal(branch: JsonObject, path: Path): string | null {
  if (branch['const'] !== undefined && !isObject(branch['const'])) {
    return `${describePath([...path, 'const'])} is not an object`;
  }
  const members = branch['enum'];
  if (!isArray(members) || members.some(isObject)) return null;
  return `${describePath([...path, 'enum'])} lists no object`;
}

function anyRefusal(branch: JsonObject, path: Path, keyword: 'anyOf' | 'oneOf'): string | null {
  const branches = branch[keyword];
  if (!isArray(branches)) return null;
  const where = [...path, keyword];
  if (branches.length === 0) return `${describePath(where)} is empty, so nothing matches it`;
  let first: string | null = null;
  for (const [index, each] of branches.entries()) {
    const refused = refusal(each, [...where, index]);
    if (refused === null) return null;
    first ??= refused;
  }
  return `no branch of ${describePath(where)} admits an object (${first})`;
}

function allRefusal(branch: JsonObject, path: Path): string | null {
  const branches = branch['allOf'];
  if (!isArray(branches)) return null;
  for (const [index, each] of branches.entries()) {
    const refused = refusal(each, [...path, 'allOf', index]);
    if (refused !== null)
      return `every branch of ${describePath([...path, 'allOf'])} must admit an object (${refused})`;
  }
  return null;
}

function notRefusal(branch: JsonObject, path: Path): string | null {
  const negated = branch['not'];
  if (!isObject(negated) || !includesObject(negated['type'])) return null;
  if (Object.keys(negated).some((keyword) => !annotations.has(keyword))) return null;
  return `${describePath([...path, 'not'])} rules out every object`;
}

function conditionRefusal(branch: JsonObject, path: Path): string | null {
  const taken = branch['if'] === true ? 'then' : branch['if'] === false ? 'else' : null;
  if (taken === null || branch[taken] === undefined) return null;
  return refusal(branch[taken], [...path, taken]);
}

interface Declaration {
  readonly name: string;
  readonly schema: Json;
}

type Branching = 'allOf' | 'anyOf' | 'oneOf';

/**
 * Returns the properties declared at the root and, through any level of the given keywords, in its branches. A branch
 * that is a local `$ref` is replaced by its target. A name may occur several times.
 * @param start the subschema to start from
 */
export function declarations(
  root: JsonObject,
  through: readonly Branching[],
  start: JsonObject = root,
): readonly Declaration[] {
  const found: Declaration[] = [];
  const seen = new Set<JsonObject>();
  // Branches are pushed in reverse, so that the stack preserves document order.
  const rest: JsonObject[] = [start];
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

/**
 * Returns the names declared at the root and in its `allOf`, `anyOf` and `oneOf` branches, in order, without
 * duplicates.
 */
export function declaredProperties(root: JsonObject): readonly string[] {
  return [...new Set(declarations(root, ['allOf', 'anyOf', 'oneOf']).map(({ name }) => name))];
}

/** Returns the declared names whose schema says that they are booleans. */
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
  const spellings = new Map<string, readonly string[]>();
  for (const name of declared) {
    const folded = name.toLowerCase();
    spellings.set(folded, [...(spellings.get(folded) ?? []), name]);
  }
  const names: string[] = [];
  const warnings: string[] = [];
  for (const name of declared) {
    const objection = objectionTo(name, spellings.get(name.toLowerCase()) ?? []);
    if (objection === null) names.push(name);
    else
      warnings.push(
        `The property ${quote(name)} gets no step output of its own: ${objection}. Read it from structured_output.`,
      );
  }
  return { names, warnings };
}

function objectionTo(name: string, spellings: readonly string[]): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) {
    return 'the name of an output is a letter or underscore, then letters, digits, underscores and hyphens';
  }
  if (name.toLowerCase() === 'structured_output') return 'structured_output holds the whole payload';
  if (name.toLowerCase().startsWith('run-')) return 'names that begin with run- tell about the run';
  const others = spellings.filter((each) => each !== name);
  const [first, ...more] = others;
  if (first === undefined) return null;
  const rest = more.length === 0 ? 'is' : `and ${more.length} more are`;
  return `outputs ignore case, and ${quote(first)} ${rest} declared too`;
}
