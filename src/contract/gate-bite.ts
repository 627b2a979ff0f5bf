/** Whether a gate can fail at all. Sound, and not complete: what is not certain counts as a gate that bites. */
import { isArray, isObject, jsonPointer } from '../json.ts';
import type { Json, JsonObject } from '../types.ts';
import { isClosed } from './declared.ts';
import {
  hasOwnIds,
  isAmong,
  isForbidden,
  isOfTypes,
  isRequired,
  itemOf,
  type Known,
  knownOf,
  propertyOf,
  saysTheSame,
  UNKNOWN,
} from './gate-known.ts';
import { pointedAt, schemaNodes } from './keywords.ts';

/** What was found of a gate that nothing can fail. */
export interface Toothless {
  /** The places in a payload that the gate asks about, and where nothing can be, as JSON pointers; `*` for any index. */
  readonly forbidden: readonly string[];
}

interface Walk {
  readonly gate: JsonObject;
  /** Schemas that may still be looked at; references that share parts would multiply without end. */
  budget: number;
  readonly forbidden: Set<string>;
}

/** Where a walk stands: the place in the payload, and the references that led here. */
interface Step {
  readonly known: Known;
  readonly place: readonly string[];
  readonly trail: readonly JsonObject[];
}

const BUDGET = 20_000;

/** Keywords that say something of a schema, and ask for nothing. */
const IDLE: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$anchor', '$comment', 'title', 'description', 'default', 'examples'],
  ...['deprecated', 'readOnly', 'writeOnly', 'nullable', 'definitions', '$defs'],
]);
const TYPES: readonly Json[] = ['array', 'boolean', 'null', 'number', 'object', 'string'];

/**
 * Why every object that a schema accepts satisfies the gate's own schema; null where that is not certain. Whether the
 * properties are there that the gate names is another question.
 * @param schema null for objects of which nothing is known.
 */
export function toothless(gate: JsonObject, schema: JsonObject | null): Toothless | null {
  for (const { node } of schemaNodes(gate)) {
    // Beside the validator there is a rule of its own for these (see prototype-keys.ts).
    if (node['unevaluatedProperties'] !== undefined) return null;
  }
  const walk: Walk = { gate, budget: BUDGET, forbidden: new Set() };
  const isObjectAnyway = { type: 'object' };
  const known = knownOf(schema ?? {}, [schema ?? {}, isObjectAnyway]);
  return holds(gate, { known, place: [], trail: [] }, walk) ? { forbidden: [...walk.forbidden] } : null;
}

/** Whether a part of the gate holds for whatever is known like this. */
function holds(part: Json | undefined, step: Step, walk: Walk): boolean {
  if (part === true) return true;
  walk.budget -= 1;
  if (!isObject(part) || walk.budget < 0) return false;
  return Object.entries(part).every(
    ([keyword, value]) => IDLE.has(keyword) || asksNothing(keyword, value, part, step, walk),
  );
}

function asksNothing(keyword: string, value: Json, part: JsonObject, step: Step, walk: Walk): boolean {
  const { known } = step;
  const anything: Step = { ...step, known: UNKNOWN };
  switch (keyword) {
    case '$ref':
      return refersToNothing(value, step, walk);
    case 'type':
      return isFree(listOf(value), known);
    case 'required':
      return listOf(value).every((name) => typeof name === 'string' && isRequired(known, name));
    case 'properties':
      return entriesOf(value).every(([name, inner]) => isFreeProperty(name, inner, step, walk));
    case 'patternProperties':
      return entriesOf(value).every(([, inner]) => holds(inner, anything, walk));
    case 'additionalProperties':
      return holds(value, anything, walk) || (value === false && namesAllOf(part, known));
    case 'additionalItems':
    case 'unevaluatedItems':
    case 'propertyNames':
      return holds(value, anything, walk);
    case 'items':
    case 'prefixItems': {
      const item = { ...step, known: itemOf(known), place: [...step.place, '*'] };
      return listOf(value).every((inner) => holds(inner, item, walk));
    }
    case 'dependencies':
    case 'dependentRequired':
    case 'dependentSchemas':
      return entriesOf(value).every(([, inner]) =>
        isArray(inner)
          ? inner.every((name) => typeof name === 'string' && isRequired(known, name))
          : holds(inner, step, walk),
      );
    default:
      return joinsNothing(keyword, value, step, walk) ?? limitsNothing(keyword, value, known);
  }
}

/** Keywords that join schemas of the same value; null for another. */
function joinsNothing(keyword: string, value: Json, step: Step, walk: Walk): boolean | null {
  const list = listOf(value);
  switch (keyword) {
    case 'allOf':
      return list.every((inner) => holds(inner, step, walk));
    case 'anyOf':
      return list.every(endsForSure) && list.some((inner) => holds(inner, step, walk));
    case 'oneOf': {
      const [first, ...others] = list.filter((inner) => !refuses(inner, step, walk));
      return (
        others.length === 0 && first !== undefined && list.every(endsForSure) && holds(first, step, walk)
      );
    }
    case 'not':
      return refuses(value, step, walk);
    case 'if':
      return endsForSure(value);
    case 'then':
    case 'else':
      return holds(value, step, walk);
    default:
      return null;
  }
}

function limitsNothing(keyword: string, value: Json, known: Known): boolean {
  if (['minItems', 'minLength', 'minProperties'].includes(keyword) && value === 0) return true;
  if (keyword === 'uniqueItems' && value === false) return true;
  if (keyword === 'enum') return isAmong(known, listOf(value));
  if (keyword === 'const') return isAmong(known, [value]);
  return ALONE.has(keyword) && saysTheSame(known, keyword, value);
}

/** Keywords whose meaning hangs on no other. */
const ALONE: ReadonlySet<string> = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['pattern', 'format', 'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'],
]);

function refersToNothing(reference: Json, step: Step, walk: Walk): boolean {
  const target =
    typeof reference === 'string' && !hasOwnIds(walk.gate) ? pointedAt(walk.gate, reference) : null;
  // In a circle the validator may go round for ever, and then the gate is not met.
  if (target === null || step.trail.includes(target)) return false;
  return holds(target, { ...step, trail: [...step.trail, target] }, walk);
}

function isFree(types: readonly Json[], known: Known): boolean {
  return TYPES.every((type) => types.includes(type)) || isOfTypes(known, types);
}

function isFreeProperty(name: string, inner: Json, step: Step, walk: Walk): boolean {
  const place = [...step.place, name];
  if (isForbidden(step.known, name)) {
    walk.forbidden.add(jsonPointer(place));
    return true;
  }
  return holds(inner, { ...step, known: propertyOf(step.known, name), place }, walk);
}

/** Whether a part of the gate declares all that may be there. */
function namesAllOf({ properties }: JsonObject, { all }: Known): boolean {
  const names = new Set(entriesOf(properties ?? {}).map(([name]) => name));
  return all.some(
    (node) => isClosed(node) && entriesOf(node['properties'] ?? {}).every(([name]) => names.has(name)),
  );
}

/** Whether nothing satisfies a part of the gate. */
function refuses(part: Json | undefined, step: Step, walk: Walk): boolean {
  if (part === false) return true;
  walk.budget -= 1;
  if (!isObject(part) || walk.budget < 0 || !endsForSure(part)) return false;
  if (part['not'] !== undefined && holds(part['not'], step, walk)) return true;
  if (listOf(part['allOf'] ?? []).some((inner) => refuses(inner, step, walk))) return true;
  return ['anyOf', 'oneOf'].some((keyword) => {
    const branches = listOf(part[keyword] ?? []);
    return branches.length > 0 && branches.every((inner) => refuses(inner, step, walk));
  });
}

/** Whether the validator is sure to come to an end, whatever it makes of the value. */
function endsForSure(part: Json): boolean {
  if (!isObject(part)) return true;
  for (const { node } of schemaNodes(part)) {
    if (['$ref', '$dynamicRef', 'pattern', 'patternProperties'].some((each) => node[each] !== undefined))
      return false;
  }
  return true;
}

function listOf(value: Json): readonly Json[] {
  return isArray(value) ? value : [value];
}

function entriesOf(value: Json): readonly (readonly [string, Json])[] {
  return isObject(value) ? Object.entries(value) : [];
}
