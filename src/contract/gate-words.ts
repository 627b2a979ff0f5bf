/** What a gate wanted and what the payload says, in words for people: clauses that read on from “the gate”. */
import type { ErrorObject } from 'ajv';
import { isArray, isObject } from '../json.ts';
import type { Json, JsonObject } from '../types.ts';
import { named, saysOf, saysValue, wantsOf } from './gate-wants.ts';
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
  const wishes = wishesOf(gate);
  if (wishes.length === 0) return [];
  const more = wishes.length - MAX_CLAUSES;
  const told = [...wishes.slice(0, MAX_CLAUSES), ...(more > 0 ? [`${more} more`] : [])];
  const [last, ...before] = told.toReversed();
  const list = before.length === 0 ? last : `${before.toReversed().join(', ')} and ${last}`;
  return [`wants ${list}; the payload agrees`];
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
  if (group.length === 1) return `wants ${subject(first.place)} ${first.wants}; the payload ${first.says}`;
  const places = group.slice(0, MAX_PLACES).map(({ place, says }) => `${says} (${subject(place)})`);
  const more = group.length > MAX_PLACES ? ` and ${group.length - MAX_PLACES} more do not fit` : '';
  return `wants ${subject(first.place.map(anyIndex))} ${first.wants}; the payload ${places.join(', ')}${more}`;
}

/** A place in words; `*` stands for every entry of a list. */
function subject(place: readonly string[]): string {
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
      wishes.add(`${subject(place)} ${wantsOf(keyword, value)}`);
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
