/** Properties that a gate asks about, and that the schema does not declare where the gate looks for them. */
import { isArray, isObject, jsonPointer } from '../json.ts';
import { nearest } from '../nearest.ts';
import type { Json, JsonObject } from '../types.ts';
import { pointedAt } from './keywords.ts';

/** A property of the gate that the schema knows nothing of. */
export interface Undeclared {
  readonly name: string;
  /** Where it would stand in a payload, as a JSON pointer; `*` for any index. */
  readonly place: string;
  /** Whether it would be a property of the payload itself. */
  readonly isAtRoot: boolean;
  /** What the schema declares there and may have been meant, the nearest first; slow for many names. */
  readonly near: () => readonly string[];
}

interface Pair {
  readonly gate: JsonObject;
  /** What the schema may say of the same place, in whichever branch. */
  readonly schemas: readonly JsonObject[];
  readonly place: readonly string[];
}

const JOINING = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not'];

/** The properties that a gate names and a schema does not, where the schema declares others, and nothing in general. */
export function undeclaredNames(gate: JsonObject, schema: JsonObject): readonly Undeclared[] {
  const found = new Map<string, Undeclared>();
  const rest: Pair[] = [{ gate, schemas: branchesOf(schema, [schema]), place: [] }];
  // Each part once, at the place that is nearest to the root: a gate that refers to itself has no end.
  const seen = new Set<JsonObject>();
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    const { place, schemas } = next;
    for (const part of branchesOf(gate, [next.gate]).filter((each) => !seen.has(each))) {
      seen.add(part);
      const isOpen = isGeneral(schemas);
      for (const [name, inner] of entriesOf(part['properties'])) {
        const at = [...place, name];
        const declared = declaredIn(schemas, name);
        if (declared.length === 0 && !isOpen) note(found, at, inner, schemas);
        else if (isObject(inner))
          rest.push({ gate: inner, schemas: branchesOf(schema, declared), place: at });
      }
      const items = schemas.flatMap((each) => [...listOf(each['items']), ...listOf(each['prefixItems'])]);
      for (const inner of ['items', 'prefixItems', 'contains'].flatMap((each) => listOf(part[each]))) {
        if (isObject(inner))
          rest.push({ gate: inner, schemas: branchesOf(schema, items), place: [...place, '*'] });
      }
    }
  }
  return [...found.values()];
}

function note(
  found: Map<string, Undeclared>,
  at: readonly string[],
  inner: Json,
  schemas: readonly JsonObject[],
): void {
  const name = at.at(-1) ?? '';
  // Below the root this asks that nothing be there, and then nothing need be declared.
  if (inner === false && at.length > 1) return;
  const place = jsonPointer(at);
  const near = () =>
    nearest(
      name,
      schemas.flatMap(({ properties }) => entriesOf(properties).map(([each]) => each)),
    );
  found.set(place, { name, place, isAtRoot: at.length === 1, near });
}

/** Whether a schema says nothing of names, or of many at once. */
function isGeneral(schemas: readonly JsonObject[]): boolean {
  const isDescribed = schemas.some(({ properties }) => entriesOf(properties).length > 0);
  return (
    !isDescribed ||
    schemas.some(
      ({ additionalProperties, patternProperties }) =>
        isObject(additionalProperties) || patternProperties !== undefined,
    )
  );
}

/** What a schema declares of a name. */
function declaredIn(schemas: readonly JsonObject[], name: string): readonly Json[] {
  return schemas.flatMap(({ properties }) => {
    const declared = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return declared === undefined ? [] : [declared];
  });
}

/** Schemas with all that they are joined from for the same value. */
function branchesOf(root: JsonObject, schemas: readonly Json[]): readonly JsonObject[] {
  const found = new Set<JsonObject>();
  const rest = [...schemas];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (!isObject(next) || found.has(next)) continue;
    found.add(next);
    const { $ref, dependentSchemas } = next;
    const target = typeof $ref === 'string' ? pointedAt(root, $ref) : null;
    if (target !== null) rest.push(target);
    for (const keyword of JOINING) rest.push(...listOf(next[keyword]));
    rest.push(...entriesOf(dependentSchemas).map(([, inner]) => inner));
  }
  return [...found];
}

function listOf(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : value === undefined ? [] : [value];
}

function entriesOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  return isObject(value) ? Object.entries(value) : [];
}
