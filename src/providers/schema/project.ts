/**
 * Projects the user's schema to a valid tool schema for a provider. It is at most as strict as the user's schema, which
 * the contract uses for validation. What it cannot express is written into a note.
 */
import { isArray, isDeeperThan, isObject } from '../../text/json.ts';
import { JSON_TEXT } from '../../text/limits.ts';
import { shapeOf, subschemas } from '../../text/schema-keywords.ts';
import type { Json, JsonObject, ToolSpec } from '../../types.ts';
import { objectOf } from '../tool-calls.ts';
import { type Loss, writeNote } from './note.ts';
import {
  identifying,
  isAny,
  isMereReference,
  listAt,
  objectAt,
  type References,
  resolveReferences,
} from './refs.ts';
import { copyStrict } from './subset.ts';

/**
 * The rules that a tool schema has to follow: those of OpenAI and Azure, of Anthropic, of Gemini's OpenAI-compatible
 * endpoint, or what any other OpenAI-compatible server is likely to support.
 */
export type Dialect = 'openai' | 'anthropic' | 'gemini' | 'compatible';

/**
 * The parameters of a tool in a form that a provider accepts, and a description for the model of what is missing from
 * them.
 */
export interface Projection {
  readonly parameters: JsonObject;
  /** null if nothing is missing. */
  readonly note: string | null;
}

/** Anthropic rejects the whole request because of one top-level property name that does not match. */
const anthropicName = /^[a-zA-Z0-9_.-]{1,64}$/;

/** A former limit of OpenAI for the description of a function, which hosts of its models still have. */
const maxOpenAiDescription = 1024;

/** Returns a tool with its projected parameters; its description includes what had to be left out. */
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
  const long = typeof own === 'string' ? `${own}\n\n${note}` : note;
  return { description: spec.description, parameters: { ...parameters, description: long } };
}

/**
 * Returns the schema in the form that the provider accepts as tool parameters, for every schema that the contract
 * accepts. The projection accepts everything that the full schema accepts. Written in draft 2020-12, of which `gemini`
 * and `compatible` get a part.
 */
export function projectSchema(schema: JsonObject, dialect: Dialect): Projection {
  const { parameters, lost } = projectRoot(schema, dialect);
  const losses: readonly Loss[] = Object.keys(lost).length === 0 ? [] : [{ pointer: '#', keywords: lost }];
  if (dialect === 'openai' || dialect === 'anthropic') return { parameters, note: writeNote(losses, {}) };
  const copy = copyStrict(parameters, dialect);
  return { parameters: copy.schema, note: writeNote([...losses, ...copy.losses], parameters) };
}

/** The parameters in draft 2020-12, and the keywords of the root that they lack. */
interface ProjectedRoot {
  readonly parameters: JsonObject;
  readonly lost: JsonObject;
}

/** Keywords that no provider accepts at the root of a tool's parameters. */
const combinators = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

function projectRoot(root: JsonObject, dialect: Dialect): ProjectedRoot {
  if (isDeeperThan(root, JSON_TEXT.depth))
    return { parameters: { type: 'object', properties: {} }, lost: {} };
  const keepsRoot =
    root['type'] === 'object' && ['nullable', ...combinators].every((keyword) => root[keyword] === undefined);
  const references = countsItems(root) ? null : resolveReferences(root, keepsRoot);
  if (references === null) return nameProperties(root, dialect);
  const schema = followRoot(root, references);
  const isPlain = combinators.every((keyword) => schema[keyword] === undefined);
  const rewrite = createRewriter(references);
  const { isWhole, required, properties } = createViewer(references, rewrite)(schema);
  const lost = combinators.filter((keyword) => !(isWhole && (keyword === 'allOf' || keyword === '$ref')));
  // Folded branches no longer mark a property as evaluated.
  if (!isPlain) lost.push('unevaluatedProperties');
  const { title, description, $defs, ...others } = objectOf(rewrite(schema));
  const dropped = new Set(['type', 'properties', 'required', '$ref', ...combinators, ...lost]);
  const parameters = {
    type: 'object',
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries([...properties].map(([name, any]) => [name, unite(any)])),
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...Object.fromEntries(Object.entries(others).filter(([keyword]) => !dropped.has(keyword))),
  };
  const definitions = { ...objectAt({ $defs: $defs ?? {} }, '$defs'), ...hoist(root, references, rewrite) };
  return dropUnnameable(
    Object.keys(definitions).length === 0 ? parameters : { ...parameters, $defs: definitions },
    pick(schema, lost),
    dialect,
  );
}

/**
 * Follows the reference in `{"$ref": "#/definitions/Verdict", "definitions": …}`, which generators write: its target
 * becomes the root.
 */
function followRoot(root: JsonObject, references: References): JsonObject {
  const { $defs, definitions, ...rest } = root;
  if (!isMereReference(rest)) return root;
  let target: JsonObject | boolean = root;
  for (let steps = 0; isObject(target) && target['$ref'] !== undefined && steps < maxSteps; steps += 1)
    target = references.resolve(target);
  if (!isObject(target) || target['$ref'] !== undefined) return root;
  return { ...target, ...pick(root, ['$defs', 'definitions']) };
}

function pick(schema: JsonObject, keywords: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keywords.includes(keyword)));
}

/** Whether `unevaluatedItems` is used anywhere; the `items` that OpenAI requires would change its result. */
function countsItems(schema: JsonObject): boolean {
  const rest: Json[] = [schema];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (!isObject(next)) continue;
    if (next['unevaluatedItems'] !== undefined) return true;
    for (const [, child] of subschemas(next)) rest.push(child);
  }
  return false;
}

/** Projects to property names only, if the meaning of the rest cannot be determined without running the schema. */
function nameProperties(schema: JsonObject, dialect: Dialect): ProjectedRoot {
  const names = Object.keys(objectAt(schema, 'properties')).filter((name) => isNameable(name, dialect));
  const properties = Object.fromEntries(names.map((name) => [name, {}]));
  return { parameters: { type: 'object', properties }, lost: schema };
}

/** Leaves out names that the provider rejects, and keywords that would then forbid them. */
function dropUnnameable(parameters: JsonObject, lost: JsonObject, dialect: Dialect): ProjectedRoot {
  const entries = Object.entries(objectAt(parameters, 'properties'));
  const refused = entries.filter(([name]) => !isNameable(name, dialect));
  if (refused.length === 0) return { parameters, lost };
  const { additionalProperties, unevaluatedProperties, ...rest } = parameters;
  return {
    parameters: {
      ...rest,
      properties: Object.fromEntries(entries.filter((each) => !refused.includes(each))),
    },
    lost: {
      ...lost,
      properties: Object.fromEntries(refused),
      ...pick(parameters, ['additionalProperties', 'unevaluatedProperties']),
    },
  };
}

function isNameable(name: string, dialect: Dialect): boolean {
  return dialect !== 'anthropic' || anthropicName.test(name);
}

/** Copies the targets of references into definitions; a copy may add further targets. */
function hoist(root: JsonObject, { hoisted }: References, rewrite: Rewriter): JsonObject {
  const copies: [string, Json][] = [];
  // The list grows while the copies are made.
  for (const [name, target] of hoisted) {
    const { $defs: _, definitions: __, ...copy } = objectOf(rewrite(target));
    copies.push([name, target === root ? copy : rewrite(target)]);
  }
  return Object.fromEntries(copies);
}

/** A lower bound of the objects that a schema accepts. */
interface View {
  /** Schemas by property name; the property matches any one of them. Empty if it may be anything. */
  readonly properties: ReadonlyMap<string, readonly Json[]>;
  readonly required: ReadonlySet<string>;
  /** Whether no other names are accepted. */
  readonly isClosed: boolean;
  /** Whether the schema requires nothing else of an object. */
  readonly isWhole: boolean;
}

const anyObject: View = { properties: new Map(), required: new Set(), isClosed: false, isWhole: false };

/** A property with more alternatives than this may be anything. */
const maxAlternatives = 64;

/** References through more schemas than this are assumed to accept anything. */
const maxSteps = 100;

/** Keywords that a view represents completely; `allOf` and `$ref` only if their contents are. */
const viewed = new Set([
  'type',
  'properties',
  'required',
  'title',
  'description',
  '$comment',
  '$ref',
  'allOf',
]);

/**
 * Returns a function that reads the view of a root and its branches: merges `allOf` and references, unites `anyOf` and
 * `oneOf`.
 */
function createViewer(references: References, rewrite: Rewriter): (root: JsonObject) => View {
  const known = new Map<JsonObject, View>();
  const view = (schema: Json, steps: number): View => {
    if (!isObject(schema) || steps > maxSteps) return { ...anyObject, isWhole: schema === true };
    const before = known.get(schema);
    if (before !== undefined) return before;
    // A schema that refers back to itself adds nothing.
    known.set(schema, anyObject);
    const inner = (each: Json) => view(each, steps + 1);
    const all = [viewOwn(schema, rewrite), ...listAt(schema, 'allOf').map(inner)];
    if (schema['$ref'] !== undefined) all.push(inner(references.resolve(schema)));
    for (const keyword of ['anyOf', 'oneOf']) {
      const branches = listAt(schema, keyword).filter(admitsObjects);
      if (branches.length > 0) all.push(uniteViews(branches.map(inner)));
    }
    const merged = mergeViews(all);
    known.set(schema, merged);
    return merged;
  };
  return (root) => {
    const { isWhole } = view(root['$ref'] === undefined ? pick(root, ['properties', 'allOf']) : root, 0);
    return { ...view(root, 0), isWhole };
  };
}

function admitsObjects(schema: Json): boolean {
  if (!isObject(schema)) return schema !== false;
  const { type } = schema;
  return type === undefined || type === 'object' || (isArray(type) && type.includes('object'));
}

function viewOwn(schema: JsonObject, rewrite: Rewriter): View {
  const properties = Object.entries(objectAt(schema, 'properties')).map(
    ([name, each]) => [name, isAny(each) ? [] : [rewrite(each)]] as const,
  );
  return {
    properties: new Map(properties),
    required: new Set(listAt(schema, 'required').filter((each) => typeof each === 'string')),
    isClosed: schema['additionalProperties'] === false && schema['patternProperties'] === undefined,
    isWhole: admitsObjects(schema) && Object.keys(schema).every((keyword) => viewed.has(keyword)),
  };
}

/** Returns what all views accept; if two of them know a property, the first counts. */
function mergeViews(views: readonly View[]): View {
  const properties = new Map<string, readonly Json[]>();
  let isWhole = views.every((each) => each.isWhole);
  for (const [name, alternatives] of views.flatMap((view) => [...view.properties])) {
    const before = properties.get(name) ?? [];
    if (before.length === 0) properties.set(name, alternatives);
    else if (alternatives.length > 0) isWhole = false;
  }
  const required = new Set(views.flatMap((each) => [...each.required]));
  return { properties, required, isClosed: views.some((each) => each.isClosed), isWhole };
}

/** Returns what any of the views accepts; an open view accepts anything under a name that it does not know. */
function uniteViews(views: readonly View[]): View {
  const properties = new Map<string, readonly Json[]>();
  for (const name of new Set(views.flatMap((view) => [...view.properties.keys()]))) {
    const known = views.filter((view) => view.properties.has(name) || !view.isClosed);
    const lists = known.map((view) => view.properties.get(name) ?? []);
    const all = lists.flat();
    const isOpen = lists.some((list) => list.length === 0) || all.length > maxAlternatives;
    properties.set(
      name,
      isOpen ? [] : [...new Map(all.map((each) => [JSON.stringify(each), each])).values()],
    );
  }
  const [first, ...others] = views;
  const required = [...(first?.required ?? [])].filter((name) =>
    others.every((each) => each.required.has(name)),
  );
  return {
    properties,
    required: new Set(required),
    isClosed: views.every((each) => each.isClosed),
    isWhole: false,
  };
}

function unite(alternatives: readonly Json[]): Json {
  const [first = {}, ...others] = alternatives;
  return others.length === 0 ? first : { anyOf: alternatives };
}

/** Copies a schema into draft 2020-12; returns the same object if it has already copied the schema. */
type Rewriter = (schema: Json) => Json;

/** Creates a rewriter. The schemas must not be nested deeper than `JSON_TEXT.depth`. */
function createRewriter(references: References): Rewriter {
  const copies = new Map<JsonObject, JsonObject>();
  const rewrite = (source: Json): Json => {
    if (source === true) return {};
    if (source === false) return { not: {} };
    if (!isObject(source)) return source;
    const copy = copies.get(source) ?? rewriteObject(source);
    copies.set(source, copy);
    return copy;
  };
  const rewriteObject = (source: JsonObject): JsonObject => {
    const copy = new Map<string, Json>();
    for (const [keyword, value] of Object.entries(source)) {
      // The contract's compiler reads `nullable` of OpenAPI, which 2020-12 does not have.
      if (identifying.has(keyword) || keyword === 'nullable') continue;
      if (keyword === '$ref') copy.set(keyword, references.write(source));
      else if (keyword === 'type') copy.set(keyword, source['nullable'] === true ? addNull(value) : value);
      else if (keyword === 'items' && isArray(value)) copy.set('prefixItems', value.map(rewrite));
      else if (keyword === 'additionalItems') {
        // Without a tuple in `items`, it has no effect.
        if (isArray(source['items'])) copy.set('items', rewriteOpen(value));
      } else if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties')
        copy.set(keyword, rewriteOpen(value));
      else if (keyword === 'items' && value === false) copy.set(keyword, value);
      else copy.set(keyword, rewriteValue(keyword, value));
    }
    const types = copy.get('type');
    // OpenAI rejects arrays without `items`.
    const isList = types === 'array' || (isArray(types) && types.includes('array'));
    if (isList && !copy.has('items')) copy.set('items', {});
    return Object.fromEntries(copy);
  };
  /** Keeps a boolean where booleans are common. */
  const rewriteOpen = (value: Json) => (typeof value === 'boolean' ? value : rewrite(value));
  const rewriteValue = (keyword: string, value: Json): Json => {
    const shape = shapeOf(keyword, value);
    if (shape === 'schema') return rewrite(value);
    if (shape === 'list' && isArray(value)) return value.map(rewrite);
    if (shape !== 'map' || !isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rewrite(each)]));
  };
  return rewrite;
}

function addNull(type: Json): Json {
  const types = isArray(type) ? type : [type];
  return types.includes('null') ? type : [...types, 'null'];
}
