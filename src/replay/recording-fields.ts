/** The fields of one line of a recording, each checked; no error quotes what stands there. */
import { InputError } from '../errors.ts';
import { isArray, isObject, parseStrictJson } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';

/** The largest number of calls, results or tools on one line. */
const MAX_LIST = 1_000;
const HASH = /^[0-9a-f]{64}$/u;

/** A name that is shown to people: nothing invisible, nothing that ends a line. */
export const ONE_LINE = /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u;

/** An object, and where it stands. */
export interface Line {
  readonly object: JsonObject;
  readonly number: number;
}

/** The object on a line. @throws InputError where there is none. */
export function parseLine(text: string, number: number): Line {
  const parsed = parseStrictJson(text);
  // Half a surrogate is something that a model can say; all else that is loose, nobody wrote for us.
  const value: Json = parsed.ok ? parsed.value : parsed.fault === 'surrogate' ? JSON.parse(text) : null;
  if (!isObject(value)) throw broken(number, 'is no JSON object');
  return { object: value, number };
}

/** A text of any kind. */
export function text({ object, number }: Line, key: string): string {
  const value = object[key];
  if (typeof value !== 'string') throw broken(number, `has no text "${key}"`);
  return value;
}

/** A text that is shown to people: one line, nothing invisible. */
export function name(line: Line, key: string): string {
  const value = text(line, key);
  if (!ONE_LINE.test(value)) throw broken(line.number, `has a "${key}" that is no name`);
  return value;
}

/** A SHA-256 in hex. */
export function hash(line: Line, key: string): string {
  const value = text(line, key);
  if (!HASH.test(value)) throw broken(line.number, `has a "${key}" that is no SHA-256`);
  return value;
}

/** A whole number, not below 0. */
export function count({ object, number }: Line, key: string): number {
  const value = object[key];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw broken(number, `has no whole number "${key}"`);
  return value;
}

/** One of a few words. */
export function choice<const C extends string>(line: Line, key: string, choices: readonly C[]): C {
  const value = text(line, key);
  const found = choices.find((each) => each === value);
  if (found === undefined) throw broken(line.number, `has a "${key}" other than ${choices.join(', ')}`);
  return found;
}

/** A list that is not too long. */
export function list({ object, number }: Line, key: string): readonly Json[] {
  const value = object[key];
  if (!isArray(value)) throw broken(number, `has no list "${key}"`);
  if (value.length > MAX_LIST) throw broken(number, `has more than ${MAX_LIST} entries in "${key}"`);
  return value;
}

/** The object under a key. */
export function part({ object, number }: Line, key: string): Line {
  return member({ object, number }, object[key] ?? null, key);
}

/** A value that has to be an object. */
export function member({ number }: Line, value: Json, key: string): Line {
  if (!isObject(value)) throw broken(number, `has something else than an object in "${key}"`);
  return { object: value, number };
}

/** What is thrown about a line. */
export function broken(number: number, what: string): InputError {
  return new InputError('replay', `Line ${number} of the recording ${what}. Record it again with --record.`);
}
