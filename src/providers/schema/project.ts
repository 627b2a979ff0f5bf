/**
 * The wire schema is a projection: a legal tool schema for a provider, at most as strict as the user's schema, by which
 * the contract validates. What it cannot express is written into a note.
 */
import { isArray, isDeeperThan, isObject, maxDepth } from '../../text/json.ts';
import { shapeOf } from '../../text/schema-keywords.ts';
import type { Json, JsonObject, ToolSpec } from '../../types.ts';
import { noteOf, strictNoteOf } from './note.ts';
import { identifying, type Refs, resolveRefs, subschemas } from './refs.ts';
import { combineLost, strictCopy } from './strict.ts';

/**
 * Whose rules a tool's schema has to follow: OpenAI's, at the vendor and at Azure; Anthropic's; those of Gemini's
 * OpenAI-compatible endpoint; and what any other server of that kind may be trusted with.
 */
export type Dialect = 'openai' | 'anthropic' | 'gemini' | 'compatible';

/** A tool's parameters as a provider accepts them, and what is missing from them, in words for the model. */
export interface Projection {
  readonly parameters: JsonObject;
  /** null where nothing is missing. */
  readonly note: string | null;
}

/** Anthropic refuses the whole request for one name at the top level that does not match. */
const anthropicName = /^[a-zA-Z0-9_.-]{1,64}$/;

/** A limit that OpenAI had for a function's description, and that hosts of its models still have. */
const maxOpenAiDescription = 1024;

/** A tool with its projected parameters; what had to go is a part of its description. */
export function describedTool(
  spec: ToolSpec,
  dialect: Dialect,
): { description: string; parameters: JsonObject } {
  const { parameters, note } = projectSchema(spec.parameters, dialect);
  if (note === null) return { description: spec.description, parameters };
  const description = `${spec.description}\n\n${note}`;
  if (dialect === 'anthropic' || description.length <= maxOpenAiDescription)
    return { description, parameters };
  const own = parameters['description'];
  const told = typeof own === 'string' ? `${own}\n\n${note}` : note;
  return { description: spec.description, parameters: { ...parameters, description: told } };
}

/**
 * The schema as the provider takes it for a tool's parameters, for every schema that the contract accepts. Whatever the
 * full schema accepts, the projection accepts. Written in draft 2020-12, of which `gemini` and `compatible` get a part.
 */
export function projectSchema(schema: JsonObject, dialect: Dialect): Projection {
  const { parameters, lost } = projected(schema, dialect);
  if (dialect === 'openai' || dialect === 'anthropic') return { parameters, note: noteOf(lost) };
  const copy = strictCopy(parameters, dialect);
  return { parameters: copy.schema, note: strictNoteOf(combineLost([lost, copy.lost]), parameters) };
}

/** The parameters in draft 2020-12, and the keywords of the root that they do not say. */
interface Projected {
  readonly parameters: JsonObject;
  readonly lost: JsonObject;
}

function projected(schema: JsonObject, dialect: Dialect): Projected {
  if (isDeeperThan(schema, maxDepth)) return { parameters: { type: 'object', properties: {} }, lost: {} };
  const refs = countsItems(schema) ? null : resolveRefs(schema, keepsMeaning(schema));
  if (refs === null) return vague(schema, dialect);
  const walk = createWalk(refs);
  const view = rootView(schema, refs, walk);
  const lost = lostAtRoot(schema, refs);
  const isFolded = combinators.some((keyword) => schema[keyword] !== undefined);
  const { unevaluatedProperties, ...own } = walk.object(schema);
  // Folded branches no longer count as having looked at a property.
  const kept = unevaluatedProperties === undefined || isFolded ? own : { ...own, unevaluatedProperties };
  if (isFolded && schema['unevaluatedProperties'] !== undefined) {
    lost.set('unevaluatedProperties', schema['unevaluatedProperties']);
  }
  const parameters = nameable(rootObject(kept, view), dialect, lost);
  const defs = { ...objectAt(own, '$defs'), ...hoistedDefs(schema, refs, walk.schema) };
  return {
    parameters: Object.keys(defs).length === 0 ? parameters : { ...parameters, $defs: defs },
    lost: Object.fromEntries(lost),
  };
}

/** Whether a reference to the root means the same when it leads to the projected root. */
function keepsMeaning(schema: JsonObject): boolean {
  const changed = ['nullable', '$ref', '$dynamicRef', ...combinators];
  return schema['type'] === 'object' && !changed.some((keyword) => schema[keyword] !== undefined);
}

/** Whether `unevaluatedItems` is used anywhere: the `items` that OpenAI asks for would change what it sees. */
function countsItems(schema: JsonObject): boolean {
  const rest: Json[] = [schema];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (!isObject(next)) continue;
    if (next['unevaluatedItems'] !== undefined) return true;
    rest.push(...subschemas(next));
  }
  return false;
}

/** Names and nothing else, where the rest cannot be told apart without running the schema. */
function vague(schema: JsonObject, dialect: Dialect): Projected {
  const names = Object.keys(objectAt(schema, 'properties')).filter((name) => isNameable(name, dialect));
  const properties = Object.fromEntries(names.map((name) => [name, {}]));
  return { parameters: { type: 'object', properties }, lost: schema };
}

function rootObject(own: JsonObject, view: View | null): JsonObject {
  const dropped = new Set(['type', 'properties', 'required', '$ref', ...combinators]);
  const rest = Object.entries(own).filter(([keyword]) => !dropped.has(keyword));
  const parts = [...(view?.properties ?? [])].map(([name, part]) => [name, part.schema] as const);
  const required = [...(view?.required ?? [])];
  return {
    type: 'object',
    ...Object.fromEntries(rest.filter(([keyword]) => keyword === 'title' || keyword === 'description')),
    properties: Object.fromEntries(parts),
    ...(required.length === 0 ? {} : { required }),
    ...Object.fromEntries(rest),
  };
}

/** The combinators of the root that did not fold into its properties whole. */
function lostAtRoot(schema: JsonObject, refs: Refs): Map<string, Json> {
  const lost = combinators.flatMap((keyword): [string, Json][] => {
    const value = schema[keyword];
    if (value === undefined) return [];
    return keyword === 'allOf' && foldable({ allOf: value }, refs) ? [] : [[keyword, value]];
  });
  return new Map(lost);
}

/** Leaves out names that the provider refuses, with what would then forbid them. */
function nameable(parameters: JsonObject, dialect: Dialect, lost: Map<string, Json>): JsonObject {
  const entries = Object.entries(objectAt(parameters, 'properties'));
  const refused = entries.filter(([name]) => !isNameable(name, dialect));
  if (refused.length === 0) return parameters;
  lost.set('properties', Object.fromEntries(refused));
  const { additionalProperties, unevaluatedProperties, ...rest } = parameters;
  if (additionalProperties !== undefined) lost.set('additionalProperties', additionalProperties);
  if (unevaluatedProperties !== undefined) lost.set('unevaluatedProperties', unevaluatedProperties);
  return { ...rest, properties: Object.fromEntries(entries.filter(([name]) => isNameable(name, dialect))) };
}

function isNameable(name: string, dialect: Dialect): boolean {
  return dialect !== 'anthropic' || anthropicName.test(name);
}

/** Copies of what references lead to; copying one may name the next. */
function hoistedDefs(root: JsonObject, refs: Refs, copy: (schema: Json) => Json): JsonObject {
  const copies: [string, Json][] = [];
  for (let all = refs.hoisted(); copies.length < all.length; all = refs.hoisted()) {
    for (const [name, target] of all.slice(copies.length)) {
      const { $defs: _, definitions: __, ...rest } = target === root ? root : {};
      copies.push([name, copy(target === root ? rest : target)]);
    }
  }
  return Object.fromEntries(copies);
}

/** Keywords that no provider takes at the root of a tool's parameters. */
const combinators = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

/** At least what a schema accepts among objects. */
interface View {
  readonly properties: ReadonlyMap<string, Part>;
  readonly required: ReadonlySet<string>;
  /** Whether no other names are accepted. */
  readonly closed: boolean;
}

/** A projected schema; `weight` counts what it was put together from. */
interface Part {
  readonly schema: Json;
  readonly weight: number;
}

const anyObject: View = { properties: new Map(), required: new Set(), closed: false };

/** More parts than that in one property are not put together: it accepts anything then. */
const maxWeight = 64;

/** Branches through more references than that are taken to accept anything. */
const maxSteps = 100;

/** Folds a root's combinators and references into one view; null where it accepts no object at all. */
function rootView(root: JsonObject, refs: Refs, walk: Walk): View | null {
  const known = new Map<Json, View | null>();
  const view = (schema: Json, steps: number): View | null => {
    if (!isObject(schema)) return schema === false ? null : anyObject;
    const before = known.get(schema);
    if (before !== undefined) return before;
    if (steps > maxSteps) return anyObject;
    // A schema that leads back to itself says nothing more by that.
    known.set(schema, anyObject);
    const result = folded(schema, steps + 1);
    known.set(schema, result);
    return result;
  };
  const folded = (schema: JsonObject, steps: number): View | null => {
    if (!admitsObjects(schema['type'])) return null;
    const views: (View | null)[] = [ownView(schema, walk)];
    if (schema['$ref'] !== undefined || schema['$dynamicRef'] !== undefined)
      views.push(view(refs.target(schema), steps));
    for (const branch of listAt(schema, 'allOf')) views.push(view(branch, steps));
    for (const keyword of ['anyOf', 'oneOf']) {
      const branches = schema[keyword];
      if (branches !== undefined && isArray(branches))
        views.push(either(branches.map((each) => view(each, steps))));
    }
    if (schema['const'] !== undefined) views.push(literalView(schema['const']));
    const { enum: values } = schema;
    if (values !== undefined && isArray(values)) views.push(either(values.map(literalView)));
    const given = views.filter((each) => each !== null);
    return given.length < views.length ? null : both(given);
  };
  return view(root, 0);
}

/** Whether folding a branch of `allOf` loses nothing of it. */
function foldable(branch: Json, refs: Refs): boolean {
  // What leads back to itself does not end there.
  const known = new Map<Json, boolean>();
  const isFoldable = (each: Json, steps: number): boolean => {
    if (!isObject(each)) return each === true;
    const before = known.get(each);
    if (before !== undefined) return before;
    known.set(each, false);
    const result =
      steps < maxSteps &&
      Object.entries(each).every(([keyword, value]) => {
        if (['properties', 'required', 'title', 'description', '$comment'].includes(keyword)) return true;
        if (keyword === 'type') return value === 'object';
        if (keyword === '$ref') return isFoldable(refs.target(each), steps + 1);
        return keyword === 'allOf' && listAt(each, 'allOf').every((inner) => isFoldable(inner, steps + 1));
      });
    known.set(each, result);
    return result;
  };
  return isFoldable(branch, 0);
}

function admitsObjects(type: Json | undefined): boolean {
  if (typeof type === 'string') return type === 'object';
  return type === undefined || !isArray(type) || type.includes('object');
}

function ownView(schema: JsonObject, walk: Walk): View {
  const { properties, required, additionalProperties, patternProperties } = schema;
  const own = isObject(properties) ? Object.entries(properties) : [];
  return {
    properties: new Map(own.map(([name, value]) => [name, { schema: walk.schema(value), weight: 1 }])),
    required: new Set(
      required !== undefined && isArray(required) ? required.filter((each) => typeof each === 'string') : [],
    ),
    closed: additionalProperties === false && patternProperties === undefined,
  };
}

function literalView(value: Json): View | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  return {
    properties: new Map(entries.map(([name, each]) => [name, { schema: { const: each }, weight: 1 }])),
    required: new Set(Object.keys(value)),
    closed: true,
  };
}

/** What all of them accept; a name that a closed one does not know is accepted by none. */
function both(views: readonly View[]): View {
  const closed = views.filter((each) => each.closed);
  const properties = new Map<string, Part>();
  for (const [name, parts] of partsByName(views)) {
    const known = closed.length === 0 ? 0 : parts.filter(({ view }) => view.closed).length;
    if (known === closed.length) properties.set(name, conjoined(parts.map(({ part }) => part)));
  }
  return {
    properties,
    required: new Set(views.flatMap((each) => [...each.required])),
    closed: closed.length > 0,
  };
}

function conjoined(parts: readonly Part[]): Part {
  const distinct = distinctParts(parts.filter((part) => !isAny(part.schema)));
  const [first, ...others] = distinct;
  if (first === undefined) return { schema: {}, weight: 1 };
  if (others.length === 0) return first;
  const kept: Part[] = [];
  let weight = 0;
  for (const part of distinct) {
    if (weight + part.weight > maxWeight) continue;
    weight += part.weight;
    kept.push(part);
  }
  return kept.length < 2
    ? (kept[0] ?? first)
    : { schema: { allOf: kept.map((part) => part.schema) }, weight };
}

/** What any of them accepts; an open one accepts anything under a name that it does not know. */
function either(branches: readonly (View | null)[]): View | null {
  const views = branches.filter((each) => each !== null);
  if (views.length === 0) return null;
  const open = views.filter((each) => !each.closed).length;
  const properties = new Map<string, Part>();
  for (const [name, parts] of partsByName(views)) {
    const known = parts.filter(({ view }) => !view.closed).length;
    properties.set(name, known < open ? { schema: {}, weight: 1 } : disjoined(parts.map(({ part }) => part)));
  }
  const counts = new Map<string, number>();
  for (const name of views.flatMap((each) => [...each.required]))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  const required = [...counts].filter(([, count]) => count === views.length).map(([name]) => name);
  return { properties, required: new Set(required), closed: open === 0 };
}

function disjoined(parts: readonly Part[]): Part {
  const weight = parts.reduce((sum, part) => sum + part.weight, 0);
  if (parts.some((part) => isAny(part.schema))) return { schema: {}, weight: 1 };
  const distinct = distinctParts(parts);
  const [first, ...others] = distinct;
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined || weight > maxWeight) return { schema: {}, weight: 1 };
  return { schema: { anyOf: distinct.map((part) => part.schema) }, weight };
}

function partsByName(views: readonly View[]): ReadonlyMap<string, readonly { view: View; part: Part }[]> {
  const named = new Map<string, { view: View; part: Part }[]>();
  for (const view of views) {
    for (const [name, part] of view.properties) {
      const before = named.get(name);
      if (before === undefined) named.set(name, [{ view, part }]);
      else before.push({ view, part });
    }
  }
  return named;
}

function distinctParts(parts: readonly Part[]): readonly Part[] {
  if (parts.length < 2) return parts;
  return [...new Map(parts.map((part) => [JSON.stringify(part.schema), part])).values()];
}

function isAny(schema: Json): boolean {
  return isObject(schema) && Object.keys(schema).length === 0;
}

function listAt(schema: JsonObject, keyword: string): readonly Json[] {
  const value = schema[keyword];
  return value !== undefined && isArray(value) ? value : [];
}

/** A walk over one schema; what it copied before it gives again, the same object. */
interface Walk {
  schema(schema: Json): Json;
  object(schema: JsonObject): JsonObject;
}

/** A walk that spells references as `refs` says. The schema must not nest deeper than `maxDepth` of json.ts. */
function createWalk(refs: Refs): Walk {
  const copies = new Map<JsonObject, JsonObject>();
  const schema = (source: Json): Json => {
    if (source === true) return {};
    if (source === false) return { not: {} };
    return isObject(source) ? object(source) : source;
  };
  const object = (source: JsonObject): JsonObject => {
    const before = copies.get(source);
    if (before !== undefined) return before;
    const fields = Object.entries(source).flatMap(([keyword, value]) => copiedField(keyword, value, source));
    const copy = withItems(withDependencies(Object.fromEntries(fields), source, schema));
    copies.set(source, copy);
    return copy;
  };
  const copiedField = (
    keyword: string,
    value: Json,
    source: JsonObject,
  ): readonly (readonly [string, Json])[] => {
    if (identifying.has(keyword)) return [];
    switch (keyword) {
      case '$ref':
      case '$dynamicRef':
        return typeof value === 'string' ? [['$ref', refs.spelled(source)]] : [];
      case 'type':
        return [['type', source['nullable'] === true ? nullable(value) : value]];
      // The contract's compiler reads this word of OpenAPI; 2020-12 does not know it.
      case 'nullable':
      case 'dependencies':
        return [];
      // Without a tuple beside it, it says nothing.
      case 'additionalItems':
        return isArray(source['items'] ?? null)
          ? [['items', typeof value === 'boolean' ? value : schema(value)]]
          : [];
      case 'additionalProperties':
      case 'unevaluatedProperties':
        return [[keyword, typeof value === 'boolean' ? value : schema(value)]];
      case 'items':
        if (isArray(value)) return [['prefixItems', value.map(schema)]];
        return [['items', value === false ? false : schema(value)]];
    }
    return [[keyword, copiedValue(keyword, value)]];
  };
  const copiedValue = (keyword: string, value: Json): Json => {
    switch (shapeOf(keyword, value)) {
      case 'schema':
        return schema(value);
      case 'list':
        return isArray(value) ? value.map(schema) : value;
      case 'map':
        return isObject(value) ? mapped(value, schema) : value;
      case 'literal':
        return value;
    }
  };
  return { schema, object };
}

function mapped(map: JsonObject, copy: (schema: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, copy(value)]));
}

function nullable(type: Json): Json {
  const types = isArray(type) ? type : [type];
  return types.includes('null') ? type : [...types, 'null'];
}

/** Draft-07 `dependencies` as the two keywords that they became. */
function withDependencies(copy: JsonObject, source: JsonObject, schema: (schema: Json) => Json): JsonObject {
  const { dependencies } = source;
  if (!isObject(dependencies)) return copy;
  const required = new Map(Object.entries(objectAt(copy, 'dependentRequired')));
  const schemas = new Map(Object.entries(objectAt(copy, 'dependentSchemas')));
  for (const [name, value] of Object.entries(dependencies)) {
    if (isArray(value)) {
      const before = required.get(name);
      required.set(name, [...new Set([...(isArray(before) ? before : []), ...value])]);
    } else {
      const before = schemas.get(name);
      schemas.set(name, before === undefined ? schema(value) : { allOf: [before, schema(value)] });
    }
  }
  return {
    ...copy,
    ...(required.size === 0 ? {} : { dependentRequired: Object.fromEntries(required) }),
    ...(schemas.size === 0 ? {} : { dependentSchemas: Object.fromEntries(schemas) }),
  };
}

/** OpenAI refuses arrays without `items`. */
function withItems(copy: JsonObject): JsonObject {
  const { type } = copy;
  const isArrayType = type === 'array' || (isArray(type) && type.includes('array'));
  return isArrayType && copy['items'] === undefined ? { ...copy, items: {} } : copy;
}

/** A keyword's object; empty where there is none. */
function objectAt(schema: JsonObject, keyword: string): JsonObject {
  const value = schema[keyword];
  return isObject(value) ? value : {};
}
