/** Checks whether the root of a schema can accept an object: tool arguments are always objects. Best effort. */
import { isArray, isObject, jsonPointer } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote, truncate } from '../text/messages.ts';
import type { Json, JsonObject } from '../types.ts';

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
