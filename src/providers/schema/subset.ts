/** Copies a projection into a dialect that supports only a part of JSON Schema, and lists what it cannot express. */
import { isArray, isObject } from '../../text/json.ts';
import { subschemas } from '../../text/schema-keywords.ts';
import type { Json, JsonObject } from '../../types.ts';
import { annotationsOf, isTaken, type StrictDialect } from './dialects.ts';
import type { Loss } from './note.ts';
import { definitionPointer, isAny, isMereReference, listAt } from './refs.ts';

/**
 * One of several schemas of which a value must match any. Without `types` it is a reference, whose target has types.
 */
interface Alternative {
  readonly types: readonly string[] | null;
  readonly fields: JsonObject;
}

/** A schema as alternatives; none if it accepts nothing. */
interface Alternatives {
  readonly annotations: JsonObject;
  readonly list: readonly Alternative[];
}

interface Target {
  readonly name: string;
  readonly schema: Json;
}

interface Attempt {
  readonly dialect: StrictDialect;
  readonly targets: ReadonlyMap<string, Target>;
  /** Maximum nesting of followed references. */
  readonly maxFollowed: number;
  /** How many more schemas may be copied before no further reference is followed. */
  budget: number;
  readonly losses: Loss[];
  /** The definitions that the copy refers to, by reference, with their names in the copy. */
  readonly wanted: Map<string, Target>;
}

interface Place {
  readonly pointer: string;
  readonly nesting: number;
  /** References that were followed on the way. */
  readonly followed: ReadonlySet<string>;
}

/** Schemas nested deeper than this accept anything. */
const maxNesting = 200;

/** Limits for nested references; the first one that keeps the copy small is used. */
const followingDepths = [24, 6, 3, 1, 0];

/** All types of JSON Schema except `integer`, which `number` includes. */
const allTypes = ['string', 'number', 'boolean', 'object', 'array', 'null'];

/**
 * Copies the parameters of a tool into a strict dialect. They must be a draft 2020-12 object schema without combinators
 * at its root, in which all references lead to `#` or to a definition of the root.
 */
export function copyStrict(
  parameters: JsonObject,
  dialect: StrictDialect,
): { readonly schema: JsonObject; readonly losses: readonly Loss[] } {
  const targets = findTargets(parameters);
  const limit = 2000 + 3 * countSchemas(parameters);
  let schema: JsonObject = {};
  let losses: Loss[] = [];
  for (const maxFollowed of followingDepths) {
    losses = [];
    const attempt = { dialect, targets, maxFollowed, budget: limit, losses, wanted: new Map() };
    schema = copyRoot(parameters, attempt);
    if (attempt.budget >= 0) break;
  }
  return { schema, losses };
}

function countSchemas(schema: JsonObject): number {
  let count = 0;
  const rest: Json[] = [schema];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    count += 1;
    if (isObject(next)) for (const [, child] of subschemas(next)) rest.push(child);
  }
  return count;
}

function findTargets({ $defs, definitions, ...root }: JsonObject): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>([['#', { name: 'root', schema: root }]]);
  for (const [keyword, map] of Object.entries({ definitions, $defs }))
    for (const [name, schema] of isObject(map) ? Object.entries(map) : [])
      targets.set(definitionPointer(keyword, name), { name, schema });
  return targets;
}

function copyRoot(parameters: JsonObject, attempt: Attempt): JsonObject {
  const { $defs: _, definitions: __, ...root } = parameters;
  const { type: ___, ...rest } = copyRequired(root, '#', attempt);
  const definitions: [string, Json][] = [];
  // Copying one definition may refer to the next, which the iterator of the Map still visits.
  for (const { name, schema } of attempt.wanted.values())
    definitions.push([name, copyRequired(schema, `#/$defs/${name}`, attempt)]);
  // llama.cpp treats an object schema without properties as an empty object, unless it is explicitly open.
  const isOpen = rest['properties'] === undefined && rest['additionalProperties'] === undefined;
  return {
    type: 'object',
    properties: {},
    ...rest,
    ...(isOpen && attempt.dialect === 'compatible' ? { additionalProperties: true } : {}),
    ...(definitions.length === 0 ? {} : { $defs: Object.fromEntries(definitions) }),
  };
}

/** Copies a schema where one is required: a schema that accepts nothing becomes one that accepts anything. */
function copyRequired(source: Json, pointer: string, attempt: Attempt): JsonObject {
  const place = { pointer, nesting: 0, followed: new Set<string>() };
  const copy = copySchema(source, place, attempt);
  if (copy !== null) return copy;
  attempt.losses.push({ pointer, keywords: isObject(source) ? source : { not: {} } });
  return copySchema(true, place, attempt) ?? {};
}

/** Copies a schema; null if it accepts nothing. */
function copySchema(source: Json, place: Place, attempt: Attempt): JsonObject | null {
  const { annotations, list } = readAlternatives(source, allTypes, place, attempt);
  if (list.length === 0) return null;
  return attempt.dialect === 'gemini' ? emitForGemini(annotations, list) : emit(annotations, list);
}

/** Returns the alternatives of a schema among values of these types. */
function readAlternatives(
  source: Json,
  types: readonly string[],
  place: Place,
  attempt: Attempt,
): Alternatives {
  const { dialect, losses, targets } = attempt;
  attempt.budget -= 1;
  const isTooDeep = place.nesting > maxNesting;
  if (isTooDeep && isObject(source)) losses.push({ pointer: place.pointer, keywords: source });
  if (isTooDeep || !isObject(source))
    return { annotations: {}, list: source === false ? [] : [{ types, fields: {} }] };
  const { $ref } = source;
  const target = typeof $ref === 'string' ? targets.get($ref) : undefined;
  if (dialect === 'compatible' && target !== undefined && isMereReference(source)) {
    // Servers ignore or reject keywords beside a reference.
    const { $ref: _, ...beside } = source;
    if (Object.keys(beside).length > 0) losses.push({ pointer: place.pointer, keywords: beside });
    const name = nameDefinition(String($ref), target, attempt);
    return { annotations: {}, list: [{ types: null, fields: { $ref: `#/$defs/${name}` } }] };
  }
  const merged = mergeSchema(source, types, place, attempt);
  return {
    annotations: Object.fromEntries(merged.annotations),
    list: merged.isImpossible ? [] : readMerged(merged, attempt),
  };
}

/** Returns the name of a definition without characters that need an escape: llama.cpp does not decode pointers. */
function nameDefinition(reference: string, { name: own, schema }: Target, { wanted }: Attempt): string {
  const before = wanted.get(reference);
  if (before !== undefined) return before.name;
  const names = new Set([...wanted.values()].map(({ name }) => name));
  const plain = own.replaceAll(/[^\w.-]/g, '_') || '_';
  let name = plain;
  for (let n = 2; names.has(name); n += 1) name = `${plain}_${n}`;
  wanted.set(reference, { name, schema });
  return name;
}

/** The keywords of schemas that must all match; of two values for one keyword, the first is kept. */
interface Merged {
  types: readonly string[];
  readonly keywords: Map<string, Json>;
  readonly properties: Map<string, Json>;
  readonly required: Set<Json>;
  readonly annotations: Map<string, Json>;
  readonly unions: [keyword: string, branches: readonly Json[]][];
  /** The position of the schemas; merged references count as followed. */
  readonly place: Place & { readonly followed: Set<string> };
  /** The schema whose `items` and `prefixItems` are kept: those of two schemas mean something else together. */
  itemsOf: JsonObject | null;
  isImpossible: boolean;
}

function mergeSchema(source: JsonObject, types: readonly string[], place: Place, attempt: Attempt): Merged {
  const merged: Merged = {
    types,
    keywords: new Map(),
    properties: new Map(),
    required: new Set(),
    annotations: new Map(),
    unions: [],
    place: { ...place, nesting: place.nesting + 1, followed: new Set(place.followed) },
    itemsOf: null,
    isImpossible: false,
  };
  const references = merge(source, merged, attempt);
  // The target of a reference may add references, which the loop still visits.
  for (const each of references) references.push(...mergeReference(each, merged, attempt));
  merged.isImpossible ||= merged.types.length === 0;
  return merged;
}

/** Merges a schema and its `allOf`; returns the references that must match as well. */
function merge(source: Json, merged: Merged, attempt: Attempt): string[] {
  if (!isObject(source)) {
    merged.isImpossible ||= source === false;
    return [];
  }
  const { keywords, annotations, properties, unions } = merged;
  const lost = new Map<string, Json>();
  const references: string[] = [];
  for (const [keyword, value] of Object.entries(source)) {
    if (keyword === '$defs' || keyword === 'definitions') continue;
    if (keyword === 'type') merged.types = commonTypes(merged.types, typesOf(value));
    else if (keyword === 'required') for (const name of listAt(source, keyword)) merged.required.add(name);
    else if (keyword === 'properties' && isObject(value))
      for (const [name, each] of Object.entries(value)) {
        const before = properties.get(name) ?? true;
        if (isAny(before)) properties.set(name, each);
        else if (!isAny(each) && !isSame(before, each))
          lose({ properties: { [name]: each } }, merged, attempt);
      }
    else if (keyword === 'not' && isAny(value)) merged.isImpossible = true;
    else if (keyword === 'allOf' && isArray(value))
      for (const each of value) references.push(...merge(each, merged, attempt));
    else if (keyword === '$ref' && typeof value === 'string') references.push(value);
    else if ((keyword === 'anyOf' || keyword === 'oneOf') && isArray(value)) unions.push([keyword, value]);
    else if (annotationsOf[attempt.dialect].has(keyword)) {
      if (!annotations.has(keyword)) annotations.set(keyword, value);
    } else if (isOfTuple(keyword) && merged.itemsOf !== null && merged.itemsOf !== source) {
      if (!isAny(value)) lost.set(keyword, value);
    } else if (!keywords.has(keyword)) {
      keywords.set(keyword, value);
      if (isOfTuple(keyword)) merged.itemsOf = source;
    } else if (!isSame(keywords.get(keyword) ?? null, value)) lost.set(keyword, value);
  }
  lose(Object.fromEntries(lost), merged, attempt);
  return references;
}

function isOfTuple(keyword: string): boolean {
  return keyword === 'items' || keyword === 'prefixItems';
}

function lose(keywords: JsonObject, { place: { pointer } }: Merged, { losses }: Attempt): void {
  if (Object.keys(keywords).length > 0) losses.push({ pointer, keywords });
}

/** Merges the target of a reference; if it would lead too far, only a hint is left. */
function mergeReference(reference: string, merged: Merged, attempt: Attempt): readonly string[] {
  const { followed } = merged.place;
  const target = attempt.targets.get(reference);
  if (target === undefined) return [];
  if (!followed.has(reference) && followed.size < attempt.maxFollowed && attempt.budget >= 0) {
    followed.add(reference);
    attempt.budget -= 1;
    return merge(target.schema, merged, attempt);
  }
  const { type, description }: JsonObject = isObject(target.schema) ? target.schema : {};
  const what =
    reference === '#' ? 'the arguments themselves' : `the definition ${JSON.stringify(target.name)}`;
  const hint = `Follows ${what}; see the note on this tool's arguments.`;
  merged.types = commonTypes(merged.types, typesOf(type));
  if (!merged.annotations.has('description'))
    merged.annotations.set(
      'description',
      typeof description === 'string' ? `${description} (${hint})` : hint,
    );
  lose({ $ref: reference }, merged, attempt);
  return [];
}

/** Keywords that are read together with others. */
const readTogether = new Set(['const', 'enum', 'items', 'prefixItems', 'additionalProperties']);

function readMerged(merged: Merged, attempt: Attempt): readonly Alternative[] {
  const { dialect } = attempt;
  const { keywords, unions, place } = merged;
  const kept = new Map<string, Json>();
  const lost = new Map<string, Json>();
  for (const [keyword, value] of keywords) {
    if (readTogether.has(keyword)) continue;
    const isKept = merged.types.some((type) => isTaken(dialect, keyword, value, type));
    (isKept ? kept : lost).set(keyword, value);
  }
  lose(Object.fromEntries(lost), merged, attempt);
  const types = readLiterals(merged, kept, attempt);
  if (dialect === 'gemini') readExclusive(merged, kept);
  readProperties(merged, kept, attempt);
  readItems(merged, kept, attempt);
  const [union, ...others] = unions;
  // Keywords beside a union, or a second union, are not distributed over its branches; they are listed in the note.
  const isUnion = union !== undefined && kept.size === 0;
  for (const [keyword, branches] of isUnion ? others : unions) lose({ [keyword]: branches }, merged, attempt);
  if (!isUnion) return types.length === 0 ? [] : [{ types, fields: Object.fromEntries(kept) }];
  const [keyword, branches] = union;
  if (keyword === 'oneOf') lose({ oneOf: 'Only one of the alternatives may match.' }, merged, attempt);
  return branches.flatMap((each, at) => {
    const branch = { ...place, pointer: `${place.pointer}/${keyword}/${at}` };
    const { annotations, list } = readAlternatives(each, types, branch, attempt);
    // Annotations are not possible beside a reference.
    return list.map((option, index) =>
      index > 0 || option.types === null
        ? option
        : { ...option, fields: { ...annotations, ...option.fields } },
    );
  });
}

/** Reads `const` and `enum`; returns the remaining types. */
function readLiterals(merged: Merged, kept: Map<string, Json>, attempt: Attempt): readonly string[] {
  const { const: single, enum: listed } = Object.fromEntries(merged.keywords);
  if (single !== undefined && listed !== undefined) lose({ enum: listed }, merged, attempt);
  const values = single === undefined ? listed : [single];
  if (!isArray(values)) return merged.types;
  // Google's API only allows non-empty strings in `enum`; null is expressed in another way.
  const strings = values.filter((each) => typeof each === 'string');
  const isSayable = values.every((each) => each === null || typeof each === 'string');
  if (attempt.dialect === 'compatible') kept.set('enum', values);
  else if (!isSayable || strings.includes('')) lose({ enum: values }, merged, attempt);
  if (attempt.dialect === 'gemini' && strings.length > 0 && !strings.includes('')) kept.set('enum', strings);
  return commonTypes(typesOf([...new Set(values.map(typeOf))]), merged.types);
}

/** Converts exclusive bounds to inclusive ones, which is only exact for integers. */
function readExclusive({ types, keywords }: Merged, kept: Map<string, Json>): void {
  const isWhole = types.every((type) => type !== 'number');
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = Object.fromEntries(keywords);
  if (typeof above === 'number') {
    const least = isWhole ? Math.floor(above) + 1 : above;
    kept.set('minimum', typeof minimum === 'number' ? Math.max(minimum, least) : least);
  }
  if (typeof below === 'number') {
    const most = isWhole ? Math.ceil(below) - 1 : below;
    kept.set('maximum', typeof maximum === 'number' ? Math.min(maximum, most) : most);
  }
}

function readProperties(merged: Merged, kept: Map<string, Json>, attempt: Attempt): void {
  const { keywords, place, required } = merged;
  const isGemini = attempt.dialect === 'gemini';
  const copies: [string, Json][] = [];
  for (const [name, each] of merged.properties) {
    const pointer = `${place.pointer}${definitionPointer('properties', name).slice(1)}`;
    const copy = copySchema(each, { ...place, pointer }, attempt);
    if (copy !== null) copies.push([name, copy]);
    else attempt.losses.push({ pointer, keywords: isObject(each) ? each : { not: {} } });
  }
  const properties = Object.fromEntries(copies);
  if (copies.length > 0) kept.set('properties', properties);
  const known = [...required].filter((name) => !isGemini || Object.hasOwn(properties, String(name)));
  if (known.length > 0) kept.set('required', known);
  if (known.length < required.size)
    lose({ required: [...required].filter((name) => !known.includes(name)) }, merged, attempt);
  const others = keywords.get('additionalProperties');
  // Anything that the patterns allow must remain possible, including with llama.cpp, which treats objects as closed by
  // default.
  if (isGemini || keywords.has('patternProperties')) {
    if (!isGemini) kept.set('additionalProperties', true);
    if (others !== undefined && others !== true) lose({ additionalProperties: others }, merged, attempt);
  } else if (others !== undefined) {
    const pointer = `${place.pointer}/additionalProperties`;
    const copy = isObject(others) ? copySchema(others, { ...place, pointer }, attempt) : others;
    kept.set('additionalProperties', copy ?? false);
  }
}

/** Reads `items`, into which a tuple is converted, too: a list of anything that it allows at any position. */
function readItems(merged: Merged, kept: Map<string, Json>, attempt: Attempt): void {
  const { items = true, maxItems, prefixItems = [] } = Object.fromEntries(merged.keywords);
  const prefix = isArray(prefixItems) ? prefixItems : [];
  if (prefix.length > 0) lose({ prefixItems: prefix, ...(isAny(items) ? {} : { items }) }, merged, attempt);
  const isFull = typeof maxItems === 'number' && maxItems <= prefix.length;
  if (items === false && !isFull) kept.set('maxItems', prefix.length);
  const isClosed = items === false || isFull;
  if (!isClosed && isAny(items)) return;
  const schemas = isClosed ? prefix : [...prefix, items];
  const place = { ...merged.place, pointer: `${merged.place.pointer}/items` };
  const [only = true, ...others] = schemas;
  const copy = isAny(only) ? {} : copySchema(others.length > 0 ? { anyOf: schemas } : only, place, attempt);
  if (copy === null) kept.set('maxItems', 0);
  else kept.set('items', copy);
}

function emit(annotations: JsonObject, list: readonly Alternative[]): JsonObject {
  const [first, ...others] = list;
  if (first === undefined || others.length > 0)
    return { ...annotations, anyOf: list.map((each) => emitAlternative(each, {})) };
  return emitAlternative(first, annotations);
}

function emitAlternative({ types, fields }: Alternative, annotations: JsonObject): JsonObject {
  const [first, ...others] = types ?? [];
  if (types === null || first === undefined) return fields;
  return {
    type: others.length === 0 ? first : types,
    ...annotations,
    ...pickFields(types, fields, 'compatible'),
  };
}

/** Emits one type per schema; null is not a type but a flag on another one. */
function emitForGemini(annotations: JsonObject, list: readonly Alternative[]): JsonObject {
  const typed = list.flatMap(({ types, fields }) =>
    (types ?? [])
      .filter((type) => type !== 'null')
      .map((type): JsonObject => ({ type, ...pickFields([type], fields, 'gemini') })),
  );
  const isNullable = list.some(({ types }) => types?.includes('null'));
  const [first = { type: 'string' }, ...others] = typed;
  const { type, ...rest } = first;
  const head = { type: type ?? 'string', ...annotations, ...rest, ...(isNullable ? { nullable: true } : {}) };
  // No other keyword is allowed beside `anyOf`.
  return others.length === 0 ? head : { anyOf: [head, ...others] };
}

/** Returns the fields that the dialect accepts for one of these types; an array always has `items`. */
function pickFields(types: readonly string[], fields: JsonObject, dialect: StrictDialect): JsonObject {
  const picked = Object.entries(fields).filter(
    ([keyword, value]) =>
      annotationsOf[dialect].has(keyword) || types.some((type) => isTaken(dialect, keyword, value, type)),
  );
  return {
    ...Object.fromEntries(picked),
    ...(types.includes('array') ? { items: fields['items'] ?? {} } : {}),
  };
}

/** Returns the types that a schema names; all types if it names none. */
function typesOf(type: Json | undefined): readonly string[] {
  if (typeof type === 'string') return [type];
  if (!isArray(type)) return allTypes;
  const names = type.filter((each) => typeof each === 'string');
  return names.includes('number') ? names.filter((each) => each !== 'integer') : names;
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function commonTypes(one: readonly string[], other: readonly string[]): readonly string[] {
  const common = one.flatMap((type) => {
    if (other.includes(type)) return [type];
    const isNarrower =
      type === 'integer' ? other.includes('number') : type === 'number' && other.includes('integer');
    return isNarrower ? ['integer'] : [];
  });
  return [...new Set(common)];
}

/** Whether two values are certainly equal; large ones are not compared. */
function isSame(one: Json, other: Json): boolean {
  if (one === other) return true;
  const isSmall = [one, other].every(
    (each) => isObject(each) && Object.keys(each).length < 4 && !Object.values(each).some(isObject),
  );
  return isSmall && JSON.stringify(one) === JSON.stringify(other);
}
