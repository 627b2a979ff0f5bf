/** JSON values: a strict parser, which refuses what JSON.parse would silently change, and readers of untrusted objects. */

import type { Json, JsonObject } from '../types.ts';
import { JSON_TEXT } from './limits.ts';

/** A number that JavaScript cannot represent exactly, so that the parsed value differs. */
export interface InexactNumber {
  /** Keys and indexes from the root. */
  readonly path: readonly string[];
  /** The parsed value; infinite when the number is too large. */
  readonly number: number;
}

/** A parsed text, or a clause, `is not valid JSON: …`, that quotes nothing of it. */
type StrictJson =
  | { readonly ok: true; readonly value: Json; readonly inexact: readonly InexactNumber[] }
  | { readonly ok: false; readonly fault: string };

/** Inexact numbers that are listed: each has a path, and a text may hold a million. */
const MAX_INEXACT = 1_000;

const INEXACT = 'holds a number that cannot be represented exactly; write fewer digits, or a string';

/** Whether a value is an object other than null or an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is an array. Unlike Array.isArray, this narrows read-only arrays too. */
export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether a value nests arrays and objects more than `limit` levels deep. Iterative, so safe for any depth. */
export function isDeeperThan(value: Json, limit: number): boolean {
  return lookInto(value, limit).isDeeper;
}

/** Returns the JSON Pointer (RFC 6901) for a path of keys and indexes. */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Parses a JSON text as `JSON.parse` does; undefined for any other text. */
export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses a complete JSON text. Refuses invalid JSON, duplicate keys, numbers that JavaScript cannot represent exactly,
 * nesting deeper than `JSON_TEXT.depth`, and unpaired surrogates. `__proto__` is an ordinary key.
 */
export function parseStrictJson(text: string): StrictJson {
  const parsed = parseJsonWithInexact(text);
  return parsed.ok && parsed.inexact.length > 0 ? refuse(INEXACT) : parsed;
}

/**
 * Parses a complete JSON text like `parseStrictJson`, but lists the numbers that JavaScript cannot represent exactly,
 * and those that equal one of them once parsed. Callers must check `inexact` before using the value.
 * @param depth the maximum nesting depth
 */
export function parseJsonWithInexact(text: string, depth: number = JSON_TEXT.depth): StrictJson {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse(`is not valid JSON: ${syntaxWords(error)}`);
  }
  const { isDeeper, isWellFormed, keys } = lookInto(value, depth);
  if (isDeeper) return refuse(`nests deeper than ${depth} levels`);
  if (!isWellFormed) return refuse('holds half of a surrogate pair');
  const withoutStrings = text.replace(/\\./g, '').replace(/"[^"]*"/g, '');
  // Each colon outside a string follows a key.
  if (withoutStrings.split(':').length - 1 !== keys) return refuse('gives a key twice in one object');
  const literals = withoutStrings.match(/-?\d[-+.\deE]*/g) ?? [];
  const changed = new Set(literals.filter((literal) => !isExact(literal)).map(Number));
  const inexact: InexactNumber[] = [];
  if (changed.size > 0)
    for (const found of findNumbers(value, changed, []))
      if (inexact.push(found) > MAX_INEXACT) return refuse(INEXACT);
  return { ok: true, value, inexact };
}

function refuse(fault: string): StrictJson {
  return { ok: false, fault };
}

/** Returns the message of JSON.parse, unless it quotes the text. */
function syntaxWords(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  if (/^Unexpected token|"/.test(message)) return 'it has an unexpected character';
  return message.replace(/(?: in JSON)? at position \d+/, '');
}

/** Counts the keys in a value and looks at each string; stops below `limit` levels. */
function lookInto(value: Json, limit: number): { isDeeper: boolean; isWellFormed: boolean; keys: number } {
  let isWellFormed = true;
  let keys = 0;
  const rest: [holder: JsonObject | readonly Json[], depth: number][] = [[[value], 0]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [holder, depth] = next;
    if (depth > limit) return { isDeeper: true, isWellFormed, keys };
    const names = isArray(holder) ? [] : Object.keys(holder);
    keys += names.length;
    if (!names.every((name) => name.isWellFormed())) isWellFormed = false;
    for (const child of isArray(holder) ? holder : Object.values(holder)) {
      if (typeof child === 'string' && !child.isWellFormed()) isWellFormed = false;
      if (typeof child === 'object' && child !== null) rest.push([child, depth + 1]);
    }
  }
  return { isDeeper: false, isWellFormed, keys };
}

function isExact(literal: string): boolean {
  const written = String(Number(literal));
  return written === literal || decimal(written) === decimal(literal);
}

/**
 * Returns a decimal number without its sign as digits, with no zeros at either end, and the power of ten to multiply
 * them by: `15e-1` for 1.50. Linear: exponents are compared, never expanded.
 */
function decimal(literal: string): string {
  const [mantissa = '', power = '0'] = literal.replace(/^-/, '').split(/e/i);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/(?<!0)0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(power) - fraction.length + digits.length - significant.length}`;
}

/** Yields the places of some numbers in a value whose depth was checked. */
function* findNumbers(
  value: Json,
  numbers: ReadonlySet<number>,
  path: readonly string[],
): Generator<InexactNumber> {
  if (typeof value === 'number' && numbers.has(value)) yield { path, number: value };
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) yield* findNumbers(child, numbers, [...path, key]);
}

/** Returns a value that is an object, and an empty object for any other. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns a field that is an object; an empty object otherwise. */
export function readObject(object: JsonObject, name: string): JsonObject {
  return objectOf(readOwn(object, name));
}

/** Returns the objects in a field that is a list; an empty list otherwise. */
export function readObjects(object: JsonObject, name: string): readonly JsonObject[] {
  const value = readOwn(object, name);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns a field that is a string; null otherwise. */
export function readText(object: JsonObject, name: string): string | null {
  const value = readOwn(object, name);
  return typeof value === 'string' ? value : null;
}

/** Returns a field that is a number from 0 to the largest safe integer; null otherwise. */
export function readCount(object: JsonObject, name: string): number | null {
  const value = readOwn(object, name);
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : null;
}

export function readFlag(object: JsonObject, name: string): boolean {
  return readOwn(object, name) === true;
}

/** Returns the value of an own field; undefined when it is inherited or missing. */
function readOwn(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
