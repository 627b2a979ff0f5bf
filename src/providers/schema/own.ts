/** What a schema says by itself, its references and combinators aside, in a dialect that knows only some keywords. */
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';
import { annotationsOf, isTaken, type StrictDialect } from './dialects.ts';
import { itemsSchema } from './emit.ts';
import {
  allLost,
  type Copy,
  commonTypes,
  disjunction,
  type Form,
  isEmpty,
  typeOf,
  typesOf,
} from './plain.ts';

/** How the schemas inside are read: as a form, or, where one stands alone, as a copy; null where it accepts nothing. */
export interface Inside {
  readonly dialect: StrictDialect;
  form(schema: Json): Form;
  copy(schema: Json): Copy | null;
}

/** Keywords that are no part of this, or are read together with others. */
const readElsewhere = new Set([
  ...['$ref', 'allOf', 'anyOf', 'oneOf', '$defs', 'definitions'],
  ...['type', 'const', 'enum', 'items', 'prefixItems', 'properties', 'additionalProperties'],
]);

/** Keywords with the values that are sent, and those that are lost. */
interface Fields {
  readonly kept: Map<string, Json>;
  readonly lost: JsonObject[];
}

/** What a schema says by itself. */
export function ownForm(source: JsonObject, inside: Inside): Form {
  const { dialect } = inside;
  const fields: Fields = { kept: new Map(), lost: [] };
  const named = typesOf(source['type']);
  const annotations = new Map<string, Json>();
  for (const [keyword, value] of Object.entries(source)) {
    if (readElsewhere.has(keyword)) continue;
    if (annotationsOf[dialect].has(keyword)) annotations.set(keyword, value);
    else if (named.some((type) => isTaken(dialect, keyword, value, type))) fields.kept.set(keyword, value);
    else lose(fields, keyword, value);
  }
  const types = readLiterals(source, named, dialect, fields);
  if (dialect === 'gemini') readExclusive(source, named, fields);
  readProperties(source, inside, fields);
  readItems(source, inside, fields);
  return {
    alternatives: types.length === 0 ? [] : [{ types, fields: Object.fromEntries(fields.kept) }],
    annotations: Object.fromEntries(annotations),
    lost: allLost(fields.lost),
  };
}

function lose({ lost }: Fields, keyword: string, value: Json | undefined): void {
  if (value !== undefined) lost.push(Object.fromEntries([[keyword, value]]));
}

/** `const` and `enum`; the types that are left. */
function readLiterals(
  source: JsonObject,
  types: readonly string[],
  dialect: StrictDialect,
  fields: Fields,
): readonly string[] {
  const { const: single, enum: listed } = source;
  if (single !== undefined) lose(fields, 'enum', listed);
  const values = single === undefined ? listed : [single];
  if (values === undefined || !isArray(values)) return types;
  fields.kept.set('enum', values);
  // Google's API has strings in `enum`, none of them empty; null is said in another way.
  const isSayable = values.every((each) => each === null || (typeof each === 'string' && each !== ''));
  if (dialect === 'gemini' && !isSayable) lose(fields, 'enum', values);
  return commonTypes(typesOf([...new Set(values.map(typeOf))]), types);
}

/** Exclusive bounds as inclusive ones, which are the same for integers only. */
function readExclusive(source: JsonObject, types: readonly string[], fields: Fields): void {
  const isWhole = types.every((type) => type !== 'number');
  const { exclusiveMinimum: above, exclusiveMaximum: below, minimum, maximum } = source;
  if (typeof above === 'number') {
    const least = isWhole ? Math.floor(above) + 1 : above;
    fields.kept.set('minimum', typeof minimum === 'number' ? Math.max(minimum, least) : least);
  }
  if (typeof below === 'number') {
    const most = isWhole ? Math.ceil(below) - 1 : below;
    fields.kept.set('maximum', typeof maximum === 'number' ? Math.min(maximum, most) : most);
  }
}

function readProperties(source: JsonObject, { dialect, copy }: Inside, fields: Fields): void {
  const { properties, additionalProperties, patternProperties } = source;
  const kept: [string, Json][] = [];
  const lost: [string, Json][] = [];
  for (const [name, each] of isObject(properties) ? Object.entries(properties) : []) {
    const copied = copy(each);
    if (copied !== null) kept.push([name, copied.schema]);
    if (copied === null) lost.push([name, each]);
    else if (!isEmpty(copied.lost)) lost.push([name, copied.lost]);
  }
  if (kept.length > 0) fields.kept.set('properties', Object.fromEntries(kept));
  if (lost.length > 0) lose(fields, 'properties', Object.fromEntries(lost));
  if (dialect === 'gemini') {
    if (additionalProperties !== true) lose(fields, 'additionalProperties', additionalProperties);
  } else if (patternProperties !== undefined) {
    // What the patterns allow must stay sayable, to llama.cpp too, which takes an object for closed by default.
    fields.kept.set('additionalProperties', true);
    if (additionalProperties !== true) lose(fields, 'additionalProperties', additionalProperties);
  } else if (isObject(additionalProperties)) {
    const copied = copy(additionalProperties);
    fields.kept.set('additionalProperties', copied === null ? false : copied.schema);
    if (copied !== null && !isEmpty(copied.lost)) lose(fields, 'additionalProperties', additionalProperties);
  } else if (additionalProperties !== undefined) {
    fields.kept.set('additionalProperties', additionalProperties);
  }
}

/** `items`, which a tuple becomes too: a list of whatever it has at any place. */
function readItems(source: JsonObject, { dialect, form }: Inside, fields: Fields): void {
  const { items, prefixItems, maxItems } = source;
  const prefix = prefixItems !== undefined && isArray(prefixItems) ? prefixItems : [];
  lose(fields, 'prefixItems', prefixItems);
  if (prefix.length > 0 && !(isObject(items) && isEmpty(items))) lose(fields, 'items', items);
  const isFull = typeof maxItems === 'number' && maxItems <= prefix.length;
  const isClosed = items === false || isFull;
  if (items === false && !isFull) fields.kept.set('maxItems', prefix.length);
  const rest = isClosed || items === undefined || (isObject(items) && isEmpty(items)) ? [] : [items];
  if (!isClosed && rest.length === 0) return;
  const schemas = [...prefix, ...rest];
  if (schemas.length === 0) return;
  const forms = schemas.map(form);
  const [first] = forms;
  const all = forms.length === 1 && first !== undefined ? first : disjunction(forms);
  const copied = itemsSchema(all, dialect);
  if (copied === null) fields.kept.set('maxItems', 0);
  else {
    fields.kept.set('items', copied.schema);
    if (prefix.length === 0 && !isEmpty(copied.lost)) lose(fields, 'items', copied.lost);
  }
}
