/**
 * The parameters of a tool as a provider accepts them. The contract judges the payload by the user's schema; this copy
 * only has to be legal for the provider and must not refuse a payload that the schema accepts. Each keyword that is kept
 * gets more lenient if its subschemas do, so everything else can be left out. A note repeats the schema for the model.
 */
import { isDeepStrictEqual } from 'node:util';
import { isArray, isObject, objectOf } from '../text/json.ts';
import { resolvePointer, shapeOf } from '../text/schema-walk.ts';
import type { Json, JsonObject, ToolSpec } from '../types.ts';

/** Whose rules a tool's schema has to follow; `compatible` is what any OpenAI-compatible server is likely to support. */
export type Dialect = 'openai' | 'anthropic' | 'gemini' | 'compatible';

/** Draft 2020-12, without the keywords whose subschemas must not become more lenient, such as `not` and `if`. */
const draft2020 = [
  ...['title', 'description', 'default', 'examples', '$defs', 'definitions', '$ref', 'allOf', 'anyOf'],
  ...['type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'items', 'prefixItems', 'minItems', 'maxItems'],
  ...['uniqueItems', 'properties', 'additionalProperties', 'required', 'minProperties', 'maxProperties'],
];

/**
 * What servers that convert schemas to grammars accept beside each type: `pattern` breaks llama.cpp, and `uniqueItems` is
 * a 400 at DashScope. Gemini accepts less, and any other name, or a name beside the wrong type, is a 400 for the request.
 */
const keywordsOfType: Readonly<Record<string, readonly string[]>> = {
  string: ['format', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'minItems', 'maxItems'],
};
const refusedByGemini = new Set(['format', 'additionalProperties']);

const allTypes = ['string', 'number', 'boolean', 'object', 'array', 'null'];

/** Anthropic rejects the whole request because of one top-level property name that does not match. */
const anthropicName = /^[a-zA-Z0-9_.-]{1,64}$/;

/** References that lead to the same schema in the copy; for OpenAI and Anthropic, others are left out. */
const keptReference = /^#\/(?:\$defs|definitions)\/[^/]+$/;

/** llama.cpp fails on grammars with thousands of repetitions, which add up and multiply. */
const maxBound = 256;

/** What is nested deeper, or comes after so many schemas, may be anything in the copy. */
const maxDepth = 100;
const maxSchemas = 5000;

/** OpenAI's limit for the description of a tool, which hosts of its models and gateways still have. */
const maxDescription = 1024;

/** These read draft 2020-12. The others know few keywords, and one type for each schema. */
const readers2020: readonly Dialect[] = ['openai', 'anthropic'];

interface Place {
  readonly root: JsonObject;
  readonly dialect: Dialect;
  /** How many more schemas are read. */
  readonly budget: { left: number };
  /** The schemas that were read on the way here; a reference to one of them is not followed again. */
  readonly path: JsonObject[];
}

/** Returns a tool as the provider accepts it. If the parameters say less than the schema, a note repeats it. */
export function describedTool({ description, parameters: schema }: ToolSpec, dialect: Dialect) {
  const parameters = projectSchema(schema, dialect);
  const { $schema: _, $id: __, $comment: ___, ...full } = schema;
  const isWhole = isDeepStrictEqual({ type: 'object', properties: {}, ...full }, parameters);
  if (isWhole) return { description, parameters };
  const note = `These parameters are simplified. The arguments must satisfy this JSON Schema: ${JSON.stringify(full)}`;
  const long = `${description}\n\n${note}`;
  if (dialect === 'anthropic' || long.length <= maxDescription) return { description: long, parameters };
  return { description, parameters: { ...parameters, description: note } };
}

/** Returns the parameters that a provider accepts for a schema: one object, without unions or literals at the root. */
export function projectSchema(schema: JsonObject, dialect: Dialect): JsonObject {
  const place = { root: schema, dialect, budget: { left: maxSchemas }, path: [] };
  const { const: _, enum: __, ...root } = fold(flatten(schema, place), place);
  const declared = Object.entries(objectOf(root['properties']));
  const named = declared.filter(([name]) => dialect !== 'anthropic' || anthropicName.test(name));
  // The names that are left out must remain possible.
  const open = named.length < declared.length ? { additionalProperties: true } : {};
  const object = { ...root, ...open, type: 'object', properties: Object.fromEntries(named) };
  if (readers2020.includes(dialect)) return copyKeywords(draft2020, object, { ...place, path: [] });
  return { properties: {}, ...ofType('object', object, place) };
}

function copy(source: Json, outer: Place): JsonObject {
  const place = inside(outer);
  if (!readers2020.includes(place.dialect)) return choose(optionsOf(source, place), place.dialect);
  const { $ref = '', ...schema } = read(source, place);
  return copyKeywords(draft2020, keptReference.test(String($ref)) ? { ...schema, $ref } : schema, place);
}

function inside(place: Place): Place {
  return { ...place, path: [...place.path] };
}

/**
 * Returns a schema in the words of draft 2020-12, with what is left out in more lenient ones: `oneOf` as `anyOf`, and
 * patterns of names as any name. A schema that is not read may be anything.
 */
function read(source: Json, { root, budget, path }: Place): JsonObject {
  budget.left -= 1;
  if (!isObject(source) || budget.left < 0 || path.length > maxDepth || path.includes(source)) return {};
  // Inside a schema with an `$id`, `#` means another document.
  if (source['$id'] !== undefined && source !== root) return {};
  path.push(source);
  const { additionalItems = {}, nullable, oneOf, patternProperties, ...rest } = source;
  return {
    ...rest,
    ...(oneOf === undefined ? {} : { anyOf: oneOf }),
    ...(isArray(rest['items']) ? { prefixItems: rest['items'], items: additionalItems } : {}),
    ...(nullable === true ? { type: unique([...typesOf(source), 'null']) } : {}),
    ...(patternProperties === undefined ? {} : { additionalProperties: true }),
  };
}

/** Merges a schema with the target of its reference, which may be missing, and with its `allOf`. */
function flatten(source: Json, place: Place): JsonObject {
  const { $ref, allOf, ...part } = read(source, place);
  const target = typeof $ref === 'string' ? [resolvePointer(place.root, $ref) ?? true] : [];
  return merge([part, ...[...target, ...listOf(allOf)].map((each) => flatten(each, place))]);
}

/** Replaces the union of a flat schema by what is common to its branches. */
function fold({ anyOf, ...schema }: JsonObject, place: Place): JsonObject {
  const branches = listOf(anyOf).map((each) => {
    const inner = inside(place);
    return fold(flatten(each, inner), inner);
  });
  return merge([schema, unite(branches.filter((each) => typesOf(each).includes('object')))]);
}

/** Merges schemas that must all match; of two values for one keyword or property, the first is kept. */
function merge(parts: readonly JsonObject[]): JsonObject {
  const required = unique(parts.flatMap((part) => listOf(part['required'])));
  const declared = Object.fromEntries(required.map((name) => [String(name), true]));
  const properties = mergeMaps([...parts.map((part) => objectOf(part['properties'])), declared]);
  const { properties: _, required: __, ...rest } = mergeMaps(parts);
  return {
    ...rest,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

function mergeMaps(maps: readonly JsonObject[]): JsonObject {
  let merged: JsonObject = {};
  for (const map of maps) merged = { ...merged, ...map, ...merged };
  return merged;
}

/** Returns what objects have in common that match any of these schemas. */
function unite(branches: readonly JsonObject[]): JsonObject {
  const declared = branches.map((each) => new Map(Object.entries(objectOf(each['properties']))));
  const names = unique(declared.flatMap((each) => [...each.keys()]));
  const properties = names.map((name): [string, Json] => {
    const schemas = branches.map((each, n) => declared[n]?.get(name) ?? each['additionalProperties'] ?? true);
    const [only = true, ...others] = unique(schemas.filter((each) => each !== false));
    return [name, others.length === 0 ? only : { anyOf: [only, ...others] }];
  });
  const [first = [], ...rest] = branches.map((each) => listOf(each['required']));
  const required = first.filter((name) => rest.every((each) => each.includes(name)));
  return { properties: Object.fromEntries(properties), required };
}

function unique<T extends Json>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((each) => [JSON.stringify(each), each])).values()];
}

/** Returns schemas of one type each; a value that matches the source matches one of them. */
function optionsOf(source: Json, place: Place): readonly JsonObject[] {
  const flat = flatten(source, place);
  const { anyOf, ...beside } = flat;
  if (anyOf !== undefined && beside['properties'] === undefined && beside['items'] === undefined)
    return listOf(anyOf).flatMap((each) => optionsOf({ allOf: [each, beside] }, inside(place)));
  const schema = fold(flat, place);
  return typesOf(schema).map((type) => ofType(type, schema, place));
}

/** Joins options. Google's API has a mark for null instead of a type, and allows no other keyword beside `anyOf`. */
function choose(options: readonly JsonObject[], dialect: Dialect): JsonObject {
  const typed = dialect === 'gemini' ? options.filter(({ type }) => type !== 'null') : options;
  const marks = typed.length < options.length ? { nullable: true } : {};
  const [only = { type: 'string' }, ...others] = unique(typed.map((each) => ({ ...each, ...marks })));
  return others.length === 0 ? { ...only, ...marks } : { anyOf: [only, ...others] };
}

function ofType(type: string, schema: JsonObject, place: Place): JsonObject {
  const { items, prefixItems, properties } = schema;
  const isGemini = place.dialect === 'gemini';
  const keywords = ['type', 'title', 'description', ...(keywordsOfType[type] ?? [])].filter((keyword) => {
    if (keyword === 'items') return isObject(items) && prefixItems === undefined;
    if (isGemini && refusedByGemini.has(keyword)) return false;
    return !(/^(?:min|max)(?:Length|Items)$/.test(keyword) && Number(schema[keyword]) > maxBound);
  });
  // Google's API lists non-empty strings only.
  const values = valuesOf(schema).filter((each) => typeOf(each) === type);
  const isListed = values.length > 0 && (!isGemini || (type === 'string' && !values.includes('')));
  // llama.cpp closes an object unless it is told otherwise.
  const isOpen = !isGemini && type === 'object' && Object.keys(objectOf(properties)).length === 0;
  return {
    ...(isOpen ? { additionalProperties: true } : {}),
    ...copyKeywords(keywords, { ...schema, type }, place),
    ...(isListed ? { enum: values } : {}),
  };
}

function copyKeywords(keywords: readonly string[], schema: JsonObject, place: Place): JsonObject {
  const written = keywords.flatMap((keyword): [string, Json][] => {
    const value = schema[keyword];
    return value === undefined ? [] : [[keyword, copyValue(keyword, value, place)]];
  });
  // OpenAI rejects arrays without `items`.
  const items = [schema['type']].flat().includes('array') ? { items: {} } : {};
  return { ...items, ...Object.fromEntries(written) };
}

function copyValue(keyword: string, value: Json, place: Place): Json {
  if (value === false || (value === true && keyword === 'additionalProperties')) return value;
  const shape = shapeOf(keyword, value);
  if (shape === 'schema') return copy(value, place);
  if (shape === 'list') return listOf(value).map((each) => copy(each, place));
  if (shape !== 'map') return value;
  return Object.fromEntries(Object.entries(objectOf(value)).map(([name, each]) => [name, copy(each, place)]));
}

/** Returns the types of the values that a schema lists, or else those that it names; all types if there are neither. */
function typesOf(schema: JsonObject): readonly string[] {
  const listed = valuesOf(schema).map(typeOf);
  return unique(listed.length > 0 ? listed : [schema['type'] ?? allTypes].flat().map(String));
}

function valuesOf(schema: JsonObject): readonly Json[] {
  return schema['const'] === undefined ? listOf(schema['enum']) : [schema['const']];
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function listOf(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : [];
}
