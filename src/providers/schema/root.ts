/** What a root says about the properties of an object, with its combinators folded in. */
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';
import type { Refs } from './refs.ts';
import type { Walk } from './walk.ts';

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
    const given = views.filter((each) => each !== null);
    return given.length < views.length ? null : both(given);
  };
  return view(root, 0);
}

/** Whether folding a branch of `allOf` loses nothing of it. */
export function foldable(branch: Json, refs: Refs): boolean {
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
