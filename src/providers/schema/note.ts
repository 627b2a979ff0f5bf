/** What a projection cannot say, in words for the model. */
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';
import { definitionPointer } from './refs.ts';
import { isEmpty } from './strict.ts';

/** Characters of JSON in a note; what is cut comes back to the model as an issue. */
const maxNote = 8000;

/** A note that `lost` holds beside the parameters; null where nothing is lost. */
export function noteOf(lost: JsonObject): string | null {
  if (isEmpty(lost)) return null;
  return `The arguments must also satisfy this JSON Schema, which the parameters cannot express: ${shown(lost)}`;
}

/**
 * A note that `lost` was left out of the parameters; null where nothing is lost. What it refers to is looked up in
 * `definitions`, a schema's root, and told too.
 */
export function strictNoteOf(lost: JsonObject, definitions: JsonObject): string | null {
  if (isEmpty(lost)) return null;
  const told = withDefinitions(lost, definitions);
  return `These parameters are simplified. The arguments must also satisfy the following, to be read as a JSON Schema laid over the parameters, keyword by keyword: ${shown(told)}`;
}

function shown(lost: JsonObject): string {
  const json = JSON.stringify(lost);
  // Half of a surrogate pair could not be sent.
  return json.length > maxNote ? `${json.slice(0, maxNote).replace(/[\ud800-\udbff]$/, '')}… (cut)` : json;
}

/** Adds the definitions that are referred to, those that they refer to included, until the note is full. */
function withDefinitions(lost: JsonObject, root: JsonObject): JsonObject {
  const wanted = new Map<string, { keyword: string; name: string; schema: Json }>();
  for (const keyword of ['definitions', '$defs']) {
    const map = root[keyword];
    if (!isObject(map)) continue;
    for (const [name, schema] of Object.entries(map)) {
      wanted.set(definitionPointer(keyword, name), { keyword, name, schema });
    }
  }
  if (wanted.size === 0) return lost;
  const added = new Map<string, [string, Json][]>();
  let size = 0;
  const rest: Json[] = [lost];
  for (let next = rest.shift(); next !== undefined && size < maxNote; next = rest.shift()) {
    for (const reference of referencesIn(next)) {
      const found = wanted.get(reference);
      if (found === undefined) continue;
      wanted.delete(reference);
      added.set(found.keyword, [...(added.get(found.keyword) ?? []), [found.name, found.schema]]);
      size += JSON.stringify(found.schema).length;
      rest.push(found.schema);
    }
  }
  const told = [...added].map(([keyword, entries]): [string, Json] => {
    const own = lost[keyword];
    return [keyword, { ...Object.fromEntries(entries), ...(isObject(own) ? own : {}) }];
  });
  return { ...lost, ...Object.fromEntries(told) };
}

function referencesIn(schema: Json): readonly string[] {
  const found: string[] = [];
  const rest: Json[] = [schema];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (isArray(next)) for (const each of next) rest.push(each);
    if (!isObject(next)) continue;
    if (typeof next['$ref'] === 'string') found.push(next['$ref']);
    for (const each of Object.values(next)) rest.push(each);
  }
  return found;
}
