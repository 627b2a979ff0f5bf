/** Strict JSON parsing: refuses what JSON.parse would silently change. */

import type { Json, JsonObject } from '../types.ts';
import { JSON_TEXT } from './limits.ts';
import { quote } from './messages.ts';
import { isExactNumber } from './number-literal.ts';

export { rawSlice } from './raw-slice.ts';

export type JsonFault = 'syntax' | 'duplicate_key' | 'number' | 'depth' | 'surrogate';

/** A common syntax error: what was found, in words that quote nothing of the text, and the fix. */
export interface JsonSlip {
  readonly what: string;
  readonly fix: string;
}

/**
 * The result of parsing a text. `problem` is a sentence that may name keys of the text; `fault`, `slip` (null when the
 * error is not a common one) and `place` (`line 3, column 7`) contain nothing of it.
 */
export type StrictJson =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly problem: string;
      readonly fault: JsonFault;
      readonly slip: JsonSlip | null;
      readonly place: string;
    };

/** A number that JavaScript cannot represent exactly, so that the parsed value differs. */
export interface InexactNumber {
  /** Keys and indexes from the root. */
  readonly path: readonly (string | number)[];
  /** The parsed value; infinite when the number is too large. */
  readonly number: number;
}

/** A parsed text and the numbers in it that JavaScript cannot represent, in order. */
export type JsonWithInexact =
  | { readonly ok: true; readonly value: Json; readonly inexact: readonly InexactNumber[] }
  | Extract<StrictJson, { readonly ok: false }>;

interface Frame {
  /** The keys seen so far; null in an array. */
  readonly keys: Set<string> | null;
  segment: string | number;
}

interface Cursor {
  readonly text: string;
  readonly frames: Frame[];
  readonly inexact: InexactNumber[];
  /** How many more numbers `inexact` may list. */
  readonly room: number;
  /** Whether a string may contain an unpaired surrogate, literal or escaped. */
  readonly mayHoldHalves: boolean;
  readonly depth: number;
  at: number;
}

interface Fault {
  readonly fault: JsonFault;
  readonly at: number;
  readonly what: string;
  readonly slip?: JsonSlip | null;
}

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
  const rest: { readonly value: Json; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > limit) return true;
    for (const child of Object.values(next.value)) rest.push({ value: child, depth });
  }
  return false;
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

/** Returns the keys and indexes of a JSON Pointer, all of them as text. */
export function pointerSegments(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * Returns the text of `JSON.stringify(value, null, 2)`; null when it is longer than `max` characters. For 2 MB of
 * nested lists the text would exceed the maximum length of a string, so writing stops at the limit. That bounds
 * the recursion as well: the indentation of n levels takes n² characters.
 */
export function indentedJson(value: Json, max: number): string | null {
  let text = '';
  const add = (piece: string): boolean => {
    text += piece;
    return text.length <= max;
  };
  const write = (part: Json, indent: string): boolean => {
    if (typeof part === 'string' && part.length > max) return false;
    if (typeof part !== 'object' || part === null) return add(JSON.stringify(part));
    const [open, close] = isArray(part) ? '[]' : '{}';
    const inner = `\n${indent}  `;
    let separator = '';
    add(`${open}`);
    for (const [key, child] of Object.entries(part)) {
      const name = isArray(part) ? '' : `${JSON.stringify(key)}: `;
      if (!add(`${separator}${inner}${name}`) || !write(child, `${indent}  `)) return false;
      separator = ',';
    }
    return add(separator === '' ? `${close}` : `\n${indent}${close}`);
  };
  return write(value, '') ? text : null;
}

/**
 * Parses a complete JSON text. Refuses invalid JSON, duplicate keys, numbers that JavaScript cannot represent exactly,
 * nesting deeper than `JSON_TEXT.depth`, and unpaired surrogates. `__proto__` is an ordinary key. Linear and iterative.
 */
export function parseStrictJson(text: string): StrictJson {
  const read = parse(text, 0, JSON_TEXT.depth);
  return read.ok ? { ok: true, value: read.value } : read;
}

/**
 * Parses a complete JSON text like `parseStrictJson`, but lists the numbers that JavaScript cannot represent exactly.
 * Callers must check `inexact` before using the value.
 * @param depth the maximum nesting depth
 */
export function parseJsonWithInexact(text: string, depth: number = JSON_TEXT.depth): JsonWithInexact {
  return parse(text, JSON_TEXT.inexactNumbers, depth);
}

function parse(text: string, room: number, depth: number): JsonWithInexact {
  const inexact: InexactNumber[] = [];
  const mayHoldHalves = text.includes('\\u') || !text.isWellFormed();
  const fault = firstFault({ text, frames: [], inexact, room, depth, mayHoldHalves, at: 0 });
  if (fault === null) return { ok: true, value: JSON.parse(text), inexact };
  const place = placeOf(text, fault.at);
  const { slip = null } = fault;
  return { ok: false, fault: fault.fault, slip, place, problem: `${fault.what} (${place}).` };
}

/** Recognizes common mistakes in invalid JSON by the character at which parsing stopped and the one before it. */
function slipAt({ text, at, frames }: Cursor): JsonSlip | null {
  const before = text.slice(Math.max(0, at - 10_000), at).trimEnd();
  const rest = text.slice(at, at + 10);
  const end = /^[}\]]/u.exec(rest)?.[0];
  if (end !== undefined && before.endsWith(','))
    return { what: `a comma before the closing ${end}`, fix: 'Remove that comma.' };
  if (/^(?:\/\/|\/\*|#)/u.test(rest))
    return { what: 'a comment, which JSON does not have', fix: 'Remove the comment.' };
  if (/^['‘’“”]/u.test(rest))
    return {
      what: 'a quote that is no straight double quote',
      fix: 'Put keys and strings into straight double quotes.',
    };
  if (rest === '')
    return { what: 'it ends too early', fix: 'Complete it: a quote, a brace or a bracket is not closed.' };
  if (frames.length > 0 && /^["[{]/u.test(rest) && /["\]}\w]$/u.test(before) && !/[[{,:]$/u.test(before))
    return {
      what: 'a comma or a colon is missing',
      fix: 'Put a comma between entries, and a colon after a key.',
    };
  if (/[{,]$/u.test(before) && /^[A-Za-z_$][\w$-]*\s*:/u.test(text.slice(at, at + 200)))
    return { what: 'a key without quotes', fix: 'Put the key into double quotes.' };
  return null;
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/** Scans values one after the other; open containers are kept in `frames` instead of recursing. */
function firstFault(cursor: Cursor): Fault | null {
  for (;;) {
    const opened = startValue(cursor);
    if (typeof opened === 'object') return opened;
    if (opened === 'entered') continue;
    const next = endValue(cursor);
    if (next === 'done') return null;
    if (next !== 'value') return next;
  }
}

function syntax(cursor: Cursor, expected: string): Fault {
  const found = cursor.at >= cursor.text.length ? 'ends too early' : 'has an unexpected character';
  return {
    fault: 'syntax',
    at: cursor.at,
    what: `The text is not valid JSON: it ${found} where ${expected} belongs`,
    slip: slipAt(cursor),
  };
}

/** Reads a scalar or an empty container completely (`read`), or enters a container (`entered`). */
function startValue(cursor: Cursor): 'read' | 'entered' | Fault {
  skipBlanks(cursor);
  const { text, at } = cursor;
  const first = text[at];
  if (first === '"') return readString(cursor) ?? 'read';
  if (first === '{' || first === '[') return enter(cursor, first);
  for (const word of ['true', 'false', 'null']) {
    if (text.startsWith(word, at)) {
      cursor.at += word.length;
      return 'read';
    }
  }
  return readNumber(cursor) ?? 'read';
}

function enter(cursor: Cursor, bracket: '{' | '['): 'read' | 'entered' | Fault {
  const start = cursor.at;
  cursor.at += 1;
  if (cursor.frames.length >= cursor.depth) {
    return {
      fault: 'depth',
      at: start,
      what: `The text nests deeper than ${cursor.depth} levels; make it flatter`,
    };
  }
  skipBlanks(cursor);
  if (cursor.text[cursor.at] === (bracket === '{' ? '}' : ']')) {
    cursor.at += 1;
    return 'read';
  }
  cursor.frames.push({ keys: bracket === '{' ? new Set() : null, segment: 0 });
  return (bracket === '{' ? readKey(cursor) : null) ?? 'entered';
}

/** After a value: closes containers until another value follows or the text ends. */
function endValue(cursor: Cursor): 'done' | 'value' | Fault {
  for (;;) {
    skipBlanks(cursor);
    const frame = cursor.frames.at(-1);
    const next = cursor.text[cursor.at];
    if (frame === undefined) return next === undefined ? 'done' : syntax(cursor, 'the end of the text');
    if (next === ',') {
      cursor.at += 1;
      if (frame.keys !== null) return readKey(cursor) ?? 'value';
      frame.segment = Number(frame.segment) + 1;
      return 'value';
    }
    const close = frame.keys === null ? ']' : '}';
    if (next !== close) return syntax(cursor, `"," or "${close}"`);
    cursor.at += 1;
    cursor.frames.pop();
  }
}

function readKey(cursor: Cursor): Fault | null {
  skipBlanks(cursor);
  const start = cursor.at;
  if (cursor.text[start] !== '"') return syntax(cursor, 'a key in double quotes');
  const fault = readString(cursor);
  if (fault !== null) return fault;
  const frame = cursor.frames.at(-1);
  const key = decoded(cursor.text.slice(start, cursor.at));
  if (frame?.keys?.has(key)) {
    const pointer = jsonPointer([...cursor.frames.slice(0, -1).map((each) => each.segment), key]);
    const named = quote(pointer);
    return {
      fault: 'duplicate_key',
      at: start,
      what: `The key at ${named} is given twice; give each key once`,
    };
  }
  frame?.keys?.add(key);
  if (frame !== undefined) frame.segment = key;
  skipBlanks(cursor);
  if (cursor.text[cursor.at] !== ':') return syntax(cursor, '":"');
  cursor.at += 1;
  return null;
}

/** Unescaped characters in a string. */
const PLAIN = /[^"\\\u0000-\u001f]*/y;

function readString(cursor: Cursor): Fault | null {
  const { text, at: start } = cursor;
  for (cursor.at += 1; ; cursor.at += 1) {
    PLAIN.lastIndex = cursor.at;
    PLAIN.test(text);
    cursor.at = PLAIN.lastIndex;
    if (cursor.at >= text.length) return syntax(cursor, 'a closing quote');
    if (text[cursor.at] === '"') break;
    if (text[cursor.at] !== '\\') return syntax(cursor, 'an escape such as \\n');
    cursor.at += 1;
    if (text[cursor.at] === 'u' && /^[0-9a-f]{4}$/i.test(text.slice(cursor.at + 1, cursor.at + 5)))
      cursor.at += 4;
    else if (!'"\\/bfnrt'.includes(text[cursor.at] ?? '-')) return syntax(cursor, 'a valid escape');
  }
  cursor.at += 1;
  if (!cursor.mayHoldHalves || decoded(text.slice(start, cursor.at)).isWellFormed()) return null;
  return {
    fault: 'surrogate',
    at: start,
    what: 'A string holds half of a surrogate pair; write the whole character',
  };
}

/** Decodes a string token that has been checked. */
function decoded(token: string): string {
  return token.includes('\\') ? String(JSON.parse(token)) : token.slice(1, -1);
}

function readNumber(cursor: Cursor): Fault | null {
  const start = cursor.at;
  if (cursor.text[cursor.at] === '-') cursor.at += 1;
  if (cursor.text[cursor.at] === '0') cursor.at += 1;
  else if (!skipDigits(cursor)) return syntax(cursor, cursor.at === start ? 'a value' : 'a digit');
  if (cursor.text[cursor.at] === '.') {
    cursor.at += 1;
    if (!skipDigits(cursor)) return syntax(cursor, 'a digit');
  }
  if (cursor.text[cursor.at] === 'e' || cursor.text[cursor.at] === 'E') {
    cursor.at += 1;
    if (cursor.text[cursor.at] === '+' || cursor.text[cursor.at] === '-') cursor.at += 1;
    if (!skipDigits(cursor)) return syntax(cursor, 'a digit');
  }
  const literal = cursor.text.slice(start, cursor.at);
  if (isExactNumber(literal)) return null;
  if (cursor.inexact.length < cursor.room) {
    cursor.inexact.push({ path: cursor.frames.map(({ segment }) => segment), number: Number(literal) });
    return null;
  }
  return {
    fault: 'number',
    at: start,
    what: 'A number cannot be represented exactly; write fewer digits, or a string',
  };
}

function skipDigits(cursor: Cursor): boolean {
  const start = cursor.at;
  for (let digit = cursor.text[start]; digit !== undefined && digit >= '0' && digit <= '9'; ) {
    cursor.at += 1;
    digit = cursor.text[cursor.at];
  }
  return cursor.at > start;
}

function skipBlanks(cursor: Cursor): void {
  for (;;) {
    const next = cursor.text[cursor.at];
    if (next !== ' ' && next !== '\n' && next !== '\r' && next !== '\t') return;
    cursor.at += 1;
  }
}
