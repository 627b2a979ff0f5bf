/** Describes for people what a gate required and what the payload contains, in clauses that follow “the gate”. */

import type { ErrorObject } from 'ajv';
import { isArray, isObject, pointerSegments } from '../text/json.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import type { Json, JsonObject } from '../types.ts';
import { collectMentions } from './compile.ts';
import { pathIn, redactPath } from './issues.ts';
import { resolveLocal, schemaNodes } from './schema-walk.ts';

/** What the payload contains at a path where it does not meet the gate. */
interface Miss {
  /** Keys and indexes from the root; `*` for an undeclared key. */
  readonly place: readonly string[];
  readonly wants: string;
  readonly says: string;
}

/** The parts of a payload that may be quoted in logs and annotations; everything else is text of the model. */
export interface Quotable {
  /** The strings that the schema lists as values. */
  readonly words: ReadonlySet<string>;
  /** The names that the schema or the gate declares. */
  readonly names: ReadonlySet<string>;
}

export function quotableOf(schema: JsonObject, gate: JsonObject): Quotable {
  const names = new Set([schema, gate].flatMap((each) => [...collectMentions(each).propertyNames]));
  return { words: listedWords(schema), names };
}

/** Returns the strings that a schema lists as values. */
export function listedWords(schema: JsonObject): ReadonlySet<string> {
  const values = [...schemaNodes(schema)].flatMap(({ node }) =>
    [node['enum'] ?? [], node['const'] ?? []].flat(),
  );
  return new Set(values.filter((value) => typeof value === 'string'));
}

/** Returns the clause for a property that had to be true; `value` is undefined when it is missing. */
export function unmetPropertyWords(
  name: string,
  value: Json | undefined,
  { words }: Pick<Quotable, 'words'>,
): readonly string[] {
  const says = value === undefined ? 'has none' : saysValue(value, words);
  return clauses([{ place: [name], wants: wantsOf('const', true), says }]);
}

/**
 * Returns the clauses for missing properties and for a validator's errors: at most 10, of which the last counts the
 * rest.
 */
export function unmetWords(
  payload: JsonObject,
  missing: readonly string[],
  errors: readonly ErrorObject[],
  quotable: Quotable,
): readonly string[] {
  const absent = missing.map((name) => ({ place: [name], wants: 'to be there', says: 'has none' }));
  const main = errors.filter((error) => !isDetail(error));
  // The same keyword may fail at very many paths, and its description is expensive.
  const wanted = new Map<string, string>();
  const found = (main.length > 0 ? main : errors).map((error): Miss => {
    const { keyword, instancePath, schemaPath, parentSchema } = error;
    const pointer = redactPath(pathIn(payload, instancePath), quotable.names);
    const place = pointerSegments(pointer);
    if (keyword === 'required')
      return {
        place: [...place, String(error.params['missingProperty'])],
        wants: 'to be there',
        says: 'has none',
      };
    const wants = wanted.get(schemaPath) ?? wantsOf(keyword, parentSchema?.[keyword] ?? null);
    wanted.set(schemaPath, wants);
    return { place, wants, says: saysOf(error, quotable) };
  });
  return clauses([...absent, ...found]);
}

/** Describes a gate that could not be evaluated, by the keyword of its issue. */
export function brokenWords(keyword: string): readonly string[] {
  return keyword === 'deadline'
    ? ['took longer than 1 second to judge the payload, which counts as not met: a pattern may be too slow']
    : ['broke off while judging the payload, which counts as not met: it may refer to itself endlessly'];
}

/** Returns one clause with the requirements of a gate that is met; none for a gate without requirements. */
export function metWords(gate: JsonObject): readonly string[] {
  const wishes = describeWishes(gate);
  return wishes === null ? [] : [`wants ${wishes}; the payload agrees`];
}

/**
 * Lists the requirements of a gate, such as "`passed` to be true and `score` to be at least 80"; null when there are
 * none.
 */
export function describeWishes(gate: JsonObject): string | null {
  const wishes = wishesOf(gate);
  const more = wishes.length - LISTED.several;
  const listed = [...wishes.slice(0, LISTED.several), ...(more > 0 ? [`${more} more`] : [])];
  const last = listed.pop();
  if (last === undefined) return null;
  return listed.length === 0 ? last : `${listed.join(', ')} and ${last}`;
}

/** Describes what schemas require of a value, such as "to be of the type integer and to be at least 0". */
export function describeKeywords(nodes: readonly JsonObject[]): string {
  const entries = nodes.flatMap((node) => Object.entries(node)).filter(([keyword]) => !SILENT.test(keyword));
  const wants = [...new Set(entries.map(([keyword, value]) => wantsOf(keyword, value)))];
  return wants.slice(0, LISTED.few).join(' and ') || 'to satisfy a part of it';
}

/** Describes a path in words; `*` stands for every entry of a list, or for an undeclared key. */
export function describePlace(place: readonly string[]): string {
  const [name, index, inner] = place;
  if (name === undefined) return 'the payload';
  if (index === undefined) return named(name);
  if (index === '*' && place.length === 2) return `every entry of ${named(name)}`;
  if (index === '*' && place.length === 3 && inner !== undefined && inner !== '*')
    return `every ${named(inner)} in ${named(name)}`;
  return named(`/${place.join('/')}`);
}

/** Formats JSON on one line with spaces, as people write it. */
export function toSpacedJson(value: Json): string {
  const text = JSON.stringify(value, null, 1)
    .replace(/([{[])\n */g, '$1')
    .replace(/\n *([}\]])/g, '$1');
  return truncate(text.replace(/\n */g, ' '), DISPLAY.phrase);
}

/**
 * An error inside a branch matters less than that no branch matches, and one of `if` less than that of `then` or
 * `else`.
 */
function isDetail({ keyword, schemaPath, propertyName }: ErrorObject): boolean {
  if (propertyName !== undefined && keyword !== 'propertyNames') return true;
  const within = schemaPath.replace(/\/properties\/[^/]+/g, '').replace(/\/[^/]+$/, '/');
  return keyword === 'if' || /\/(?:anyOf\/\d+|oneOf\/\d+|contains)\//.test(within);
}

/** Joins the misses of one requirement at several entries of a list into one clause. */
function clauses(misses: readonly Miss[]): readonly string[] {
  const unique = new Map(misses.map((miss) => [JSON.stringify([miss.wants, miss.place]), miss]));
  const groups = Map.groupBy(unique.values(), (miss) =>
    JSON.stringify([miss.wants, miss.place.map(anyIndex)]),
  );
  const rest = groups.size - LISTED.several;
  const listed = [...groups.values()].slice(0, LISTED.several).map(clause);
  return rest <= 0 ? listed : [...listed, `wants ${rest} more that the payload does not give`];
}

function clause(group: readonly Miss[]): string {
  const [{ place, wants, says } = { place: [], wants: '', says: '' }] = group;
  if (group.length === 1) return `wants ${describePlace(place)} ${wants}; the payload ${says}`;
  const places = group.slice(0, LISTED.few).map((each) => `${each.says} (${describePlace(each.place)})`);
  const more = group.length > LISTED.few ? ` and ${group.length - LISTED.few} more do not fit` : '';
  return `wants ${describePlace(place.map(anyIndex))} ${wants}; the payload ${places.join(', ')}${more}`;
}

function anyIndex(segment: string): string {
  return /^\d+$/.test(segment) ? '*' : segment;
}

/** Keywords that require nothing themselves, or only what the others at their path imply. */
const SILENT =
  /^(?:\$.*|title|description|default|examples|definitions|required|properties|items|allOf|then|else)$/;

/** Lists what a gate requires at each path, as far as that is known without evaluating it. */
function wishesOf(gate: JsonObject): readonly string[] {
  const wishes = new Set<string>();
  const seen = new Set<Json>();
  const queue: { schema: Json; place: readonly string[] }[] = [{ schema: gate, place: [] }];
  // The queue grows during iteration.
  for (const { schema: part, place } of queue) {
    const schema = isObject(part) ? resolveLocal(gate, part) : null;
    if (schema === null || seen.has(schema)) continue;
    seen.add(schema);
    const wanted = Object.entries(schema).filter(([keyword]) => !SILENT.test(keyword));
    // A type is worth mentioning only where nothing else is required.
    const isAlone = wanted.length === 1 && schema['items'] === undefined && place.length > 0;
    for (const [keyword, value] of wanted)
      if (keyword !== 'type' || isAlone) wishes.add(`${describePlace(place)} ${wantsOf(keyword, value)}`);
    const { properties, items, allOf } = schema;
    for (const [name, inner] of Object.entries(isObject(properties) ? properties : {})) {
      queue.push({ schema: inner, place: [...place, name] });
      if (isObject(inner) && Object.keys(inner).length === 0) wishes.add(`${named(name)} to be there`);
    }
    if (isObject(items)) queue.push({ schema: items, place: [...place, '*'] });
    for (const branch of isArray(allOf) ? allOf : []) queue.push({ schema: branch, place });
  }
  return [...wishes];
}

/** What a keyword requires, worded to follow “wants the thing”: `to be at least 3`. */
const WANTS: ReadonlyMap<string, (value: Json) => string> = new Map<string, (value: Json) => string>([
  ['const', (value) => `to be ${quoted(value)}`],
  ['enum', (value) => `to be ${oneOf(value)}`],
  ['type', (value) => `to be of the type ${[value].flat().map(String).join(' or ')}`],
  ['minimum', (value) => `to be at least ${quoted(value)}`],
  ['maximum', (value) => `to be at most ${quoted(value)}`],
  ['exclusiveMinimum', (value) => `to be more than ${quoted(value)}`],
  ['exclusiveMaximum', (value) => `to be less than ${quoted(value)}`],
  ['multipleOf', (value) => `to be a multiple of ${quoted(value)}`],
  ['minItems', (value) => sized('at least', value, 'entry', 'entries')],
  ['maxItems', (value) => sized('at most', value, 'entry', 'entries')],
  ['minLength', (value) => sized('at least', value, 'character', 'characters')],
  ['maxLength', (value) => sized('at most', value, 'character', 'characters')],
  ['minProperties', (value) => sized('at least', value, 'property', 'properties')],
  ['maxProperties', (value) => sized('at most', value, 'property', 'properties')],
  ['pattern', (value) => `to match the pattern ${quoted(value)}`],
  ['format', (value) => `to be of the format ${quoted(value)}`],
  ['uniqueItems', () => 'to have no entry twice'],
  ['contains', (value) => `to have an entry with ${json(value)}`],
  ['not', notWords],
  ['additionalProperties', () => 'to have no property that is not named'],
  ['unevaluatedProperties', () => 'to have no property that is not named'],
  ['if', () => 'to keep to its rule with `if`'],
  ['false schema', () => 'to be absent'],
]);

function wantsOf(keyword: string, value: Json): string {
  return WANTS.get(keyword)?.(value) ?? `to satisfy ${keyword} ${json(value)}`;
}

function sized(words: string, value: Json, one: string, many: string): string {
  return words === 'at most' && value === 0
    ? 'to be empty'
    : `to have ${words} ${quoted(value)} ${value === 1 ? one : many}`;
}

function oneOf(value: Json): string {
  const values = isArray(value) ? value : [value];
  const more = values.length > LISTED.several ? ` and ${values.length - LISTED.several} more` : '';
  const listed = values.slice(0, LISTED.several).map(quoted).join(', ');
  return values.length === 1 ? listed : `one of ${listed}${more}`;
}

function notWords(value: Json): string {
  const { const: one, enum: several, ...others } = isObject(value) ? value : { not: value };
  const listed = several ?? (one === undefined ? undefined : [one]);
  if (listed === undefined || (one !== undefined && several !== undefined) || Object.keys(others).length > 0)
    return `not to satisfy ${json(value)}`;
  return `not to be ${oneOf(listed)}`;
}

/** What the payload contains where a keyword failed, worded to follow “the payload”: `says false`. */
function saysOf({ keyword, data, params }: ErrorObject, { words, names }: Quotable): string {
  if (keyword.endsWith('Items') && Array.isArray(data)) return has(data.length);
  if (keyword.endsWith('Length') && typeof data === 'string') return has([...data].length);
  if (keyword.endsWith('Properties') && typeof data === 'object' && data !== null) {
    const name: unknown = params['additionalProperty'] ?? params['unevaluatedProperty'];
    if (typeof name !== 'string') return has(Object.keys(data).length);
    return names.has(name) ? `has ${quoted(name)}` : 'has one';
  }
  const isOfValue = /^(?:const|enum|not|type|false schema|multipleOf|.*(?:min|max)imum)$/i.test(keyword);
  const isQuotable = typeof data === 'string' ? words.has(data) : typeof data !== 'object' || data === null;
  return isOfValue || isQuotable ? saysValue(data, words) : 'does not';
}

function has(count: number): string {
  return count === 0 ? 'has none' : `has ${count}`;
}

/** What the payload contains, worded to follow “the payload”; its strings only if they may be quoted. */
function saysValue(value: unknown, words: ReadonlySet<string>): string {
  if (typeof value === 'string') {
    if (value === '') return 'has an empty text there';
    return words.has(value) ? `says ${quoted(value)}` : 'has another text there';
  }
  if (typeof value !== 'object' || value === null) return `says ${JSON.stringify(value)}`;
  return Array.isArray(value) ? 'has another list there' : 'has another object there';
}

function quoted(value: Json): string {
  return truncate(plain(JSON.stringify(value)), DISPLAY.value);
}

/** Formats a part of the gate as JSON, where there is no better description. */
function json(value: Json): string {
  return `\`${truncate(plain(JSON.stringify(value)), DISPLAY.phrase)}\``;
}

/** Formats a name as code; a backtick in it would end the code span. */
function named(name: string): string {
  return `\`${truncate(plain(name), DISPLAY.value)}\``;
}

function plain(text: string): string {
  return text.replaceAll('`', "'");
}
