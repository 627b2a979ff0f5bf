/** Finds mistakes in a gate before a model is asked, by comparing it with the schema and by trying values. */
import { ContractError } from '../errors.ts';
import { isArray, isObject, jsonPointer } from '../text/json.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { quote, suggest, truncate } from '../text/messages.ts';
import { withBranches } from '../text/schema-walk.ts';
import type { Json, JsonObject } from '../types.ts';
import { declaredProperties, declares, isClosed, requiredProperties } from './declared.ts';
import { type SchemaValidator, underDeadline, VALIDATION_MS } from './validator.ts';

/** The payload or a property of it, with the subschemas of the gate and the schema that apply to it. */
interface Place {
  readonly path: string;
  readonly gate: readonly JsonObject[];
  readonly schema: readonly JsonObject[];
}

/** A gate may refer to itself without end. */
const MAX_PLACES = 200;

/** What `false` says, as an object. */
const NEVER: JsonObject = { not: {} };

/** Keywords that require nothing themselves. The subschemas of `properties` and `allOf` are looked at. */
const SILENT = /^(?:\$.*|title|description|default|examples|deprecated|definitions|properties|allOf)$/;
/** Keywords that a few values can show to be without effect. */
const TRIED = /^(?:type|const|enum|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/;
/** What of a subschema is worth showing beside a literal that it refuses. */
const SHOWN = ['type', 'const', 'enum', 'minimum', 'maximum', 'pattern', 'anyOf', 'oneOf', '$ref'];
const VALUES: readonly Json[] = [true, false, null, '', 'a', 0, 0.5, 1e6, -1e6, [], {}];

/**
 * Returns what is probably a mistake in a gate, in a sentence or two each.
 * @throws ContractError for a gate without any assertion, a name that a closed schema does not have, and a `const` or
 * `enum` that the schema refuses
 */
export function lintGate(gate: SchemaValidator, schema: SchemaValidator): readonly string[] {
  const timed = underDeadline(() => findMistakes(gate, schema), VALIDATION_MS);
  if (timed.kind === 'threw' && timed.error instanceof ContractError) throw timed.error;
  // A gate that cannot be examined in time is left to the payloads.
  return timed.kind === 'done' ? timed.value : [];
}

function findMistakes(gate: SchemaValidator, schema: SchemaValidator): readonly string[] {
  const places = findPlaces(gate.schema, schema.schema);
  const warnings = places.flatMap((place) => checkNames(place, schema.schema)).slice(0, LISTED.some);
  for (const place of places) checkLiterals(place, schema);
  const asserting = places.filter((place) => assertionsOf(place).length > 0);
  if (asserting.length === 0)
    throw refuse(
      'checks nothing. Write what must hold, such as {"properties": {"passed": {"const": true}}}.',
    );
  if (asserting.some((place) => canFail(place, gate, schema))) return warnings;
  return [...warnings, 'The gate may check nothing: each value tried that the schema accepts meets it.'];
}

/** Lists the payload and the properties that the gate is about, at any depth. */
function findPlaces(gate: JsonObject, schema: JsonObject): readonly Place[] {
  const at = (path: string, inGate: readonly Json[], inSchema: readonly Json[]): Place => ({
    path,
    gate: withBranches(gate, inGate, ['allOf']),
    schema: withBranches(schema, inSchema, ['allOf']),
  });
  const places = [at('', [gate], [schema])];
  // Grows during iteration.
  for (const place of places)
    for (const name of namesIn(place.gate).slice(0, MAX_PLACES - places.length))
      places.push(
        at(`${place.path}${jsonPointer([name])}`, partsFor(name, place.gate), partsFor(name, place.schema)),
      );
  return places;
}

function namesIn(nodes: readonly JsonObject[]): readonly string[] {
  const names = nodes.flatMap((node) => [
    ...Object.keys(node['properties'] ?? {}),
    ...requiredProperties(node),
  ]);
  return [...new Set(names)];
}

function partsFor(name: string, nodes: readonly JsonObject[]): readonly Json[] {
  const declaring = nodes.filter((node) => declares(node, name));
  return declaring.map(({ properties }) => (isObject(properties) && properties[name]) || NEVER);
}

/** Returns a warning for each name that an open schema does not declare. @throws ContractError if it is closed */
function checkNames({ path, gate, schema }: Place, root: JsonObject): readonly string[] {
  const known = schema.flatMap((node) => declaredProperties(root, node));
  return namesIn(gate).flatMap((name) => {
    const [near] = suggest(name, known, 1);
    const fix = near === undefined ? 'Correct the name.' : `Did you mean ${quote(near)}?`;
    const about = `is about ${quote(`${path}${jsonPointer([name])}`)}, which the schema does not`;
    const isForbidden = schema.some((node) => isClosed(node) && !declares(node, name));
    if (isForbidden) throw refuse(`${about} allow. ${fix}`);
    return known.length === 0 || known.includes(name) ? [] : [`The gate ${about} declare. ${fix}`];
  });
}

/** @throws ContractError if the schema refuses every value that a `const` or `enum` of the gate lists */
function checkLiterals({ path, gate, schema }: Place, { acceptsPart }: SchemaValidator): void {
  // The target of a reference says more than the reference.
  for (const values of gate.map((node) => literalsOf([node])))
    for (const part of schema.toReversed()) {
      if (values.length === 0 || values.some((value) => acceptsPart(part, value) !== false)) continue;
      const wanted = truncate(values.map((value) => JSON.stringify(value)).join(' or '), DISPLAY.phrase);
      const said = truncate(JSON.stringify(part, SHOWN), DISPLAY.phrase);
      throw refuse(`wants ${quote(path)} to be ${wanted}, but the schema says ${said}.`);
    }
}

/** Returns the keywords by which the gate requires something at a place. */
function assertionsOf({ path, gate }: Place): readonly string[] {
  const entries = gate.flatMap((node) => Object.entries(node));
  const asserting = entries.filter(
    ([keyword, value]) => !SILENT.test(keyword) && JSON.stringify(value) !== '[]',
  );
  // A payload is always an object.
  return asserting.map(([keyword]) => keyword).filter((keyword) => path !== '' || keyword !== 'type');
}

/** Whether the gate may refuse a value that the schema accepts. */
function canFail(place: Place, gate: SchemaValidator, schema: SchemaValidator): boolean {
  if (!assertionsOf(place).every((keyword) => TRIED.test(keyword))) return true;
  const nodes = [...place.gate, ...place.schema];
  const limits = nodes.flatMap((node) => Object.values(node)).filter((value) => typeof value === 'number');
  const values = [...VALUES, ...literalsOf(place.schema), ...limits.flatMap((at) => [at - 1, at, at + 1])];
  const accepted = values.filter((value) => place.schema.every((part) => schema.acceptsPart(part, value)));
  const isMet = (value: Json) => place.gate.every((part) => gate.acceptsPart(part, value));
  return accepted.length === 0 || !accepted.every(isMet);
}

function literalsOf(nodes: readonly JsonObject[]): readonly Json[] {
  return nodes.flatMap(({ const: value, enum: values }) => [
    ...(value === undefined ? [] : [value]),
    ...(isArray(values) ? values : []),
  ]);
}

function refuse(rest: string): ContractError {
  return new ContractError('gate', 'root', `It ${rest}`);
}
