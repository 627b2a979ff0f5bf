/** What the stricter dialects make of a schema: alternatives, each with its types and the keywords that go with them. */
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';

/** One way to be accepted. Without `types` it is a reference, which says them itself. */
export interface Alternative {
  readonly types: readonly string[] | null;
  readonly fields: JsonObject;
}

/** A schema as alternatives; none where it accepts nothing. */
export interface Form {
  readonly alternatives: readonly Alternative[];
  readonly annotations: JsonObject;
  /** Keywords that went missing, as a schema to be read beside this one. */
  readonly lost: JsonObject;
}

/** A schema as it is sent, and what went missing. */
export interface Copy {
  readonly schema: JsonObject;
  readonly lost: JsonObject;
}

/** Every type of JSON Schema but `integer`, which `number` holds. */
export const allTypes = ['string', 'number', 'boolean', 'object', 'array', 'null'];

/** Accepts everything. */
export const anything: Form = {
  alternatives: [{ types: allTypes, fields: {} }],
  annotations: {},
  lost: {},
};

/** Whether a form restricts nothing, whatever it is annotated with. */
export function isAnything({ alternatives: [first, ...others] }: Form): boolean {
  return (
    first !== undefined &&
    others.length === 0 &&
    isEmpty(first.fields) &&
    first.types?.length === allTypes.length
  );
}

/** Whether an object has no keys. */
export function isEmpty(object: JsonObject): boolean {
  return Object.keys(object).length === 0;
}

/** The types that a schema names, all of them where it names none. */
export function typesOf(type: Json | undefined): readonly string[] {
  if (typeof type === 'string') return [type];
  if (!isArray(type)) return allTypes;
  const names = type.filter((each) => typeof each === 'string');
  return names.includes('number') ? names.filter((each) => each !== 'integer') : names;
}

/** The type of a literal. */
export function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  if (typeof value !== 'number') return typeof value;
  return Number.isInteger(value) ? 'integer' : 'number';
}

/** The types that both name. */
export function commonTypes(one: readonly string[], other: readonly string[]): readonly string[] {
  const common = one.flatMap((type) => {
    if (other.includes(type)) return [type];
    const narrower =
      type === 'integer' ? other.includes('number') : type === 'number' && other.includes('integer');
    return narrower ? ['integer'] : [];
  });
  return [...new Set(common)];
}

/** Schemas that were lost at one place, as one. */
export function allLost(parts: readonly JsonObject[]): JsonObject {
  const keywords = new Map<string, Json>();
  const others: Json[] = [];
  for (const part of parts) {
    const entries = Object.entries(part);
    if (entries.some(([keyword]) => keywords.has(keyword))) others.push(part);
    else for (const [keyword, value] of entries) keywords.set(keyword, value);
  }
  const { allOf, ...rest } = Object.fromEntries(keywords);
  if (others.length === 0) return allOf === undefined ? rest : { ...rest, allOf };
  return { ...rest, allOf: [...(isArray(allOf) ? allOf : []), ...others] };
}

/** What all of the forms accept, at least; what does not fit into one schema is lost. */
export function conjunction(forms: readonly Form[]): Form {
  const lost = forms.map((form) => form.lost);
  const annotations = Object.assign({}, ...forms.map((form) => form.annotations).reverse());
  const narrowing = forms.filter((form) => !isAnything(form));
  if (narrowing.some((form) => form.alternatives.length === 0))
    return { alternatives: [], annotations, lost: {} };
  const single = narrowing.flatMap(({ alternatives }) => (isSimple(alternatives) ? alternatives : []));
  const [union, ...others] = narrowing.filter(({ alternatives }) => !isSimple(alternatives));
  const merged = mergedAlternative(single);
  const { types, fields } = merged;
  if (types.length === 0) return { alternatives: [], annotations, lost: {} };
  if (union === undefined) {
    return { alternatives: [{ types, fields }], annotations, lost: allLost([...lost, ...merged.lost]) };
  }
  const dropped = others.map(spelled);
  if (!isEmpty(fields)) {
    const parts = [...lost, ...merged.lost, spelled(union), ...dropped];
    return { alternatives: [{ types, fields }], annotations, lost: allLost(parts) };
  }
  const alternatives = union.alternatives.flatMap((each): readonly Alternative[] => {
    const common = each.types === null ? null : commonTypes(each.types, types);
    return common?.length === 0 ? [] : [{ types: common, fields: each.fields }];
  });
  return { alternatives, annotations, lost: allLost([...lost, ...dropped]) };
}

/** What any of the forms accepts. */
export function disjunction(forms: readonly Form[]): Form {
  const alternatives = forms.flatMap(({ alternatives: [first, ...others], annotations }) =>
    first === undefined ? [] : [annotated(first, annotations), ...others],
  );
  const known = new Map<string, Alternative>();
  for (const [at, each] of alternatives.entries()) {
    const key = mergeKey(each) ?? String(at);
    const before = known.get(key)?.fields['enum'];
    const own = each.fields['enum'];
    const values = isArray(before) && isArray(own) ? new Set([...before, ...own]) : null;
    known.set(key, values === null ? each : { types: each.types, fields: { enum: [...values] } });
  }
  const distinct = [...known.values()];
  return { alternatives: distinct, annotations: {}, lost: {} };
}

/** Alternatives with the same key are one, with the literals of all; null for one that stays alone. */
function mergeKey({ types, fields }: Alternative): string | null {
  const [keyword, ...others] = Object.keys(fields);
  if (types === null || others.length > 0) return null;
  if (keyword === undefined) return types.join();
  return keyword === 'enum' ? `${types.join()} in` : null;
}

/** An alternative with annotations of its own; beside a reference there is no place for them. */
export function annotated(alternative: Alternative, annotations: JsonObject): Alternative {
  if (alternative.types === null) return alternative;
  return { types: alternative.types, fields: { ...annotations, ...alternative.fields } };
}

function isSimple(alternatives: readonly Alternative[]): boolean {
  return alternatives.length === 1 && alternatives[0]?.types !== null;
}

/** A union that found no place, as a schema. */
function spelled(form: Form): JsonObject {
  return {
    anyOf: form.alternatives.map(({ types, fields }) =>
      types === null ? fields : { type: types, ...fields },
    ),
  };
}

interface Merged {
  readonly types: readonly string[];
  readonly fields: JsonObject;
  readonly lost: readonly JsonObject[];
}

/** Everything that the alternatives demand; of two demands under one keyword the first counts, the other is lost. */
function mergedAlternative(alternatives: readonly Alternative[]): Merged {
  let types: readonly string[] = allTypes;
  const fields = new Map<string, Json>();
  const properties = new Map<string, Json>();
  const required = new Set<Json>();
  const lost: JsonObject[] = [];
  const put = (into: Map<string, Json>, keyword: string, value: Json, loss: (value: Json) => JsonObject) => {
    const before = into.get(keyword);
    if (before === undefined || before === true) into.set(keyword, value);
    else if (value !== true && !isSame(before, value)) lost.push(loss(value));
  };
  for (const alternative of alternatives) {
    types = commonTypes(alternative.types ?? allTypes, types);
    for (const [keyword, value] of Object.entries(alternative.fields)) {
      if (keyword === 'required' && isArray(value)) for (const name of value) required.add(name);
      else if (keyword === 'properties' && isObject(value)) {
        for (const [name, each] of Object.entries(value)) {
          put(properties, name, each, (other) => ({ properties: Object.fromEntries([[name, other]]) }));
        }
      } else put(fields, keyword, value, (other) => Object.fromEntries([[keyword, other]]));
    }
  }
  if (properties.size > 0) fields.set('properties', Object.fromEntries(properties));
  if (required.size > 0) fields.set('required', [...required]);
  return { types, fields: Object.fromEntries(fields), lost };
}

/** Whether two values are surely the same; large ones are not compared. */
function isSame(one: Json, other: Json): boolean {
  if (one === other) return true;
  const isSmall = [one, other].every(
    (each) => isObject(each) && Object.keys(each).length < 4 && !Object.values(each).some(isObject),
  );
  return isSmall && JSON.stringify(one) === JSON.stringify(other);
}
