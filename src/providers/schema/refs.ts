/** Where the references of a schema lead, and how the projection writes them. */
import { isArray, isObject } from '../../text/json.ts';
import { resolvePointer, subschemas } from '../../text/schema-keywords.ts';
import type { Json, JsonObject } from '../../types.ts';

/** The references of one schema. */
export interface References {
  /** What a reference of this node leads to. */
  resolve(node: JsonObject): JsonObject | boolean;
  /** How the projection writes that reference; a target that does not stay where it was is hoisted. */
  write(node: JsonObject): string;
  /** What `write` hoisted so far, by its name under `$defs`; the list grows. */
  readonly hoisted: readonly (readonly [name: string, target: JsonObject | boolean])[];
}

/** Keywords that identify or comment: references are written as pointers, and providers refuse some of these. */
export const identifying = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$vocabulary',
  '$comment',
]);

/** Keywords beside which a reference is still nothing but a reference. */
const besideReference = new Set([
  ...[...identifying, '$ref', 'nullable'],
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
]);

/** How a reference to a definition of the root is written. */
export function definitionPointer(keyword: string, name: string): string {
  return `#/${keyword}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}

/** Whether a schema says nothing but where it leads. */
export function isMereReference(node: JsonObject): boolean {
  return typeof node['$ref'] === 'string' && Object.keys(node).every((each) => besideReference.has(each));
}

/**
 * Resolves every reference, by pointer or anchor; null where one leads anywhere else: to another document, into one that
 * is embedded under an `$id` of its own, or where validation decides. `keepsRoot`: whether the projected root still means
 * what the root meant.
 */
export function resolveReferences(schema: JsonObject, keepsRoot: boolean): References | null {
  const { nodes, anchors, isOneDocument } = readNodes(schema);
  const { $id } = schema;
  const base = typeof $id === 'string' ? $id.replace(/#$/, '') : '';
  const targets = new Map<JsonObject, JsonObject | boolean>();
  // A pointer may lead to what is at no place of a schema: the loop reaches what is added to the set meanwhile.
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

/** The nodes that lead through nothing but references and never end: they say nothing, and break compilers. */
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

/** A keyword's object; empty where there is none. */
export function objectAt(schema: JsonObject, keyword: string): JsonObject {
  const value = schema[keyword];
  return isObject(value) ? value : {};
}

/** A keyword's list; empty where there is none. */
export function listAt(schema: JsonObject, keyword: string): readonly Json[] {
  const value = schema[keyword];
  return isArray(value) ? value : [];
}
