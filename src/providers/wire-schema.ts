/**
 * The parameters of a tool as a provider accepts them. The contract judges the payload by the user's schema; this copy
 * only has to be legal for the provider and must not refuse a payload that the schema accepts. Each keyword that is kept
 * gets more lenient if its subschemas do, so everything else can be left out. A note repeats the schema for the model.
 */
import { isDeepStrictEqual } from 'node:util';
import { isArray, isDeeperThan, isObject } from '../text/json.ts';
import { JSON_TEXT } from '../text/limits.ts';
import { resolvePointer, shapeOf } from '../text/schema-keywords.ts';
import type { Json, JsonObject, ToolSpec } from '../types.ts';

/**
 * The rules that a tool's schema has to follow: those of OpenAI and Azure, of Anthropic, of Gemini's OpenAI-compatible
 * endpoint, or what any other OpenAI-compatible server is likely to support.
 */
export type Dialect = 'openai' | 'anthropic' | 'gemini' | 'compatible';

/** Keywords by the type of value that they are for. */
type Keywords = Readonly<Record<string, readonly string[]>>;

/** Draft 2020-12, without the keywords whose subschemas must not become more lenient, such as `not` and `if`. */
const draft2020: Keywords = {
  any: [
    ...['title', 'description', 'default', 'examples', '$defs', 'definitions', '$ref', 'allOf', 'anyOf'],
    ...['enum', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'],
    ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'items', 'prefixItems', 'minItems', 'maxItems'],
    ...['uniqueItems', 'properties', 'additionalProperties', 'required', 'minProperties', 'maxProperties'],
  ],
};

const keywordsOf: Readonly<Record<Dialect, Keywords>> = {
  openai: draft2020,
  anthropic: draft2020,
  // The fields of `Schema` in Google's API. Any other name, or a field beside the wrong type, is a 400 for the request.
  gemini: {
    any: ['title', 'description'],
    string: ['enum', 'minLength', 'maxLength'],
    number: ['minimum', 'maximum'],
    integer: ['minimum', 'maximum'],
    object: ['properties', 'required'],
    array: ['items', 'minItems', 'maxItems'],
  },
  // What servers can convert to a grammar. `pattern` breaks llama.cpp's; `uniqueItems` is a 400 at DashScope.
  compatible: {
    any: ['title', 'description', 'enum', 'default'],
    string: ['format', 'minLength', 'maxLength'],
    number: ['minimum', 'maximum'],
    integer: ['minimum', 'maximum'],
    object: ['properties', 'required', 'additionalProperties'],
    array: ['items', 'minItems', 'maxItems'],
  },
};

const allTypes = ['string', 'number', 'boolean', 'object', 'array', 'null'];

/** Keywords that no provider accepts at the root of a tool's parameters. */
const refusedAtRoot = new Set(['$ref', 'allOf', 'anyOf', 'if', 'then', 'else', 'enum', 'const']);

/** Anthropic rejects the whole request because of one top-level property name that does not match. */
const anthropicName = /^[a-zA-Z0-9_.-]{1,64}$/;

/** References that OpenAI and Anthropic can follow in the copy. */
const keptReference = /^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/;

/** llama.cpp fails on grammars with thousands of repetitions, which add up and multiply. */
const maxBound = 256;

/** What is nested deeper, or comes after so many schemas, may be anything in the copy. */
const maxDepth = 100;
const maxSchemas = 5000;

/** The properties of a union with more branches may be anything in the copy. */
const maxAlternatives = 64;

/** Characters of a note; the model reads in the issues of a rejection what was cut. */
const maxNote = 16_000;

/** OpenAI's limit for the description of a tool, which hosts of its models and gateways still have. */
const maxDescription = 1024;

/** Where in the schema a copy is made. */
interface Place {
  readonly root: JsonObject;
  readonly dialect: Dialect;
  /** How many more schemas are read. */
  readonly budget: { left: number };
  readonly depth: number;
  /** The references that were followed on the way. */
  readonly followed: Set<string>;
}

/** Returns a tool as the provider accepts it. A note on the schema is in one of the two descriptions. */
export function describedTool(
  { description, parameters: schema }: ToolSpec,
  dialect: Dialect,
): { description: string; parameters: JsonObject } {
  const { parameters, note } = projectSchema(schema, dialect);
  if (note === null) return { description, parameters };
  const long = `${description}\n\n${note}`;
  if (dialect === 'anthropic' || long.length <= maxDescription) return { description: long, parameters };
  const own = parameters['description'] === undefined ? '' : `${parameters['description']}\n\n`;
  return { description, parameters: { ...parameters, description: `${own}${note}` } };
}

/** Returns the parameters that the provider accepts for a schema, and a note if they say less than the schema. */
export function projectSchema(
  given: JsonObject,
  dialect: Dialect,
): { parameters: JsonObject; note: string | null } {
  // The contract refuses a deeper schema.
  const schema = isDeeperThan(given, JSON_TEXT.depth) ? {} : given;
  const place = { root: schema, dialect, budget: { left: maxSchemas }, depth: 0, followed: new Set(['#']) };
  const root = plainOf(flatten(partsOf(schema, place), place));
  const declared = Object.entries(objectAt(root, 'properties'));
  const named = declared.filter(([name]) => dialect !== 'anthropic' || anthropicName.test(name));
  const properties = Object.fromEntries(named);
  // The names that are left out must remain possible.
  const others = named.length < declared.length ? { additionalProperties: true } : {};
  const written = write({ ...root, ...others, type: 'object', properties }, place);
  const parameters: JsonObject = { type: 'object', properties: {}, ...written };
  const { $schema: _, $id: __, $comment: ___, ...full } = schema;
  const open = parameters['additionalProperties'] === true ? { additionalProperties: true } : {};
  if (isDeepStrictEqual({ type: 'object', properties: {}, ...open, ...full }, parameters))
    return { parameters, note: null };
  const text = JSON.stringify(full);
  const shown = text.length > maxNote ? `${text.slice(0, maxNote).toWellFormed()}… (cut)` : text;
  const note = `These parameters are simplified. The arguments must satisfy this JSON Schema: ${shown}`;
  return { parameters, note };
}

/** Copies a subschema. */
function copy(source: Json, outer: Place): JsonObject {
  const place = inside(outer);
  if (!isReadable(source, place)) return write({}, place);
  if (takesReferences(place.dialect) && isKept(source['$ref'])) return write(normalize(source), place);
  const parts = partsOf(source, place);
  const { properties, items, ...beside } = merge(parts);
  const branches = listAt(beside, 'anyOf');
  if (branches.length === 0 || properties !== undefined || items !== undefined)
    return write(flatten(parts, place), place);
  const isNull = (each: Json) =>
    place.dialect === 'gemini' && isObject(each) && typesOf(each).join() === 'null';
  const options = branches
    .filter((each) => !isNull(each))
    .map((each) => copy({ allOf: [each, plainOf(beside)] }, place))
    .flatMap((each) => (isArray(each['anyOf']) ? each['anyOf'].filter(isObject) : [each]));
  return chooseFrom(options, branches.some(isNull));
}

/** Returns a schema without the keywords that a root cannot have. */
function plainOf(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !refusedAtRoot.has(keyword)));
}

/** Whether a provider follows references in the copy. */
function takesReferences(dialect: Dialect): boolean {
  return dialect === 'openai' || dialect === 'anthropic';
}

function inside(place: Place): Place {
  return { ...place, depth: place.depth + 1, followed: new Set(place.followed) };
}

/** Whether a schema is read; `#` means another document inside a schema with an `$id`. */
function isReadable(source: Json, place: Place): source is JsonObject {
  place.budget.left -= 1;
  if (!isObject(source) || place.budget.left < 0 || place.depth > maxDepth) return false;
  return source['$id'] === undefined || source === place.root;
}

/** Whether a reference leads to a place that the copy has, too. */
function isKept(reference: Json | undefined): boolean {
  return typeof reference !== 'string' || keptReference.test(reference);
}

/**
 * Rewrites the tuples of draft-07 and `nullable` of OpenAPI to draft 2020-12, and what is left out to what is more
 * lenient: `oneOf` to `anyOf`, and patterns of names to any name.
 */
function normalize(source: JsonObject): JsonObject {
  const { additionalItems = {}, nullable, oneOf, patternProperties, ...rest } = source;
  const { items } = rest;
  return {
    ...rest,
    ...(oneOf === undefined ? {} : { anyOf: oneOf }),
    ...(isArray(items) ? { prefixItems: items, items: additionalItems } : {}),
    ...(nullable === true ? { type: [...new Set([...typesOf(source), 'null'])] } : {}),
    ...(patternProperties === undefined ? {} : { additionalProperties: true }),
  };
}

/** Returns the schemas that must all match: this one, the target of its reference, and its `allOf`. */
function partsOf(source: Json, place: Place): readonly JsonObject[] {
  if (!isReadable(source, place)) return [];
  const schema = normalize(source);
  const { $ref } = schema;
  const { root, followed } = place;
  const others = [...listAt(schema, 'allOf')];
  if (typeof $ref === 'string' && !followed.has($ref)) {
    followed.add($ref);
    others.push(resolvePointer(root, $ref) ?? true);
  }
  const deeper = { ...place, depth: place.depth + 1 };
  return [schema, ...others.flatMap((each) => partsOf(each, deeper))];
}

/** Merges schemas that must all match into one, with what is common to the branches of their unions and conditions. */
function flatten(parts: readonly JsonObject[], place: Place): JsonObject {
  const unions = parts.flatMap((part) => {
    const { anyOf, if: condition, then: met = true, else: unmet = true } = part;
    return [...(isArray(anyOf) ? [anyOf] : []), ...(condition === undefined ? [] : [[met, unmet]])];
  });
  const views = unions.map((branches) => {
    const places = branches.filter(admitsObjects).map((each) => [each, inside(place)] as const);
    return unite(places.map(([each, inner]) => flatten(partsOf(each, inner), inner)));
  });
  const { $ref: _, allOf: __, ...flat } = merge([...parts, ...views]);
  return flat;
}

function admitsObjects(schema: Json): boolean {
  return isObject(schema) ? typesOf(schema).includes('object') : schema !== false;
}

/** Merges schemas that must all match; of two values for one keyword or property, the first is kept. */
function merge(parts: readonly JsonObject[]): JsonObject {
  const merged = mergeMaps(parts);
  const required = [...new Set(parts.flatMap((part) => listAt(part, 'required')))];
  const declared = Object.fromEntries(required.map((name) => [String(name), true]));
  const properties = mergeMaps([...parts.map((part) => objectAt(part, 'properties')), declared]);
  return {
    ...merged,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
    // The items after a tuple are not those after another one.
    ...(parts.length === 1 || merged['prefixItems'] === undefined ? {} : { items: {} }),
  };
}

function mergeMaps(maps: readonly JsonObject[]): JsonObject {
  const merged = new Map<string, Json>();
  for (const map of maps)
    for (const [key, value] of Object.entries(map)) if (!merged.has(key)) merged.set(key, value);
  return Object.fromEntries(merged);
}

/** Returns what objects have in common that match any of these schemas. */
function unite(branches: readonly JsonObject[]): JsonObject {
  const has = (branch: JsonObject, name: string) => Object.hasOwn(objectAt(branch, 'properties'), name);
  const names = new Set(branches.flatMap((each) => Object.keys(objectAt(each, 'properties'))));
  const properties = [...names].map((name): [string, Json] => {
    // A branch that is not closed accepts anything under a name that it does not declare.
    const isOpen = (each: JsonObject) => each['additionalProperties'] !== false && !has(each, name);
    if (branches.length > maxAlternatives || branches.some(isOpen)) return [name, true];
    const schemas = branches
      .filter((each) => has(each, name))
      .map((each) => objectAt(each, 'properties')[name] ?? true);
    const [first = true, ...rest] = schemas.filter(
      (each, at) => schemas.findIndex((other) => isDeepStrictEqual(each, other)) === at,
    );
    return [name, rest.length === 0 ? first : { anyOf: [first, ...rest] }];
  });
  const required = listAt(branches[0] ?? {}, 'required').filter((name) =>
    branches.every((each) => listAt(each, 'required').includes(name)),
  );
  return { properties: Object.fromEntries(properties), ...(required.length === 0 ? {} : { required }) };
}

/** Writes a schema with the keywords that the dialect supports. */
function write(schema: JsonObject, place: Place): JsonObject {
  if (takesReferences(place.dialect))
    return writeTyped(schema, schema['type'] === undefined ? [] : typesOf(schema), place);
  const types = typesOf(schema);
  const strict = restrict(schema, place.dialect);
  if (place.dialect === 'compatible') return writeTyped(strict, types, place);
  // Google's API knows one type for each schema; null is a flag of another type.
  const options = types.filter((type) => type !== 'null').map((type) => writeTyped(strict, [type], place));
  return chooseFrom(options, types.includes('null'));
}

/** Returns a schema that accepts what any of these does. Google's API allows no other keyword beside `anyOf`. */
function chooseFrom(options: readonly JsonObject[], isNullable: boolean): JsonObject {
  const marked = isNullable ? options.map((each) => ({ ...each, nullable: true })) : options;
  const [only = { type: 'string', nullable: true }, ...others] = marked;
  return others.length === 0 ? only : { anyOf: marked };
}

function writeTyped(schema: JsonObject, types: readonly string[], place: Place): JsonObject {
  const keywords = keywordsOf[place.dialect];
  const [first, ...others] = types;
  const written: Record<string, Json> = {};
  if (first !== undefined) written['type'] = others.length === 0 ? first : types;
  for (const keyword of [...(keywords['any'] ?? []), ...types.flatMap((type) => keywords[type] ?? [])]) {
    const value = schema[keyword];
    if (value !== undefined) written[keyword] ??= copyValue(keyword, value, place);
  }
  // OpenAI rejects arrays without `items`.
  if (types.includes('array')) written['items'] ??= {};
  return written;
}

function copyValue(keyword: string, value: Json, place: Place): Json {
  if (value === false || (value === true && keyword === 'additionalProperties')) return value;
  const shape = shapeOf(keyword, value);
  if (shape === 'schema') return copy(value, place);
  if (shape === 'list' && isArray(value)) return value.map((each) => copy(each, place));
  if (shape !== 'map' || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copy(each, place)]));
}

/** Rewrites what the stricter dialects have no keyword for or accept only in part. */
function restrict(schema: JsonObject, dialect: Dialect): JsonObject {
  const { const: literal, enum: _, items, prefixItems, properties, ...rest } = schema;
  const kept = Object.entries(rest).filter(
    ([keyword, value]) => !(/^(?:min|max)(?:Length|Items)$/.test(keyword) && Number(value) > maxBound),
  );
  const values = literal === undefined ? listAt(schema, 'enum') : [literal];
  // Google's API has non-empty strings only.
  const texts = values.includes('') ? [] : values.filter((each) => typeof each === 'string');
  const listed = dialect === 'gemini' ? texts : values;
  return {
    // llama.cpp closes an object unless it is told otherwise.
    ...(isObject(properties) && Object.keys(properties).length > 0
      ? { properties }
      : { additionalProperties: true }),
    ...Object.fromEntries(kept),
    ...(listed.length === 0 ? {} : { enum: listed }),
    ...(isObject(items) && prefixItems === undefined ? { items } : {}),
  };
}

/** Returns the types that a schema names, or those of the values that it lists; all types if there are neither. */
function typesOf(schema: JsonObject): readonly string[] {
  const named = [schema['type'] ?? []].flat().filter((each) => typeof each === 'string');
  if (named.length > 0) return named;
  const values = schema['const'] === undefined ? listAt(schema, 'enum') : [schema['const']];
  return values.length === 0 ? allTypes : [...new Set(values.map(typeOf))];
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function objectAt(schema: JsonObject, keyword: string): JsonObject {
  const value = schema[keyword];
  return isObject(value) ? value : {};
}

function listAt(schema: JsonObject, keyword: string): readonly Json[] {
  const value = schema[keyword];
  return isArray(value) ? value : [];
}
