/** What the compiler would let pass although it makes the judge lenient, or could only answer by accident. */

import { isArray, isObject, jsonPointer } from '../text/json.ts';
import { suggest } from '../text/messages.ts';
import type { Json, JsonObject } from '../types.ts';
import { schemaNodes } from './keywords.ts';

/** The formats and the property names that a schema mentions at keyword positions. */
export interface Mentions {
  readonly formats: ReadonlySet<string>;
  readonly usesUnevaluatedProperties: boolean;
  readonly propertyNames: ReadonlySet<string>;
}

const types: readonly string[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const metaSchemas = /^https?:\/\/json-schema\.org\//;

/** Why a schema must not be compiled, as a sentence with the fix; null when it may be. */
export function vettingObjection(schema: JsonObject): string | null {
  if (holdsPrototypeKey(schema)) {
    return 'has a key __proto__, which the validator would leave unchecked. Rename it.';
  }
  for (const { node, path } of schemaNodes(schema)) {
    // Not before it is needed: the pointers of all nodes of a deep schema take a minute.
    const where = () => jsonPointer(path).slice(0, 200) || 'the root';
    const objection = nodeObjection(node, where) ?? dynamicObjection(node, path.length, where);
    if (objection !== null) return objection;
  }
  return null;
}

function nodeObjection(node: JsonObject, where: () => string): string | null {
  if (Object.hasOwn(node, '$async')) {
    return `has $async at ${where()}, which would make every payload valid. Remove $async.`;
  }
  // The compiler looks keywords up in a plain object and so takes "toString" for a known one.
  const inherited = Object.keys(node).find((keyword) => keyword in Object.prototype);
  if (inherited !== undefined) {
    return `does not compile: strict mode: unknown keyword: "${inherited}" at ${where()}. Remove it.`;
  }
  const typeFault = typeObjection(node['type'], where);
  if (typeFault !== null) return typeFault;
  for (const keyword of ['$ref', '$dynamicRef', '$id']) {
    const uri = node[keyword];
    if (typeof uri === 'string' && metaSchemas.test(uri)) {
      return `has a ${keyword} to json-schema.org at ${where()}; remote schemas are not read. Define what you need under $defs.`;
    }
  }
  return null;
}

/** The compiler refuses such a type as well, in three sentences of which none has the word that is wrong. */
function typeObjection(type: Json | undefined, where: () => string): string | null {
  const wrong = (isArray(type) ? type : [type]).find(
    (each) => typeof each === 'string' && !types.includes(each),
  );
  if (typeof wrong !== 'string') return null;
  const guess = suggest(wrong, types, 1)[0];
  const fix = guess === undefined ? `The types are ${types.join(', ')}.` : `Did you mean "${guess}"?`;
  return `does not compile: the type at ${where()} is ${JSON.stringify(wrong.slice(0, 100))}. ${fix}`;
}

/** Where the validator looks a dynamic reference up in the wrong place, what it says of a payload is worth nothing. */
function dynamicObjection(node: JsonObject, depth: number, where: () => string): string | null {
  const keyword = Object.hasOwn(node, '$recursiveRef') ? '$recursiveRef' : '$dynamicRef';
  if (!Object.hasOwn(node, keyword) || (keyword === '$dynamicRef' && depth === 0)) return null;
  return `has ${keyword} at ${where()}, which is not judged reliably. Use $ref.`;
}

function holdsPrototypeKey(schema: Json): boolean {
  const rest: Json[] = [schema];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, '__proto__')) return true;
    for (const child of Object.values(next)) rest.push(child);
  }
  return false;
}

/** Collects what a schema mentions; literals and properties that happen to be named like keywords do not count. */
export function mentions(schema: JsonObject): Mentions {
  const formats = new Set<string>();
  const propertyNames = new Set<string>();
  let usesUnevaluatedProperties = false;
  for (const { node } of schemaNodes(schema)) {
    if (typeof node['format'] === 'string') formats.add(node['format']);
    if (node['unevaluatedProperties'] !== undefined) usesUnevaluatedProperties = true;
    if (isObject(node['properties'])) {
      for (const name of Object.keys(node['properties'])) propertyNames.add(name);
    }
  }
  return { formats, usesUnevaluatedProperties, propertyNames };
}
