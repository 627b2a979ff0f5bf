/** Spells forms in the dialects that know a part of JSON Schema only. */
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';
import { annotationsOf, isTaken, type StrictDialect } from './dialects.ts';
import { type Alternative, allLost, type Copy, type Form, isAnything, isEmpty } from './plain.ts';

/** A form as a schema; null where it accepts nothing. */
export function emitted(form: Form, dialect: StrictDialect): Copy | null {
  const { alternatives, annotations } = form;
  const [first, ...others] = alternatives;
  if (first === undefined) return null;
  if (dialect === 'gemini') return emittedForGemini(form);
  if (others.length === 0 && first.types === null) {
    // What stands beside a reference is overlooked by some servers, and refused by others.
    return { schema: first.fields, lost: allLost([annotations, form.lost]) };
  }
  if (others.length === 0) return { schema: whole(first, annotations), lost: form.lost };
  return { schema: { ...annotations, anyOf: alternatives.map((each) => whole(each, {})) }, lost: form.lost };
}

/** A form as the `items` of an array: both dialects take an empty schema here. */
export function itemsSchema(form: Form, dialect: StrictDialect): Copy | null {
  if (isAnything(form) && isEmpty(form.annotations)) return { schema: {}, lost: form.lost };
  return emitted(form, dialect);
}

function whole({ types, fields }: Alternative, annotations: JsonObject): JsonObject {
  if (types === null) return fields;
  const [first, ...others] = types;
  const rest = Object.entries(fields).filter(
    ([keyword, value]) =>
      annotationsOf.compatible.has(keyword) ||
      types.some((type) => isTaken('compatible', keyword, value, type)),
  );
  const items = types.includes('array') && fields['items'] === undefined ? { items: {} } : {};
  const type: Json = first !== undefined && others.length === 0 ? first : types;
  return { type, ...annotations, ...Object.fromEntries(rest), ...items };
}

/** One type to a schema; null is no type but a mark on another one. */
function emittedForGemini({ alternatives, annotations, lost }: Form): Copy {
  const losses: JsonObject[] = [lost];
  const typed = alternatives.flatMap(({ types, fields }) =>
    (types ?? [])
      .filter((type) => type !== 'null')
      .map((type): JsonObject => ({ type, ...fieldsFor(type, fields, losses) })),
  );
  const isNullable = alternatives.some(({ types }) => types?.includes('null'));
  const mark = isNullable ? { nullable: true } : {};
  const [first, ...others] = typed;
  if (first === undefined) {
    return {
      schema: { type: 'string', ...annotations, nullable: true },
      lost: allLost([...losses, { type: 'null' }]),
    };
  }
  const { type, ...rest } = first;
  const headed = { type: type ?? 'string', ...annotations, ...rest, ...mark };
  if (others.length === 0) return { schema: headed, lost: allLost(losses) };
  // Beside `anyOf` nothing else may stand.
  return { schema: { anyOf: [headed, ...others] }, lost: allLost(losses) };
}

function fieldsFor(type: string, fields: JsonObject, losses: JsonObject[]): JsonObject {
  const kept = new Map<string, Json>();
  for (const [keyword, value] of Object.entries(fields)) {
    if (annotationsOf.gemini.has(keyword)) kept.set(keyword, value);
    else if (keyword === 'enum') {
      const strings = isArray(value) ? value.filter((each) => typeof each === 'string') : [];
      if (type === 'string' && !strings.includes('')) kept.set(keyword, strings);
    } else if (keyword === 'required' && type === 'object' && isArray(value)) {
      const properties = fields['properties'];
      const isKnown = (name: Json) =>
        typeof name === 'string' && isObject(properties) && Object.hasOwn(properties, name);
      const known = value.filter(isKnown);
      if (known.length > 0) kept.set(keyword, known);
      if (known.length < value.length) losses.push({ required: value.filter((name) => !isKnown(name)) });
    } else if (isTaken('gemini', keyword, value, type)) kept.set(keyword, value);
  }
  if (type === 'array' && !kept.has('items')) kept.set('items', {});
  return Object.fromEntries(kept);
}
