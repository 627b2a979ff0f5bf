/** What a keyword of a gate asks for, and what a payload has instead, in words for people. */
import type { ErrorObject } from 'ajv';
import { isArray, isObject } from '../json.ts';
import type { Json } from '../types.ts';

/** How many values a list holds, and how many characters one of them has. */
const MAX_LISTED = 10;
const MAX_VALUE = 100;
const MAX_JSON = 200;

const LIMITS: ReadonlyMap<string, readonly [words: string, noun: string]> = new Map([
  ['minimum', ['to be at least', '']],
  ['maximum', ['to be at most', '']],
  ['exclusiveMinimum', ['to be more than', '']],
  ['exclusiveMaximum', ['to be less than', '']],
  ['multipleOf', ['to be a multiple of', '']],
  ['minItems', ['to have at least', 'entry']],
  ['maxItems', ['to have at most', 'entry']],
  ['minLength', ['to have at least', 'character']],
  ['maxLength', ['to have at most', 'character']],
  ['minProperties', ['to have at least', 'property']],
  ['maxProperties', ['to have at most', 'property']],
]);

/** What a keyword with this value asks for, to be read after “wants the thing”: `to be at least 3`. */
export function wantsOf(keyword: string, value: Json): string {
  const limit = LIMITS.get(keyword);
  if (limit !== undefined && typeof value === 'number') return limitWords(keyword, limit, value);
  switch (keyword) {
    case 'const':
      return `to be ${quoted(value)}`;
    case 'enum':
      return isArray(value) ? `to be ${oneOf(value)}` : '';
    case 'type':
      return `to be of the type ${[value].flat().map(String).join(' or ')}`;
    case 'pattern':
      return `to match the pattern ${quoted(value)}`;
    case 'format':
      return `to be of the format ${quoted(value)}`;
    case 'uniqueItems':
      return 'to have no entry twice';
    case 'contains':
      return `to have an entry with ${json(value)}`;
    case 'not':
      return notWords(value);
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'to have no property that is not named';
    case 'if':
      return 'to keep to its rule with `if`';
    case 'false schema':
      return 'to be absent';
    default:
      return `to satisfy ${keyword} ${json(value)}`;
  }
}

function limitWords(keyword: string, [words, noun]: readonly [string, string], value: number): string {
  if (noun === '') return `${words} ${value}`;
  if (keyword.startsWith('max') && value === 0) return 'to be empty';
  return `${words} ${value} ${value === 1 ? noun : `${noun}s`.replace(/ys$/, 'ies')}`;
}

function oneOf(values: readonly Json[]): string {
  if (values.length === 1) return values.map(quoted).join('');
  const more = values.length > MAX_LISTED ? ` and ${values.length - MAX_LISTED} more` : '';
  return `one of ${values.slice(0, MAX_LISTED).map(quoted).join(', ')}${more}`;
}

function notWords(value: Json): string {
  if (isObject(value) && Object.keys(value).length === 1) {
    if (value['const'] !== undefined) return `not to be ${quoted(value['const'])}`;
    if (isArray(value['enum'])) return `not to be ${oneOf(value['enum'])}`;
  }
  return `not to satisfy ${json(value)}`;
}

/**
 * What the payload has where a keyword failed, to be read after “the payload”: `says false`. A text of the payload is
 * quoted only where it is one of `words`, those that the schema lists: this is told in logs too.
 */
export function saysOf(error: ErrorObject, words: ReadonlySet<string>): string {
  const { data } = error;
  if (error.keyword === 'required') return 'has none';
  if (error.keyword.endsWith('Items') && Array.isArray(data)) return `has ${count(data.length)}`;
  if (error.keyword.endsWith('Length') && typeof data === 'string') return `has ${count([...data].length)}`;
  if (error.keyword.endsWith('Properties') && typeof data === 'object' && data !== null) {
    const name = error.params['additionalProperty'] ?? error.params['unevaluatedProperty'];
    return typeof name === 'string' ? `has ${quoted(name)}` : `has ${count(Object.keys(data).length)}`;
  }
  const isOfValue = /^(?:const|enum|not|type|false schema)$/.test(error.keyword) || LIMITS.has(error.keyword);
  return isOfValue || isTold(data, words) ? saysValue(data, words) : 'does not';
}

function isTold(value: unknown, words: ReadonlySet<string>): boolean {
  return typeof value === 'string' ? words.has(value) : typeof value !== 'object' || value === null;
}

/** What the payload says, to be read after “the payload”, by the same rule. */
export function saysValue(value: unknown, words: ReadonlySet<string>): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'number')
    return `says ${JSON.stringify(value)}`;
  if (typeof value === 'string') {
    if (value === '') return 'has an empty text there';
    return words.has(value) ? `says ${quoted(value)}` : 'has another text there';
  }
  return Array.isArray(value) ? 'has another list there' : 'has another object there';
}

function count(number: number): string {
  return number === 0 ? 'none' : String(number);
}

function quoted(value: Json): string {
  return cut(plain(JSON.stringify(value)), MAX_VALUE);
}

/** A part of the gate as it is written, for which there are no better words. */
function json(value: Json): string {
  return `\`${cut(plain(JSON.stringify(value)), MAX_JSON)}\``;
}

/** A name as code; a backtick would end it. */
export function named(name: string): string {
  return `\`${cut(plain(name), MAX_VALUE)}\``;
}

function plain(text: string): string {
  return text.replaceAll('`', "'");
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;
}
