/** What is certain of every value at one place of a payload, given the schemas that all apply to it. */
import { isArray, isObject } from '../json.ts';
import type { Json, JsonObject } from '../types.ts';
import { declares, isClosed } from './declared.ts';
import { pointedAt, schemaNodes } from './keywords.ts';

/** A JSON type; an integer is a number. */
type JsonType = 'array' | 'boolean' | 'null' | 'number' | 'object' | 'string';

/** Finds the schema that a local `$ref` names; null where it cannot be followed. */
export type Resolve = (reference: Json | undefined) => JsonObject | null;

/** What is certain of a value. */
export interface Facts {
  /** The schemas that apply, with everything they refer to and their `allOf`, at any depth. */
  readonly nodes: readonly JsonObject[];
  readonly resolve: Resolve;
  /** Whether one of the schemas is `false`: there is no such value. */
  readonly isImpossible: boolean;
  /** The types that it may have. */
  readonly types: ReadonlySet<JsonType>;
  /** Whether it is an integer, if it is a number. */
  readonly isInteger: boolean;
  /** The values that it may have, by their canonical text, where the schemas list them; null where they do not. */
  readonly values: ReadonlyMap<string, Json> | null;
  /** The properties that it has, if it is an object. */
  readonly required: ReadonlySet<string>;
}

interface Limit {
  readonly type: JsonType;
  /** 1 for a lower limit, -1 for an upper one: a negated upper limit is compared like a lower one. */
  readonly sign: 1 | -1;
  readonly isStrict: boolean;
}

/** The tightest limit on one side, times its sign. */
interface Bound {
  readonly limit: number;
  readonly isStrict: boolean;
}

const TYPES: readonly JsonType[] = ['array', 'boolean', 'null', 'number', 'object', 'string'];

/** The keywords that limit a number, or the size of a value. */
export const LIMITS: ReadonlyMap<string, Limit> = new Map([
  ['minimum', { type: 'number', sign: 1, isStrict: false }],
  ['maximum', { type: 'number', sign: -1, isStrict: false }],
  ['exclusiveMinimum', { type: 'number', sign: 1, isStrict: true }],
  ['exclusiveMaximum', { type: 'number', sign: -1, isStrict: true }],
  ['minLength', { type: 'string', sign: 1, isStrict: false }],
  ['maxLength', { type: 'string', sign: -1, isStrict: false }],
  ['minItems', { type: 'array', sign: 1, isStrict: false }],
  ['maxItems', { type: 'array', sign: -1, isStrict: false }],
  ['minProperties', { type: 'object', sign: 1, isStrict: false }],
  ['maxProperties', { type: 'object', sign: -1, isStrict: false }],
]);

/** Makes the function that follows the `#` and `#/…` references of a document. */
export function createResolver(root: JsonObject): Resolve {
  // A part with an address of its own changes where `#` leads.
  const isFollowed = [...schemaNodes(root)].every(
    ({ node, path }) => path.length === 0 || node['$id'] === undefined,
  );
  return (reference) => (isFollowed && typeof reference === 'string' ? pointedAt(root, reference) : null);
}

/** Collects schemas with everything that they refer to and, at any depth, the subschemas under the given keywords. */
export function collectNodes(
  resolve: Resolve,
  schemas: readonly (Json | undefined)[],
  through: readonly string[],
): { readonly nodes: readonly JsonObject[]; readonly hasFalse: boolean } {
  const nodes = new Set<JsonObject>();
  const rest = [...schemas];
  let hasFalse = false;
  while (rest.length > 0) {
    const next = rest.pop();
    if (next === false) hasFalse = true;
    if (!isObject(next) || nodes.has(next)) continue;
    nodes.add(next);
    rest.push(resolve(next['$ref']) ?? undefined);
    for (const keyword of through) for (const branch of listOf(next[keyword])) rest.push(branch);
  }
  return { nodes: [...nodes], hasFalse };
}

/** Collects what is certain of a value that satisfies all of some schemas. */
export function factsOf(resolve: Resolve, schemas: readonly (Json | undefined)[]): Facts {
  const { nodes, hasFalse } = collectNodes(resolve, schemas, ['allOf']);
  return deriveFacts(resolve, nodes, hasFalse);
}

/** Joins what two sources say of one value; only the first one's references are followed from there. */
export function joinFacts(first: Facts, second: Facts): Facts {
  const nodes = [...first.nodes, ...second.nodes];
  return deriveFacts(first.resolve, nodes, first.isImpossible || second.isImpossible);
}

/** The facts of a value that is known. */
export function factsOfValue(value: Json): Facts {
  return deriveFacts(() => null, [{ const: value }], false);
}

function deriveFacts(resolve: Resolve, nodes: readonly JsonObject[], isImpossible: boolean): Facts {
  const typeLists = nodes.flatMap((node) => (node['type'] === undefined ? [] : [typeNames(node)]));
  const lists = nodes.flatMap(listedValues).map((list) => new Map(list.map((each) => [textOf(each), each])));
  const [first, ...others] = lists;
  const listed = first && new Map([...first].filter(([text]) => others.every((list) => list.has(text))));
  const valueTypes = listed && new Set([...listed.values()].map(typeOf));
  const types = new Set(
    TYPES.filter(
      (type) =>
        (valueTypes?.has(type) ?? true) &&
        typeLists.every((names) => names.includes(type) || (type === 'number' && names.includes('integer'))),
    ),
  );
  const values = listed ?? valuesOfTypes(types);
  const isListedInteger = listed !== undefined && [...listed.values()].every(isIntegerIfNumber);
  const required = new Set(nodes.flatMap((node) => namesIn(node['required'])));
  const single = values?.size === 1 ? [...values.values()][0] : undefined;
  for (const name of isObject(single) ? Object.keys(single) : []) required.add(name);
  return {
    nodes,
    resolve,
    isImpossible,
    types,
    isInteger: isListedInteger || typeLists.some((names) => !names.includes('number')),
    values,
    required,
  };
}

/** A type that has only a few values lists them. */
function valuesOfTypes(types: ReadonlySet<JsonType>): ReadonlyMap<string, Json> | null {
  if (types.size === 0 || [...types].some((type) => type !== 'boolean' && type !== 'null')) return null;
  const values = [...(types.has('boolean') ? [true, false] : []), ...(types.has('null') ? [null] : [])];
  return new Map(values.map((value) => [textOf(value), value]));
}

/** The names in a schema's `type`. */
export function typeNames({ type, nullable }: JsonObject): readonly Json[] {
  return [...listOf(type), ...(nullable === true ? ['null'] : [])];
}

/** The lists of values in a schema: its `enum`, and its `const` as a list of one. */
export function listedValues(node: JsonObject): readonly (readonly Json[])[] {
  const { const: value, enum: values } = node;
  return [...(isArray(values) ? [values] : []), ...(value === undefined ? [] : [[value]])];
}

/** The type of a value. */
export function typeOf(value: Json): JsonType {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return 'number';
  return typeof value === 'string' ? 'string' : 'object';
}

/** Whether a value has one of the types that a schema names. */
export function isOfType(value: Json, names: readonly Json[]): boolean {
  return names.includes(typeOf(value)) || (names.includes('integer') && Number.isInteger(value));
}

function isIntegerIfNumber(value: Json): boolean {
  return typeof value !== 'number' || Number.isInteger(value);
}

/** The text of a value, the same for values that the validator takes for equal. */
export function textOf(value: Json): string {
  return JSON.stringify(value, (_, each: Json) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
}

/** The tightest limit for values of a type: from below with the sign 1; from above, negated, with the sign -1. */
export function boundOf(facts: Facts, type: JsonType, sign: 1 | -1): Bound {
  let bound: Bound = { limit: -Infinity, isStrict: false };
  if (type !== 'number' && sign === 1)
    bound = { limit: type === 'object' ? facts.required.size : 0, isStrict: false };
  for (const [keyword, limit] of LIMITS) {
    if (limit.type !== type || limit.sign !== sign) continue;
    for (const { [keyword]: value } of facts.nodes) {
      if (typeof value !== 'number') continue;
      const next = { limit: sign * value, isStrict: limit.isStrict };
      if (isAtLeast(next, bound)) bound = next;
    }
  }
  if (type !== 'number' || !facts.isInteger) return bound;
  const { limit, isStrict } = bound;
  return { limit: isStrict ? Math.floor(limit) + 1 : Math.ceil(limit), isStrict: false };
}

/** Whether one bound is as tight as another one on the same side, or tighter. */
export function isAtLeast(bound: Bound, other: Bound): boolean {
  return bound.limit > other.limit || (bound.limit === other.limit && (bound.isStrict || !other.isStrict));
}

/** Whether no value of a type lies between the limits. */
export function isRangeEmpty(facts: Facts, type: JsonType): boolean {
  const lower = boundOf(facts, type, 1);
  const upper = boundOf(facts, type, -1);
  const gap = -upper.limit - lower.limit;
  return gap < 0 || (gap === 0 && (lower.isStrict || upper.isStrict));
}

/** The number that limits are about: a number itself, else the length or the count of entries. */
export function sizeOf(value: Json): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return [...value].length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

/** Whether an object cannot have a property. */
export function isForbidden(facts: Facts, name: string): boolean {
  const { nodes, values } = facts;
  return (
    nodes.some((node) => isClosed(node) && !declares(node, name)) ||
    (values !== null &&
      [...values.values()].every((each) => !isObject(each) || !Object.hasOwn(each, name))) ||
    propertyOf(facts, name).isImpossible
  );
}

/** What is certain of a property, where the object has it. */
export function propertyOf({ nodes, resolve, values }: Facts, name: string): Facts {
  const schemas = nodes.map(({ properties }) =>
    isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined,
  );
  const single = values?.size === 1 ? [...values.values()][0] : undefined;
  const value = isObject(single) && Object.hasOwn(single, name) ? single[name] : undefined;
  return factsOf(resolve, value === undefined ? schemas : [...schemas, { const: value }]);
}

/** What is certain of every entry of an array. */
export function itemOf({ nodes, resolve }: Facts): Facts {
  const schemas = nodes.map(({ items, prefixItems }) =>
    prefixItems === undefined && !isArray(items) ? items : undefined,
  );
  return factsOf(resolve, schemas);
}

/** The strings in a value such as that of `required`. */
export function namesIn(value: Json | undefined): readonly string[] {
  return isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

/** The values of a keyword that takes one or a list of them. */
export function listOf(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : value === undefined ? [] : [value];
}

/** The entries of a keyword that takes a map. */
export function entriesOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  return isObject(value) ? Object.entries(value) : [];
}
