/** Where the references of a schema lead, and how the projection spells them. */
import { isArray, isObject } from '../../text/json.ts';
import { type Shape, shapeOf } from '../../text/schema-keywords.ts';
import type { Json, JsonObject } from '../../types.ts';

/** The references of one schema. */
export interface Refs {
  /** What a reference of this node leads to. */
  target(node: JsonObject): JsonObject | boolean;
  /** How the projection spells that reference; a target that does not stay where it was is hoisted. */
  spelled(node: JsonObject): string;
  /** What `spelled` hoisted so far, by its name under `$defs`; the list grows. */
  hoisted(): readonly (readonly [name: string, target: JsonObject | boolean])[];
}

/** How a reference to a definition of the root is spelled. */
export function definitionPointer(keyword: string, name: string): string {
  return `#/${keyword}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}

/** A base for schemas without an `$id`; never leaves this file. */
const nowhere = 'https://schema.invalid/';

interface Index {
  readonly baseOf: Map<JsonObject, string>;
  /** By URL without a fragment, and by URL with an anchor. */
  readonly byUrl: Map<string, JsonObject>;
  readonly dynamicAnchors: Map<string, number>;
}

/**
 * Resolves every reference, by pointer, anchor and `$id`; null where one leads nowhere that is known before run time.
 * `keepsRoot`: whether the projected root still means what the root meant.
 */
export function resolveRefs(schema: JsonObject, keepsRoot: boolean): Refs | null {
  const index: Index = { baseOf: new Map(), byUrl: new Map(), dynamicAnchors: new Map() };
  indexNodes(index, schema, nowhere);
  const targets = new Map<JsonObject, JsonObject | boolean>();
  // A pointer may lead to a place that is no schema position: what it finds is indexed as the map is walked.
  for (const [node, base] of index.baseOf) {
    const reference = referenceOf(node, index);
    if (reference === null) continue;
    const target = reference === undefined ? undefined : resolve(index, base, reference);
    if (target === undefined) return null;
    targets.set(node, target);
    if (isObject(target) && !index.baseOf.has(target)) indexNodes(index, target, base);
  }
  for (const node of findEndless(mereReferences(targets))) targets.set(node, true);
  return createRefs(schema, keepsRoot, targets);
}

/** Where those lead of which nothing but a reference is copied; in a circle they say nothing, and break compilers. */
function mereReferences(
  targets: ReadonlyMap<JsonObject, JsonObject | boolean>,
): ReadonlyMap<JsonObject, JsonObject> {
  const dropped = new Set(['$ref', '$dynamicRef', 'nullable', ...identifying]);
  return new Map(
    [...targets].flatMap(([node, target]): [JsonObject, JsonObject][] =>
      isObject(target) && Object.keys(node).every((keyword) => dropped.has(keyword)) ? [[node, target]] : [],
    ),
  );
}

function createRefs(
  schema: JsonObject,
  keepsRoot: boolean,
  targets: ReadonlyMap<JsonObject, JsonObject | boolean>,
): Refs {
  const names = new Map<JsonObject | boolean, string>(keepsRoot ? [[schema, '#']] : []);
  const taken = new Set<string>();
  for (const keyword of ['$defs', 'definitions']) {
    const definitions = schema[keyword];
    if (!isObject(definitions)) continue;
    for (const [name, each] of Object.entries(definitions)) {
      taken.add(name);
      if (isObject(each)) names.set(each, definitionPointer(keyword, name));
    }
  }
  let parts = 0;
  const hoisted: (readonly [string, JsonObject | boolean])[] = [];
  const target = (node: JsonObject) => targets.get(node) ?? true;
  return {
    target,
    spelled: (node) => {
      const known = names.get(target(node));
      if (known !== undefined) return known;
      do parts += 1;
      while (taken.has(`part_${parts}`));
      hoisted.push([`part_${parts}`, target(node)]);
      names.set(target(node), `#/$defs/part_${parts}`);
      return `#/$defs/part_${parts}`;
    },
    hoisted: () => hoisted,
  };
}

/** A node's reference; null without one, undefined where it depends on how validation got there. */
function referenceOf(node: JsonObject, index: Index): string | null | undefined {
  const { $ref, $dynamicRef } = node;
  if (typeof $dynamicRef !== 'string') return typeof $ref === 'string' ? $ref : null;
  const anchor = $dynamicRef.slice($dynamicRef.indexOf('#') + 1);
  return $ref === undefined && (index.dynamicAnchors.get(anchor) ?? 0) < 2 ? $dynamicRef : undefined;
}

function indexNodes(index: Index, start: JsonObject, startBase: string): void {
  const rest: { node: JsonObject; base: string }[] = [{ node: start, base: startBase }];
  if (startBase === nowhere) index.byUrl.set(nowhere, start);
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { node } = next;
    if (index.baseOf.has(node)) continue;
    const base = identified(index, node, next.base);
    index.baseOf.set(node, base);
    for (const child of subschemas(node)) if (isObject(child)) rest.push({ node: child, base });
  }
}

/** The base for what is inside of a node, after its own identifiers were noted. */
function identified(index: Index, node: JsonObject, outer: string): string {
  const { $id, $anchor, $dynamicAnchor } = node;
  let base = outer;
  if (typeof $id === 'string') {
    const url = parsedUrl($id, outer);
    if (url !== null) {
      if (url.hash.length > 1) index.byUrl.set(url.href, node);
      else {
        url.hash = '';
        base = url.href;
        index.byUrl.set(base, node);
      }
    }
  }
  for (const anchor of [$anchor, $dynamicAnchor]) {
    if (typeof anchor === 'string') index.byUrl.set(`${base}#${anchor}`, node);
  }
  if (typeof $dynamicAnchor === 'string') {
    index.dynamicAnchors.set($dynamicAnchor, (index.dynamicAnchors.get($dynamicAnchor) ?? 0) + 1);
  }
  return base;
}

function resolve(index: Index, base: string, reference: string): JsonObject | boolean | undefined {
  const url = parsedUrl(reference, base);
  if (url === null) return undefined;
  const fragment = url.hash.slice(1);
  if (fragment !== '' && !fragment.startsWith('/')) return index.byUrl.get(url.href);
  url.hash = '';
  let found: Json | undefined = index.byUrl.get(url.href);
  for (const token of fragment.split('/').slice(1)) {
    const key = decoded(token);
    if (found !== undefined && isArray(found)) found = found[Number(key)];
    else found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isObject(found) || typeof found === 'boolean' ? found : undefined;
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return token;
  }
}

function parsedUrl(text: string, base: string): URL | null {
  return URL.canParse(text, base) ? new URL(text, base) : null;
}

/** The references that lead through nothing but references and never end. `next` holds where each leads. */
export function findEndless<T>(next: ReadonlyMap<T, T>): ReadonlySet<T> {
  const ends = new Map<T, boolean>();
  for (const start of next.keys()) {
    const path: T[] = [];
    let at: T | undefined = start;
    for (; at !== undefined && next.has(at) && !ends.has(at); at = next.get(at)) {
      path.push(at);
      ends.set(at, false);
    }
    const isEnded = at !== undefined && (ends.get(at) ?? true);
    for (const each of path) ends.set(each, isEnded);
  }
  return new Set([...ends].filter(([, isEnded]) => !isEnded).map(([each]) => each));
}

/** Keywords that identify or comment: references are spelled as pointers, and providers refuse some of these. */
export const identifying = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$vocabulary',
  '$comment',
]);

/** The schemas directly inside a schema; a draft-07 dependency that is a list of names is none. */
export function subschemas(node: JsonObject): readonly Json[] {
  return Object.entries(node).flatMap(([keyword, value]) => inside(shapeOf(keyword, value), value));
}

function inside(shape: Shape, value: Json): readonly Json[] {
  if (shape === 'schema') return [value];
  if (shape === 'list') return isArray(value) ? value : [];
  return shape === 'map' && isObject(value) ? Object.values(value).filter((each) => !isArray(each)) : [];
}
