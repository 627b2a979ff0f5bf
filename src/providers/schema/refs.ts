/** Resolves the references of a schema, and determines how the projection writes them. */
import { isArray, isObject } from '../../text/json.ts';
import { resolvePointer, subschemas } from '../../text/schema-keywords.ts';
import type { Json, JsonObject } from '../../types.ts';

export interface References {
  /** Returns the target of the reference in this node. */
  resolve(node: JsonObject): JsonObject | boolean;
  /** Returns the reference as the projection writes it; a target that is not kept at its position is hoisted. */
  write(node: JsonObject): string;
  /** The targets that `write` has hoisted so far, by their names under `$defs`; the list grows. */
  readonly hoisted: readonly (readonly [name: string, target: JsonObject | boolean])[];
}

/**
 * Keywords that identify or comment. References are written as pointers, and providers reject some of these keywords.
 */
export const identifying = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$vocabulary',
  '$comment',
]);

/** Keywords that may accompany `$ref` in a schema that is still only a reference. */
const besideReference = new Set([
  ...[...identifying, '$ref', 'nullable'],
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
]);

/** Returns a reference to a definition of the root. */
export function definitionPointer(keyword: string, name: string): string {
  return `#/${keyword}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}

/** Whether a schema consists only of a reference. */
export function isMereReference(node: JsonObject): boolean {
  return typeof node['$ref'] === 'string' && Object.keys(node).every((each) => besideReference.has(each));
}

/**
 * Resolves every reference by pointer or anchor; null if one leads anywhere else: to another document, into a schema
 * that is embedded under its own `$id`, or to a target that depends on validation. `keepsRoot`: whether the projected
 * root still has the meaning of the original root.
 */
export function resolveReferences(schema: JsonObject, keepsRoot: boolean): References | null {
  const { nodes, anchors, isOneDocument } = readNodes(schema);
  const { $id } = schema;
  const base = typeof $id === 'string' ? $id.replace(/#$/, '') : '';
  const targets = new Map<JsonObject, JsonObject | boolean>();
  // A pointer may lead outside the known schema positions; the loop also visits nodes that are added to the set
  // meanwhile.
  for (const node of nodes) {
    const { $ref, $dynamicRef } = node;
    if ($dynamicRef !== undefined) return null;
    if (typeof $ref !== 'string') continue;
    const local = base !== '' && $ref.startsWith(base) ? $ref.slice(base.length) : $ref;
    const target = anchors.get(local) ?? resolvePointer(schema, local === '' ? '#' : local);
    if (!isOneDocument || !(isObject(target) || typeof target === 'boolean')) return null;
    targets.set(node, target);
    if (isObject(target) && !nodes.has(target)) for (const each of readNodes(target).nodes) nodes.add(each);
  }
  for (const node of findEndless(targets)) targets.set(node, true);
  return createReferences(schema, keepsRoot, targets);
}

function readNodes(start: JsonObject) {
  const nodes = new Set<JsonObject>();
  const anchors = new Map<string, JsonObject>();
  let isOneDocument = true;
  const rest: Json[] = [start];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    if (!isObject(node) || nodes.has(node)) continue;
    nodes.add(node);
    const { $id, $anchor } = node;
    if (typeof $anchor === 'string') anchors.set(`#${$anchor}`, node);
    if (typeof $id === 'string' && $id.startsWith('#')) anchors.set($id, node);
    else if (typeof $id === 'string' && node !== start) isOneDocument = false;
    for (const [, child] of subschemas(node)) rest.push(child);
  }
  return { nodes, anchors, isOneDocument };
}

/** Returns the nodes that lead from reference to reference without end: they mean nothing, and break compilers. */
function findEndless(targets: ReadonlyMap<JsonObject, JsonObject | boolean>): readonly JsonObject[] {
  const ends = new Map<Json, boolean>();
  for (const start of targets.keys()) {
    const path: Json[] = [];
    let at: Json | undefined = start;
    while (isObject(at) && isMereReference(at) && !ends.has(at)) {
      path.push(at);
      ends.set(at, false);
      at = targets.get(at);
    }
    const isEnded = at === undefined || (ends.get(at) ?? true);
    for (const each of path) ends.set(each, isEnded);
  }
  return [...targets.keys()].filter((node) => ends.get(node) === false);
}

function createReferences(
  schema: JsonObject,
  keepsRoot: boolean,
  targets: ReadonlyMap<JsonObject, JsonObject | boolean>,
): References {
  const pointers = new Map<JsonObject | boolean, string>(keepsRoot ? [[schema, '#']] : []);
  const taken = new Set<string>();
  for (const keyword of ['$defs', 'definitions']) {
    for (const [name, each] of Object.entries(objectAt(schema, keyword))) {
      taken.add(name);
      if (isObject(each)) pointers.set(each, definitionPointer(keyword, name));
    }
  }
  let parts = 0;
  const hoisted: (readonly [string, JsonObject | boolean])[] = [];
  const resolve = (node: JsonObject) => targets.get(node) ?? true;
  return {
    resolve,
    write: (node) => {
      const target = resolve(node);
      const known = pointers.get(target);
      if (known !== undefined) return known;
      do parts += 1;
      while (taken.has(`part_${parts}`));
      hoisted.push([`part_${parts}`, target]);
      pointers.set(target, `#/$defs/part_${parts}`);
      return `#/$defs/part_${parts}`;
    },
    hoisted,
  };
}

/** Returns the object of a keyword; empty if there is none. */
export function objectAt(schema: JsonObject, keyword: string): JsonObject {
  const value = schema[keyword];
  return isObject(value) ? value : {};
}

/** Returns the list of a keyword; empty if there is none. */
export function listAt(schema: JsonObject, keyword: string): readonly Json[] {
  const value = schema[keyword];
  return isArray(value) ? value : [];
}

/** Whether a schema accepts every value. */
export function isAny(schema: Json): boolean {
  return schema === true || (isObject(schema) && Object.keys(schema).length === 0);
}
