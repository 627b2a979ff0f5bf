/** What a root says about the properties of an object, with its combinators folded in. */
import { isArray, isObject } from '../json.ts';
import type { Json, JsonObject } from '../types.ts';
import type { Refs } from './wire-refs.ts';
import type { Walk } from './wire-walk.ts';

/** Keywords that no provider takes at the root of a tool's parameters. */
export const combinators = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

/** At least what a schema accepts among objects. */
export interface View {
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

const anything: View = { properties: new Map(), required: new Set(), closed: false };

/** More parts than that in one property are not put together: it accepts anything then. */
const maxWeight = 64;

/** Branches through more references than that are taken to accept anything. */
const maxSteps = 100;

/** Folds a root's combinators and references into one view; null where it accepts no object at all. */
export function rootView(root: JsonObject, refs: Refs, walk: Walk): View | null {
  const known = new Map<Json, View | null>();
  const view = (schema: Json, steps: number): View | null => {
    if (!isObject(schema)) return schema === false ? null : anything;
    const before = known.get(schema);
    if (before !== undefined) return before;
    if (steps > maxSteps) return anything;
    // A schema that leads back to itself says nothing more by that.
    known.set(schema, anything);
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
    return views.reduce((all, each) => (all === null || each === null ? null : both(all, each)), anything);
  };
  return view(root, 0);
}

/** Whether folding a branch of `allOf` loses nothing of it. */
export function isFoldable(branch: Json, refs: Refs, steps = 0): boolean {
  if (!isObject(branch)) return branch === true;
  return Object.entries(branch).every(([keyword, value]) => {
    if (['properties', 'required', 'title', 'description', '$comment'].includes(keyword)) return true;
    if (keyword === 'type') return value === 'object';
    if (keyword === '$ref') return steps < 10 && isFoldable(refs.target(branch), refs, steps + 1);
    if (keyword === 'allOf')
      return listAt(branch, 'allOf').every((each) => isFoldable(each, refs, steps + 1));
    return false;
  });
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

/** What both accept; a name that a closed one does not know is accepted by neither. */
function both(a: View, b: View): View {
  const names = new Set([...a.properties.keys(), ...b.properties.keys()]);
  const properties = new Map<string, Part>();
  for (const name of names) {
    const [one, other] = [a.properties.get(name), b.properties.get(name)];
    if ((one === undefined && a.closed) || (other === undefined && b.closed)) continue;
    const part = one === undefined || other === undefined ? (one ?? other) : conjoined(one, other);
    if (part !== undefined) properties.set(name, part);
  }
  return { properties, required: new Set([...a.required, ...b.required]), closed: a.closed || b.closed };
}

function conjoined(one: Part, other: Part): Part {
  const weight = one.weight + other.weight;
  if (isAny(one.schema) || weight > maxWeight) return other;
  if (isAny(other.schema) || JSON.stringify(one.schema) === JSON.stringify(other.schema)) return one;
  return { schema: { allOf: [one.schema, other.schema] }, weight };
}

/** What any of them accepts; an open one accepts anything under a name that it does not know. */
function either(branches: readonly (View | null)[]): View | null {
  const views = branches.filter((each) => each !== null);
  const [first, ...others] = views;
  if (first === undefined) return null;
  const names = new Set(views.flatMap((each) => [...each.properties.keys()]));
  const properties = new Map<string, Part>();
  for (const name of names) {
    const parts = views.map(
      (each) => each.properties.get(name) ?? (each.closed ? null : { schema: {}, weight: 1 }),
    );
    properties.set(name, disjoined(parts.filter((part) => part !== null)));
  }
  const required = new Set(
    [...first.required].filter((name) => others.every((each) => each.required.has(name))),
  );
  return { properties, required, closed: views.every((each) => each.closed) };
}

function disjoined(parts: readonly Part[]): Part {
  const weight = parts.reduce((sum, part) => sum + part.weight, 0);
  const distinct = [...new Map(parts.map((part) => [JSON.stringify(part.schema), part])).values()];
  const [first, ...others] = distinct;
  if (first === undefined || weight > maxWeight || distinct.some((part) => isAny(part.schema))) {
    return { schema: {}, weight: 1 };
  }
  return others.length === 0 ? first : { schema: { anyOf: distinct.map((part) => part.schema) }, weight };
}

function isAny(schema: Json): boolean {
  return isObject(schema) && Object.keys(schema).length === 0;
}

function listAt(schema: JsonObject, keyword: string): readonly Json[] {
  const value = schema[keyword];
  return value !== undefined && isArray(value) ? value : [];
}
