/** Describes for the model what a projection cannot express. */
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';
import { definitionPointer, objectAt } from './refs.ts';

/** Keywords that were left out of a schema, with the position of that schema as a JSON Pointer. */
export interface Loss {
  readonly pointer: string;
  readonly keywords: JsonObject;
}

/**
 * Maximum length of the JSON in a note, in characters; violations of what is cut are reported to the model as issues.
 */
const maxNote = 8000;

/**
 * Returns a note with one line of JSON for each loss, and for each definition that one of them refers to and that is no
 * longer in the parameters; null if nothing is lost.
 */
export function writeNote(losses: readonly Loss[], dropped: JsonObject): string | null {
  if (losses.length === 0) return null;
  const lines = [...losses, ...findDefinitions(losses, dropped)].map(
    ({ pointer, keywords }) => `${pointer} ${JSON.stringify(keywords)}`,
  );
  const text = lines.join('\n');
  // Half of a surrogate pair could not be sent.
  const shown =
    text.length > maxNote ? `${text.slice(0, maxNote).replace(/[\ud800-\udbff]$/, '')}… (cut)` : text;
  return `These parameters are simplified: the arguments must also satisfy the following keywords of JSON Schema, each line for the place in the parameters that it begins with.\n${shown}`;
}

/** Returns the definitions that the losses refer to, directly or indirectly, until the note is full. */
function findDefinitions(losses: readonly Loss[], root: JsonObject): readonly Loss[] {
  const unused = new Map<string, Json>();
  for (const keyword of ['definitions', '$defs'])
    for (const [name, schema] of Object.entries(objectAt(root, keyword)))
      unused.set(definitionPointer(keyword, name), schema);
  const found: Loss[] = [];
  let size = 0;
  const rest: Json[] = losses.map(({ keywords }) => keywords);
  // Breadth first: definitions named by a loss are more useful than those named by other definitions.
  for (let at = 0; at < rest.length && unused.size > 0 && size < maxNote; at += 1) {
    const next = rest[at];
    for (const each of isArray(next) || isObject(next) ? Object.values(next) : []) rest.push(each);
    if (!isObject(next)) continue;
    const { $ref: pointer } = next;
    if (typeof pointer !== 'string') continue;
    const schema = unused.get(pointer);
    if (!isObject(schema)) continue;
    unused.delete(pointer);
    found.push({ pointer, keywords: schema });
    size += JSON.stringify(schema).length;
    rest.push(schema);
  }
  return found;
}
