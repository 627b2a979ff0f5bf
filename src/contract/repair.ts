/** The two near misses that are repaired, and nothing else. */
import type { ErrorObject } from 'ajv';
import {
  type InexactNumber,
  isArray,
  isDeeperThan,
  isObject,
  jsonPointer,
  maxPayloadDepth,
  parseJsonWithInexact,
} from '../text/json.ts';
import type { Json, JsonObject, Repair } from '../types.ts';
import type { ValidationResult } from './compile.ts';
import { typesOf } from './issues.ts';

/** A repaired payload that the schema accepted, and how it was repaired. */
export interface Repaired {
  readonly payload: JsonObject;
  readonly repaired: Repair;
  /** Numbers in it that were read out of a string and are not what the string says: with any, it must be rejected. */
  readonly inexact: readonly InexactNumber[];
}

/** Keys that models put around the arguments of a tool. */
const wrappers = ['output', 'arguments', 'input', '$PARAMETER_NAME'];

/** A string inside a string inside a string is more than a near miss. */
const maxRounds = 3;

type Validate = (value: JsonObject) => ValidationResult;

/** The value inside the one key of a refused object, where that key is a wrapper's or the title and the schema accepts. */
export function unwrap(value: JsonObject, title: string | null, validate: Validate): Repaired | null {
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0) return null;
  if (key !== title && !wrappers.includes(key)) return null;
  const inner = value[key];
  if (!isObject(inner) || !validate(inner).ok) return null;
  return { payload: inner, repaired: { kind: 'unwrapped', key }, inexact: [] };
}

/**
 * The refused value with JSON strings replaced by what they hold, wherever the validator asked for an object or an
 * array and found a string, where the schema accepts the outcome. A string as the whole value is one such place.
 */
export function parseStrings(value: Json, validate: Validate): Repaired | null {
  let current = value;
  const paths: string[] = [];
  const inexact: InexactNumber[] = [];
  if (typeof current === 'string') {
    const held = containerIn(current, ['object']);
    if (held === null) return null;
    current = held.value;
    paths.push('');
    for (const each of held.inexact) inexact.push(each);
  }
  for (let round = 0; round < maxRounds && isObject(current); round += 1) {
    if (isDeeperThan(current, maxPayloadDepth)) return null;
    const validation = validate(current);
    if (validation.ok) {
      return paths.length === 0 ? null : { payload: current, repaired: { kind: 'parsed', paths }, inexact };
    }
    const repaired = repairAll(current, validation.errors);
    if (repaired.paths.length === 0) return null;
    current = repaired.value;
    paths.push(...repaired.paths);
    for (const each of repaired.inexact) inexact.push(each);
  }
  return null;
}

interface Mended {
  readonly value: Json;
  readonly paths: readonly string[];
  readonly inexact: readonly InexactNumber[];
}

/** What a walk over the places has repaired so far. */
interface Found {
  readonly paths: string[];
  readonly inexact: InexactNumber[];
}

function repairAll(value: Json, errors: readonly ErrorObject[]): Mended {
  const wanted = new Map<string, readonly string[]>();
  for (const error of errors) {
    // A property name is a string by nature; its error stands at the path of the object that holds it.
    if (error.keyword !== 'type' || error.propertyName !== undefined || !looksHeld(error.data)) continue;
    const types = [...(wanted.get(error.instancePath) ?? []), ...typesOf(error.params['type'])];
    wanted.set(error.instancePath, types);
  }
  const places: Place = { types: [], children: new Map() };
  for (const [pointer, types] of wanted) place(places, pointer, types);
  const found: Found = { paths: [], inexact: [] };
  return { value: mend(value, places, [], found), ...found };
}

/** The places to look at, as a tree, so that one walk mends them all. */
interface Place {
  types: readonly string[];
  readonly children: Map<string, Place>;
}

function place(root: Place, pointer: string, types: readonly string[]): void {
  let current = root;
  for (const segment of pointer.split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    const child = current.children.get(key) ?? { types: [], children: new Map() };
    current.children.set(key, child);
    current = child;
  }
  current.types = types;
}

/** Copies what changes and shares the rest; computed keys make `__proto__` an own key like any other. */
function mend(value: Json, here: Place, path: readonly (string | number)[], found: Found): Json {
  if (typeof value === 'string') {
    const held = containerIn(value, here.types);
    if (held === null) return value;
    found.paths.push(jsonPointer(path));
    for (const each of held.inexact) found.inexact.push({ ...each, path: [...path, ...each.path] });
    return held.value;
  }
  const descend = (child: Json, key: string | number): Json => {
    const next = here.children.get(String(key));
    return next === undefined ? child : mend(child, next, [...path, key], found);
  };
  if (here.children.size === 0) return value;
  if (isArray(value)) return value.map((child, index) => descend(child, index));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, descend(child, key)]));
}

/** The object or array that a string holds as JSON, if it is of a wanted type; else null. */
function containerIn(
  text: string,
  types: readonly string[],
): { readonly value: Json; readonly inexact: readonly InexactNumber[] } | null {
  if (!looksHeld(text)) return null;
  const parsed = parseJsonWithInexact(text);
  if (!parsed.ok) return null;
  const type = isArray(parsed.value) ? 'array' : 'object';
  return types.includes(type) ? parsed : null;
}

/** Most of what fails a type check is prose or a number; the first letter tells, without reading on. */
function looksHeld(value: unknown): boolean {
  return typeof value === 'string' && /^[ \t\r\n]*[[{]/.test(value);
}
