/**
 * Refuses a gate that no payload of a schema can meet, or that every payload meets, and warns about one that is
 * probably a mistake. Only what is certain from the gate and the schema alone is an error.
 */

import { ContractError } from '../errors.ts';
import { isArray, isObject, jsonPointer, parseStrictJson } from '../text/json.ts';
import { suggest } from '../text/messages.ts';
import type { Json, JsonObject } from '../types.ts';
import { collectMentions, type SchemaValidator } from './compile.ts';
import { describeKeywords, describePlace, describeWishes, toSpacedJson } from './gate-words.ts';
import { declaredBooleans, declares, isClosed, requiredProperties } from './root.ts';
import { pointedAt, schemaNodes } from './schema-walk.ts';

/** The subschemas of one document that apply at a path of the payload. */
interface Side {
  /** The subschemas at this path. */
  readonly parts: readonly Json[];
  /** These subschemas with the targets of their `$ref` and `allOf`, at any depth; `NOTHING` stands for `false`. */
  readonly nodes: JsonObject[];
  /** Whether every reference was resolved and none is circular. */
  readonly isWhole: boolean;
}

/** A path of the payload that the gate is about. */
interface Place {
  readonly path: readonly string[];
  /** Whether every payload that meets the gate has a value at this path. */
  readonly isNeeded: boolean;
  readonly gate: Side;
  readonly schema: Side;
}

/** A path that has not been visited yet, with its subschemas. */
interface Pending extends Pick<Place, 'path' | 'isNeeded'> {
  readonly inGate: readonly Json[];
  readonly inSchema: readonly Json[];
}

/** What is certain about the payloads that a schema accepts. */
interface Decision {
  /** Whether they meet the gate. */
  readonly answer: 'always' | 'never' | 'maybe';
  /** Why none of them can; null otherwise. */
  readonly conflict: string | null;
  /** The properties that the gate names and that a payload may lack. */
  readonly missing: readonly string[];
}

/** Bounds the walk: definitions that share parts could be visited without end. */
const MAX_STEPS = 200_000;
const MAX_DEPTH = 50;
const MAX_QUESTIONS = 500;
const MAX_VALUES = 100;
const MAX_NAMES = 5;
const MAX_CANDIDATES = 1_000;

const NOTHING: JsonObject = { not: {} };
/** The `false` that a closed object implies for properties it does not declare. */
const CLOSED: JsonObject = { not: {} };

/** Keywords that require nothing themselves: annotations, and those whose subschemas are visited. */
const SILENT: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$anchor', '$comment', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', 'nullable', 'definitions', '$defs', '$ref', 'allOf', 'properties'],
]);
/** Keywords whose meaning does not depend on other keywords. */
const SELF_CONTAINED: ReadonlySet<string> = new Set(['multipleOf', 'pattern', 'format', 'uniqueItems']);

/** The types of values. An integer has both `integer` and `number`; a fraction has `number` only. */
const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** Keywords that limit values of a type: from below (1) or above (-1). */
const LIMITS: ReadonlyMap<string, readonly [type: string, sign: 1 | -1]> = new Map([
  ['minimum', ['number', 1]],
  ['exclusiveMinimum', ['number', 1]],
  ['maximum', ['number', -1]],
  ['exclusiveMaximum', ['number', -1]],
  ['minLength', ['string', 1]],
  ['maxLength', ['string', -1]],
  ['minItems', ['array', 1]],
  ['maxItems', ['array', -1]],
  ['minProperties', ['object', 1]],
  ['maxProperties', ['object', -1]],
]);

/**
 * Finds mistakes in a gate over a schema, before a model is called.
 * @param named the properties that must be present because the gate names them at its top level
 * @returns probable mistakes, in one or two sentences each
 * @throws ContractError when every payload that the schema accepts meets the gate, or none can
 */
export function lintGate(
  gate: SchemaValidator,
  schema: SchemaValidator,
  named: readonly string[],
): readonly string[] {
  const { answer, conflict, missing } = decideGate(gate, schema, named);
  if (conflict !== null) throw new ContractError('root', conflict);
  const undeclared = findUndeclared(gate.schema, schema.schema);
  const warnings = undeclared.map((path) => describeUndeclared(path, named, schema.schema));
  if (answer !== 'always') return warnings;
  if (missing.length > 0) return [describePresenceOnly(missing), ...warnings];
  throw new ContractError('root', describeVacuous(gate.schema, schema.schema, undeclared[0]));
}

/** Decides whether payloads that a schema accepts and that have the named properties meet a gate. */
export function decideGate(
  gate: SchemaValidator,
  schema: SchemaValidator,
  named: readonly string[],
): Decision {
  let questions = 0;
  const ask = ({ acceptsPart }: SchemaValidator, { parts }: Side, value: Json): boolean | null => {
    const answers = parts.map((part) => {
      questions += 1;
      const answer = questions > MAX_QUESTIONS ? null : acceptsPart(part, value);
      // After a question without an answer, such as a pattern that does not terminate, no more are asked.
      if (answer === null) questions = MAX_QUESTIONS;
      return answer;
    });
    if (answers.includes(false)) return false;
    return answers.includes(null) ? null : true;
  };
  let [canFail, missing] = [false, named];
  for (const place of walkPlaces(gate.schema, schema.schema, new Set(named))) {
    if (place === null) return { answer: 'maybe', conflict: null, missing };
    if (place.path.length === 0) missing = without(named, requires(place.schema.nodes));
    const isRejected = (value: Json) => ask(schema, place.schema, value) === false;
    if (place.isNeeded && isImpossible(place, isRejected))
      return { answer: 'never', conflict: describeConflict(place, schema), missing };
    const isMet = (value: Json) => ask(gate, place.gate, value) === true || isRejected(value);
    canFail ||= !isImplied(place) && !hasFewValues(place.schema, isMet);
  }
  return { answer: canFail ? 'maybe' : 'always', conflict: null, missing };
}

/** Yields the paths that a gate is about, starting at the root; yields null at the end if there are too many. */
function* walkPlaces(
  gate: JsonObject,
  schema: JsonObject,
  named: ReadonlySet<string>,
): Generator<Place | null> {
  const [expandGate, expandSchema] = [createExpand(gate), createExpand(schema)];
  const queue: Pending[] = [{ path: [], isNeeded: true, inGate: [gate], inSchema: [schema] }];
  let steps = 0;
  // The queue grows during iteration.
  for (const { path, isNeeded, inGate, inSchema } of queue) {
    const place = { path, isNeeded, gate: expandGate(inGate), schema: expandSchema(inSchema) };
    const [gateNodes, schemaNodes] = [place.gate.nodes, place.schema.nodes];
    // A payload is always an object.
    if (path.length === 0) schemaNodes.push({ type: 'object' });
    steps += (1 + gateNodes.length) * (1 + schemaNodes.length);
    if (steps + queue.length > MAX_STEPS || path.length > MAX_DEPTH) return yield null;
    yield place;
    const [gateProperties, schemaProperties] = [propertiesOf(gateNodes), propertiesOf(schemaNodes)];
    const [byGate, bySchema] = [requires(gateNodes), requires(schemaNodes)];
    const isObject = typesOf([...gateNodes, ...schemaNodes]).every((type) => type === 'object');
    const isRequired = (name: string) =>
      byGate.has(name) || bySchema.has(name) || (path.length === 0 && named.has(name));
    const names = [...gateProperties.names, ...byGate, ...(gateNodes.some(isClosed) ? bySchema : [])];
    for (const name of new Set(names))
      queue.push({
        path: [...path, name],
        isNeeded: isNeeded && isObject && isRequired(name),
        inGate: gateProperties.find(name),
        inSchema: schemaProperties.find(name),
      });
    const items = gateNodes.flatMap(itemsOf);
    if (items.length > 0)
      queue.push({
        path: [...path, '*'],
        isNeeded: false,
        inGate: items,
        inSchema: schemaNodes.flatMap(itemsOf),
      });
  }
}

/** Creates the function that collects the subschemas of a document which apply together. */
function createExpand(root: JsonObject): (parts: readonly Json[]) => Side {
  // A subschema with its own `$id` changes what `#` refers to.
  const isFollowed = [...schemaNodes(root)].every(
    ({ node, path }) => path.length === 0 || node['$id'] === undefined,
  );
  return (parts) => {
    const nodes = new Set<JsonObject>();
    const rest = [...parts];
    let isWhole = true;
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const node = next === false ? NOTHING : next;
      if (!isObject(node)) continue;
      if (nodes.has(node)) isWhole = false;
      if (nodes.has(node)) continue;
      nodes.add(node);
      const { $ref = true, allOf } = node;
      const target = isFollowed && typeof $ref === 'string' ? pointedAt(root, $ref) : $ref;
      if (target === null) isWhole = false;
      for (const branch of [target, ...listOf(allOf)]) rest.push(branch);
    }
    return { parts, nodes: [...nodes], isWhole };
  };
}

/** The subschemas for each property; `CLOSED` is one where an object is closed and does not declare it. */
function propertiesOf(nodes: readonly JsonObject[]) {
  const entries = nodes.flatMap(({ properties }) => entriesOf(properties));
  const found = Map.groupBy(entries, ([name]) => name);
  const closed = nodes.filter(isClosed);
  const find = (name: string): readonly Json[] => {
    const parts = (found.get(name) ?? []).map(([, part]) => part);
    return closed.every((node) => declares(node, name)) ? parts : [...parts, CLOSED];
  };
  return { names: [...found.keys()], find };
}

/** The subschema that applies to every entry of an array. */
function itemsOf({ items, prefixItems }: JsonObject): readonly Json[] {
  return items === undefined || isArray(items) || prefixItems !== undefined ? [] : [items];
}

function requires(nodes: readonly JsonObject[]): ReadonlySet<string> {
  return new Set(nodes.flatMap(requiredProperties));
}

/** Whether no value that the schema accepts at a path can meet the gate there. */
function isImpossible({ gate, schema }: Place, isRejected: (value: Json) => boolean): boolean {
  return (
    isContradictory([...gate.nodes, ...schema.nodes]) ||
    gate.nodes.flatMap(listedValues).some((values) => values.every(isRejected))
  );
}

function isContradictory(nodes: readonly JsonObject[]): boolean {
  const types = typesOf(nodes);
  return (
    types.every((type) => isOfType(type, 'number') && isRangeEmpty(nodes, !types.includes('number'))) ||
    nodes.some(({ not }) => not === true || (isObject(not) && Object.keys(not).length === 0))
  );
}

/** Whether each keyword of the gate at a path follows from one of the schema. */
function isImplied({ gate, schema }: Place): boolean {
  const types = typesOf(schema.nodes);
  const follows = (node: JsonObject, keyword: string, value: Json): boolean => {
    const limit = LIMITS.get(keyword);
    if (limit !== undefined)
      return (
        !types.some((type) => isOfType(type, limit[0])) ||
        boundOf(schema.nodes, ...limit) >= boundOf([{ [keyword]: value }], ...limit)
      );
    if (keyword === 'type') return without(types, new Set(typesOf([node]))).length === 0;
    if (keyword === 'required') return without(requiredProperties(node), requires(schema.nodes)).length === 0;
    if (keyword === 'items') return itemsOf(node).length > 0;
    if (
      keyword === 'additionalProperties' &&
      (value === true || (isObject(value) && Object.keys(value).length === 0))
    )
      return true;
    if (keyword === 'additionalProperties' && value === false)
      return schema.nodes.some(
        (other) => isClosed(other) && entriesOf(other['properties']).every(([name]) => declares(node, name)),
      );
    return SELF_CONTAINED.has(keyword) && schema.nodes.some((other) => other[keyword] === value);
  };
  const isMet = (node: JsonObject) =>
    Object.entries(node).every(([keyword, value]) => SILENT.has(keyword) || follows(node, keyword, value));
  return isContradictory(schema.nodes) || (gate.isWhole && gate.nodes.every(isMet));
}

/** Whether a path has only a few possible values, all of which meet the gate. */
function hasFewValues({ nodes }: Side, isMet: (value: Json) => boolean): boolean {
  const [shortest] = nodes.flatMap(listedValues).toSorted((a, b) => a.length - b.length);
  const isOfFew = typesOf(nodes).every((type) => type === 'boolean' || type === 'null');
  const values = shortest ?? (isOfFew ? [true, false, null] : []);
  const isScalar = (value: Json) => typeof value !== 'object' || value === null;
  return (
    values.length > 0 &&
    values.length <= MAX_VALUES &&
    values.every((value) => isScalar(value) && isMet(value))
  );
}

/** Returns the types of values that satisfy all of the schemas. */
function typesOf(nodes: readonly JsonObject[]): readonly string[] {
  let types = TYPES;
  for (const { type, nullable } of nodes) {
    if (type === undefined) continue;
    const names = nullable === true ? [...listOf(type), 'null'] : listOf(type);
    types = types.filter((each) => names.some((name) => isOfType(each, name)));
  }
  return types;
}

function isOfType(type: string, name: Json): boolean {
  return type === name || (type === 'integer' && name === 'number');
}

/** Returns the tightest limit for values of a type: the lower one, or the upper one (-1) negated. */
function boundOf(nodes: readonly JsonObject[], type: string, sign: 1 | -1): number {
  let bound = type === 'number' || sign < 0 ? -Infinity : 0;
  for (const [keyword, limit] of LIMITS)
    for (const { [keyword]: value } of limit[0] === type && limit[1] === sign ? nodes : [])
      if (typeof value === 'number')
        bound = Math.max(bound, keyword.startsWith('exclusive') ? next(sign * value) : sign * value);
  return bound;
}

/** Returns the next greater number. */
function next(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([value]).buffer).map(
    (each) => each + (value > 0 ? 1n : -1n),
  );
  return new Float64Array(bits.buffer)[0] ?? value;
}

/** Whether there is no number between the limits. */
function isRangeEmpty(nodes: readonly JsonObject[], isInteger: boolean): boolean {
  const [lower, upper] = [boundOf(nodes, 'number', 1), boundOf(nodes, 'number', -1)];
  return isInteger ? Math.ceil(lower) > -Math.ceil(upper) : lower > -upper;
}

/** Returns the lists of values in a schema: its `enum`, and its `const` as a list of one. */
function listedValues({ const: value, enum: values }: JsonObject): readonly (readonly Json[])[] {
  return [...(isArray(values) ? [values] : []), ...(value === undefined ? [] : [[value]])];
}

function without(names: readonly string[], others: ReadonlySet<string>): readonly string[] {
  return names.filter((name) => !others.has(name));
}

function listOf(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : value === undefined ? [] : [value];
}

function entriesOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  return isObject(value) ? Object.entries(value) : [];
}

/** Finds names that the gate requires and the schema declares nowhere, although it declares others. */
function findUndeclared(gate: JsonObject, schema: JsonObject): readonly (readonly string[])[] {
  const declared = collectMentions(schema).propertyNames;
  const isOpen = [...schemaNodes(schema)].some(
    ({ node }) => isObject(node['additionalProperties']) || node['patternProperties'] !== undefined,
  );
  const found = new Map<string, readonly string[]>();
  for (const { node, path } of isOpen || declared.size === 0 ? [] : schemaNodes(gate))
    for (const [name, part] of entriesOf(node['properties'])) {
      const place = [...placeOf(path), name];
      // Below the root, `false` requires the property to be absent, so it need not be declared.
      if (!declared.has(name) && (part !== false || place.length === 1)) found.set(jsonPointer(place), place);
    }
  return [...found.values()].slice(0, MAX_NAMES);
}

/** Returns the payload path that a subschema is about; a subschema in a definition counts as being about the root. */
function placeOf(path: readonly (string | number)[]): readonly string[] {
  return path.flatMap((segment, at) => {
    if (path[at - 1] === 'properties') return [String(segment)];
    return segment === 'items' || segment === 'contains' ? ['*'] : [];
  });
}

function describeVacuous(gate: JsonObject, schema: JsonObject, undeclared?: readonly string[]): string {
  const wishes = describeWishes(gate);
  const wanted = `it wants ${wishes}, and every payload that the schema accepts meets that.`;
  const what = wishes === null ? 'every payload meets it.' : wanted;
  if (undeclared !== undefined)
    return `The gate checks nothing: ${what} The schema does not declare ${describePlace(undeclared)}. ${suggestName(undeclared, schema)}`;
  const [name = 'passed'] = declaredBooleans(schema);
  const example = toSpacedJson({ properties: { [name]: { const: true } } });
  return `The gate checks nothing: ${what} Write what must hold, such as ${example}, or leave the gate out.`;
}

function describePresenceOnly(names: readonly string[]): string {
  const list = names.slice(0, MAX_NAMES).map((name) => describePlace([name]));
  return `The gate only asks that ${list.join(', ')} be present, whatever the value. Write what the value must be, such as {"const": true}.`;
}

function describeUndeclared(path: readonly string[], named: readonly string[], schema: JsonObject): string {
  const isNamed = path.length === 1 && path.some((name) => named.includes(name));
  const effect = isNamed ? 'does not meet the gate' : 'meets that part of the gate';
  return `The gate is about ${describePlace(path)}, which the schema does not declare: a payload without it ${effect}. ${suggestName(path, schema)}`;
}

function suggestName(path: readonly string[], schema: JsonObject): string {
  const [name = ''] = path.slice(-1);
  const others = without([...collectMentions(schema).propertyNames], new Set([name]));
  const near = suggest(name, others.slice(0, MAX_CANDIDATES)).map((each) => describePlace([each]));
  return near.length === 0
    ? 'Correct the name, or declare it in the schema.'
    : `Did you mean ${near.join(' or ')}?`;
}

function describeConflict(place: Place, document: SchemaValidator): string {
  const { path, gate, schema } = place;
  const where = describePlace(path);
  const end = 'so no payload can meet the gate.';
  if (schema.nodes.some((node) => node === CLOSED || node === NOTHING))
    return `The gate is about ${where}, which the schema does not allow, ${end} ${suggestName(path, document.schema)}`;
  if (gate.nodes.includes(CLOSED))
    return `The gate allows no property ${where}, but the schema requires it, ${end} Declare it under properties of the gate, or remove additionalProperties from the gate.`;
  if (gate.nodes.includes(NOTHING)) {
    const absence = `To ask for its absence, write ${toSpacedJson({ not: { required: path } })}.`;
    return `The gate allows no value for ${where}, ${end} ${path.length === 1 ? absence : 'Remove false from the gate.'}`;
  }
  const wants = `The gate wants ${where} ${describeKeywords(gate.nodes)}`;
  if (isContradictory(gate.nodes) || isRangeEmpty(gate.nodes, false))
    return `${wants}, which nothing satisfies, ${end} Correct the gate.`;
  return `${wants}, but the schema requires it ${describeKeywords(schema.nodes)}, ${end} ${suggestPart(place, document)}`;
}

/** Suggests what to write instead: the value closest to the gate's that the schema accepts. */
function suggestPart({ gate, schema }: Place, document: SchemaValidator): string {
  const [lower, upper] = [boundOf(schema.nodes, 'number', 1), -boundOf(schema.nodes, 'number', -1)];
  const clamp = (value: number) => Math.min(Math.max(value, Math.ceil(lower)), Math.floor(upper));
  for (const [keyword, [type, sign]] of LIMITS)
    for (const { [keyword]: value } of type === 'number' ? gate.nodes : []) {
      const part = { [sign > 0 ? 'minimum' : 'maximum']: clamp(Number(value)) };
      if (value !== undefined && !isRangeEmpty([...schema.nodes, part], false))
        return `Write ${toSpacedJson(part)}.`;
    }
  const listed = schema.nodes.flatMap(listedValues).flat().slice(0, MAX_CANDIDATES);
  const texts = listed.filter((value) => typeof value === 'string');
  const wanted = gate.nodes.flatMap(listedValues).flat().slice(0, MAX_NAMES);
  const near = wanted.flatMap((value): readonly Json[] => {
    if (typeof value === 'number') return [String(value), clamp(value), clamp(Math.round(value))];
    if (typeof value !== 'string') return [JSON.stringify(value)];
    const read = parseStrictJson(value.trim().toLowerCase());
    return [...(read.ok ? [read.value] : []), ...suggest(value, texts, 1)];
  });
  const fitting = [...near, true, ...listed.slice(0, 1)].find((value) =>
    schema.parts.every((part) => document.acceptsPart(part, value) === true),
  );
  if (fitting === undefined) return 'Correct the gate, or the schema.';
  const [value = fitting] = wanted;
  const isText = typeof fitting === 'string';
  const hint = isText === (typeof value === 'string') ? '' : isText ? ', in quotes' : ', without quotes';
  return `Write ${toSpacedJson({ const: fitting })}${hint}.`;
}
