/** What a gate wanted and what the payload says, in words for people: clauses that read on from “the gate”. */
import type { ErrorObject } from 'ajv';
import { isArray, isObject } from '../json.ts';
import type { Json, JsonObject } from '../types.ts';
import { resolveLocal, schemaNodes } from './keywords.ts';

const MAX_CLAUSES = 10;
/** Places that are told of one wish. */
const MAX_PLACES = 3;

/** What the payload says at one place that a gate is about. */
interface Miss {
  /** Keys and indexes from the root. */
  readonly place: readonly string[];
  readonly wants: string;
  readonly says: string;
}

/** The strings that a schema lists as values; nothing else of what a payload says may be quoted. */
export function listedWords(schema: JsonObject): ReadonlySet<string> {
  const words = new Set<string>();
  for (const { node } of schemaNodes(schema)) {
    const listed = node['enum'];
    for (const value of [...(isArray(listed) ? listed : []), node['const']]) {
      if (typeof value === 'string') words.add(value);
    }
  }
  return words;
}

/** The clause for a property that had to be true; `value` is undefined where there is none. */
export function unmetPropertyWords(
  name: string,
  value: Json | undefined,
  words: ReadonlySet<string>,
): readonly string[] {
  const says = value === undefined ? 'has none' : saysValue(value, words);
  return clauses([{ place: [name], wants: wantsOf('const', true), says }]);
}

/** The clauses for properties that are missing and for a validator's errors; at most 10, the last tells of the rest. */
export function unmetWords(
  missing: readonly string[],
  errors: readonly ErrorObject[],
  words: ReadonlySet<string>,
): readonly string[] {
  const absent = missing.map((name) => ({ place: [name], wants: 'to be there', says: 'has none' }));
  const telling = errors.filter((error) => !isDetail(error));
  const wanted = new Map<string, string>();
  const found = (telling.length > 0 ? telling : errors).map((error) => missOf(error, wanted, words));
  return clauses([...absent, ...found]);
}

/** A gate that came to no answer, by the keyword of its issue. */
export function brokenWords(keyword: string): readonly string[] {
  return keyword === 'deadline'
    ? ['took longer than 1 second to judge the payload, which counts as not met: a pattern may be too slow']
    : ['broke off while judging the payload, which counts as not met: it may refer to itself endlessly'];
}

/** One clause of what a gate that is met wanted; none for a gate that asks for nothing. */
export function metWords(gate: JsonObject): readonly string[] {
  const wishes = describeWishes(gate);
  return wishes === null ? [] : [`wants ${wishes}; the payload agrees`];
}

/** What a gate wants, as a list such as "`passed` to be true and `score` to be at least 80"; null for nothing. */
export function describeWishes(gate: JsonObject): string | null {
  const wishes = wishesOf(gate);
  if (wishes.length === 0) return null;
  const more = wishes.length - MAX_CLAUSES;
  const told = [...wishes.slice(0, MAX_CLAUSES), ...(more > 0 ? [`${more} more`] : [])];
  const [last, ...before] = told.toReversed();
  const list = before.length === 0 ? last : `${before.toReversed().join(', ')} and ${last}`;
  return list ?? null;
}

/** What is wrong in a branch says less than that no branch holds, and `if` less than what follows from it. */
function isDetail({ keyword, schemaPath, propertyName }: ErrorObject): boolean {
  if (propertyName !== undefined && keyword !== 'propertyNames') return true;
  const within = schemaPath.replace(/\/properties\/[^/]+/g, '').replace(/\/[^/]+$/, '/');
  return keyword === 'if' || /\/(?:anyOf\/\d+|oneOf\/\d+|contains)\//.test(within);
}

function missOf(error: ErrorObject, wanted: Map<string, string>, words: ReadonlySet<string>): Miss {
  const place = error.instancePath.split('/').slice(1).map(unescaped);
  if (error.keyword === 'required') {
    const name = String(error.params['missingProperty']);
    return { place: [...place, name], wants: 'to be there', says: 'has none' };
  }
  // The same keyword may fail in very many places, and its words are long to make.
  const value: Json = error.parentSchema?.[error.keyword] ?? null;
  const wants = wanted.get(error.schemaPath) ?? wantsOf(error.keyword, value);
  wanted.set(error.schemaPath, wants);
  return { place, wants, says: saysOf(error, words) };
}

/** Misses of one wish at several entries of a list become one clause. */
function clauses(misses: readonly Miss[]): readonly string[] {
  const groups = new Map<string, Miss[]>();
  const seen = new Set<string>();
  for (const miss of misses) {
    const identity = JSON.stringify([miss.wants, miss.place]);
    if (seen.has(identity)) continue;
    seen.add(identity);
    const key = JSON.stringify([miss.wants, miss.place.map(anyIndex)]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [miss]);
    else group.push(miss);
  }
  const all = [...groups.values()];
  const rest = all.length - MAX_CLAUSES;
  const told = all.slice(0, MAX_CLAUSES).map(clause);
  return rest <= 0 ? told : [...told, `wants ${rest} more that the payload does not give`];
}

function clause(group: readonly Miss[]): string {
  const [first] = group;
  if (first === undefined) return '';
  if (group.length === 1)
    return `wants ${describePlace(first.place)} ${first.wants}; the payload ${first.says}`;
  const places = group.slice(0, MAX_PLACES).map(({ place, says }) => `${says} (${describePlace(place)})`);
  const more = group.length > MAX_PLACES ? ` and ${group.length - MAX_PLACES} more do not fit` : '';
  return `wants ${describePlace(first.place.map(anyIndex))} ${first.wants}; the payload ${places.join(', ')}${more}`;
}

/** A place in words; `*` stands for every entry of a list. */
export function describePlace(place: readonly string[]): string {
  const [name, index, inner] = place;
  if (name === undefined) return 'the payload';
  if (index === undefined) return named(name);
  if (index === '*' && place.length === 2) return `every entry of ${named(name)}`;
  if (index === '*' && place.length === 3 && inner !== undefined && inner !== '*')
    return `every ${named(inner)} in ${named(name)}`;
  return named(`/${place.join('/')}`);
}

function anyIndex(segment: string): string {
  return /^\d+$/.test(segment) ? '*' : segment;
}

/** Keywords that ask for nothing by themselves, or for what the others of their place imply. */
const SILENT =
  /^(?:\$.*|title|description|default|examples|definitions|required|properties|items|allOf|then|else)$/;

/** What a gate wants at each of its places, as far as that can be said without running it. */
function wishesOf(gate: JsonObject): readonly string[] {
  const wishes = new Set<string>();
  const seen = new Set<Json>();
  const rest: { schema: Json; place: readonly string[] }[] = [{ schema: gate, place: [] }];
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    const schema = isObject(next.schema) ? resolveLocal(gate, next.schema) : null;
    if (schema === null || seen.has(schema)) continue;
    seen.add(schema);
    const { place } = next;
    const keywords = Object.keys(schema).filter((keyword) => !SILENT.test(keyword));
    for (const keyword of keywords) {
      // A type is worth a word only where nothing else is asked.
      const isAlone = keywords.length === 1 && schema['items'] === undefined && place.length > 0;
      const value = schema[keyword];
      if (value === undefined || (keyword === 'type' && !isAlone)) continue;
      wishes.add(`${describePlace(place)} ${wantsOf(keyword, value)}`);
    }
    const { properties, items, allOf } = schema;
    for (const [name, inner] of Object.entries(isObject(properties) ? properties : {})) {
      rest.push({ schema: inner, place: [...place, name] });
      if (isObject(inner) && Object.keys(inner).length === 0) wishes.add(`${named(name)} to be there`);
    }
    if (isObject(items)) rest.push({ schema: items, place: [...place, '*'] });
    for (const branch of isArray(allOf) ? allOf : []) rest.push({ schema: branch, place });
  }
  return [...wishes];
}

function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** What some schemas ask of a value, such as "to be of the type integer and to be at least 0"; empty for nothing. */
export function describeKeywords(nodes: readonly JsonObject[]): string {
  const wants = nodes.flatMap((node) =>
    Object.entries(node).flatMap(([keyword, value]) =>
      SILENT.test(keyword) ? [] : [wantsOf(keyword, value)],
    ),
  );
  return [...new Set(wants)].slice(0, MAX_PLACES).join(' and ');
}

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
function wantsOf(keyword: string, value: Json): string {
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
function saysOf(error: ErrorObject, words: ReadonlySet<string>): string {
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
function saysValue(value: unknown, words: ReadonlySet<string>): string {
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
function named(name: string): string {
  return `\`${cut(plain(name), MAX_VALUE)}\``;
}

function plain(text: string): string {
  return text.replaceAll('`', "'");
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;
}
