/** Repairs two kinds of almost valid payloads, and nothing else. */
import type { ErrorObject } from 'ajv';
import {
  type InexactNumber,
  isArray,
  isDeeperThan,
  isObject,
  jsonPointer,
  parseJsonWithInexact,
  pointerSegments,
} from '../text/json.ts';
import { JSON_TEXT } from '../text/limits.ts';
import type { Json, JsonObject, Repair } from '../types.ts';
import type { ValidationResult } from './compile.ts';
import { typesOf } from './issues.ts';

/** A repaired payload that the schema accepts, and the repair. */
export interface Repaired {
  readonly payload: JsonObject;
  readonly repaired: Repair;
  /** Numbers in it that were parsed from a string and changed by that. With any, the payload must be rejected. */
  readonly inexact: readonly InexactNumber[];
}

/** Keys in which models wrap the arguments of a tool. */
const wrappers = ['output', 'arguments', 'input', '$PARAMETER_NAME'];

/** A string inside a string inside a string is not an almost valid payload any more. */
const maxRounds = 3;

type Validate = (value: JsonObject) => ValidationResult;

/**
 * Returns the value under the only key of a rejected object, if the key is a wrapper's or the title and the schema
 * accepts the value.
 */
export function unwrap(value: JsonObject, title: string | null, validate: Validate): Repaired | null {
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0) return null;
  if (key !== title && !wrappers.includes(key)) return null;
  const inner = value[key];
  if (!isObject(inner) || !validate(inner).ok) return null;
  return { payload: inner, repaired: { kind: 'unwrapped', key }, inexact: [] };
}

/**
 * Parses JSON strings in a rejected value wherever the validator required an object or an array and found a string, if
 * the schema accepts the result. The whole value may be such a string.
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
    if (isDeeperThan(current, JSON_TEXT.payloadDepth)) return null;
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

interface RepairAttempt {
  readonly value: Json;
  readonly paths: readonly string[];
  readonly inexact: readonly InexactNumber[];
}

interface Found {
  readonly paths: string[];
  readonly inexact: InexactNumber[];
}

function repairAll(value: Json, errors: readonly ErrorObject[]): RepairAttempt {
  const wanted = new Map<string, readonly string[]>();
  for (const error of errors) {
    // A property name is always a string; its error has the path of the object that contains it.
    if (error.keyword !== 'type' || error.propertyName !== undefined || !looksHeld(error.data)) continue;
    const types = [...(wanted.get(error.instancePath) ?? []), ...typesOf(error.params['type'])];
    wanted.set(error.instancePath, types);
  }
  const places: Place = { types: [], children: new Map() };
  for (const [pointer, types] of wanted) place(places, pointer, types);
  const found: Found = { paths: [], inexact: [] };
  return { value: mend(value, places, [], found), ...found };
}

/** The paths to repair, as a tree, so that one walk repairs them all. */
interface Place {
  types: readonly string[];
  readonly children: Map<string, Place>;
}

function place(root: Place, pointer: string, types: readonly string[]): void {
  let current = root;
  for (const key of pointerSegments(pointer)) {
    const child = current.children.get(key) ?? { types: [], children: new Map() };
    current.children.set(key, child);
    current = child;
  }
  current.types = types;
}

/** Copies what changes and shares the rest. Computed keys make `__proto__` an ordinary own key. */
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

/** Parses an object or array from a string, if it is of a wanted type; null otherwise. */
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

/** Most values that fail a type check are prose or numbers; the first character shows that without parsing. */
function looksHeld(value: unknown): boolean {
  return typeof value === 'string' && /^[ \t\r\n]*[[{]/.test(value);
}
