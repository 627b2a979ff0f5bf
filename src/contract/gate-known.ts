/** What is certain of every value that a schema accepts: the keywords that all must hold for it, in one list. */
import { isArray, isObject } from '../json.ts';
import type { Json, JsonObject } from '../types.ts';
import { declares, isClosed } from './declared.ts';
import { pointedAt, schemaNodes } from './keywords.ts';

/** Schemas that a value satisfies, every one of them. */
export interface Known {
  /** Where the references of `all` lead. */
  readonly root: JsonObject;
  readonly all: readonly JsonObject[];
}

/** Of which nothing is known. */
export const UNKNOWN: Known = { root: {}, all: [] };

/** What is known of the values that some schemas accept: they, what they refer to and their `allOf`, at any depth. */
export function knownOf(root: JsonObject, schemas: readonly (Json | undefined)[]): Known {
  const all = new Set<JsonObject>();
  const rest = [...schemas];
  for (let next = rest.pop(); next !== undefined || rest.length > 0; next = rest.pop()) {
    if (!isObject(next) || all.has(next)) continue;
    all.add(next);
    const { $ref, allOf } = next;
    const target = typeof $ref === 'string' && !hasOwnIds(root) ? pointedAt(root, $ref) : null;
    if (target !== null) rest.push(target);
    if (isArray(allOf)) rest.push(...allOf);
  }
  return { root, all: [...all] };
}

/** Whether a part of a schema has an address of its own, so that `#` leads elsewhere in it. */
export function hasOwnIds(root: JsonObject): boolean {
  for (const { node, path } of schemaNodes(root))
    if (path.length > 0 && node['$id'] !== undefined) return true;
  return false;
}

/** What is known of a property of an object. */
export function propertyOf({ root, all }: Known, name: string): Known {
  return knownOf(
    root,
    all.map(({ properties }) =>
      isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined,
    ),
  );
}

/** What is known of every entry of a list. */
export function itemOf({ root, all }: Known): Known {
  return knownOf(
    root,
    all.map(({ items, prefixItems }) => (prefixItems === undefined && isObject(items) ? items : undefined)),
  );
}

/** Whether every object that is known like this has a property. */
export function isRequired({ all }: Known, name: string): boolean {
  return all.some(({ required }) => isArray(required) && required.includes(name));
}

/** Whether no object that is known like this can have a property: nothing but what is declared may be there. */
export function isForbidden({ all }: Known, name: string): boolean {
  return all.some((node) => isClosed(node) && !declares(node, name));
}

/** Whether the values that are known like this are of some types only. */
export function isOfTypes({ all }: Known, types: readonly Json[]): boolean {
  const isAmong = (type: Json) => types.includes(type) || (type === 'integer' && types.includes('number'));
  return all.some(({ type, nullable }) => {
    const given = isArray(type) ? type : type === undefined ? [] : [type];
    return given.length > 0 && nullable === undefined && given.every(isAmong);
  });
}

/** Whether a keyword stands in what is known, with this very value. */
export function saysTheSame({ all }: Known, keyword: string, value: Json): boolean {
  const text = JSON.stringify(value);
  return all.some((node) => Object.hasOwn(node, keyword) && JSON.stringify(node[keyword]) === text);
}

/** Whether the values that are known like this are among some. */
export function isAmong({ all }: Known, values: readonly Json[]): boolean {
  const texts = values.map((value) => JSON.stringify(value));
  return all.some((node) => {
    const listed = node['enum'];
    const given = isArray(listed) ? listed : Object.hasOwn(node, 'const') ? [node['const']] : [];
    return given.length > 0 && given.every((value) => texts.includes(JSON.stringify(value)));
  });
}
