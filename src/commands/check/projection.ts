/** Shows how each provider sees a schema: what its projection changes, and what is only described in words. */

import { PROVIDERS, type ProviderName, registry } from '../../providers/registry.ts';
import { describedTool, projectSchema } from '../../providers/schema/project.ts';
import { isArray, isObject, jsonPointer } from '../../text/json.ts';
import { structuredOutputSpec } from '../../tools/structured-output.ts';
import type { Json, JsonObject } from '../../types.ts';

/** What is sent to one provider, or to several that share a dialect. */
export interface View {
  readonly providers: readonly ProviderName[];
  readonly changes: readonly Change[];
  /** Whether a note in words is sent along with the parameters. */
  readonly hasNote: boolean;
  /** The size of the tool as JSON text, in bytes of UTF-8. */
  readonly bytes: number;
  /** An estimate of about four bytes per token: each vendor counts differently. */
  readonly tokens: number;
}

/** A keyword that the projection does not pass on unchanged. */
export interface Change {
  readonly keyword: string;
  /** `words`: removed from the parameters and described next to them. */
  readonly how: 'left_out' | 'words' | 'rewritten' | 'added';
  /** JSON Pointers into the schema; empty for its root. */
  readonly places: readonly string[];
}

/** Keywords that do not affect payloads and are moved or removed in every projection. */
const SILENT = new Set(['$schema', '$id', 'id', '$comment', '$defs', 'definitions', '$anchor']);
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas']);
const SCHEMAS = new Set(['items', 'additionalProperties', 'not', 'contains', 'if', 'then', 'else']);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);

/** Returns what a schema becomes for each provider; providers that are sent the same share a view. */
export function viewsOf(schema: JsonObject, providers: readonly ProviderName[] = PROVIDERS): readonly View[] {
  const dialects = [...new Set(providers.map((provider) => registry[provider].dialect))];
  return dialects.map((dialect) => {
    const sharing = providers.filter((provider) => registry[provider].dialect === dialect);
    const spec = structuredOutputSpec(schema);
    const { parameters, note } = projectSchema(schema, dialect);
    const bytes = Buffer.byteLength(JSON.stringify({ name: spec.name, ...describedTool(spec, dialect) }));
    const changes = changesBetween(schema, parameters, note);
    return { providers: sharing, changes, hasNote: note !== null, bytes, tokens: Math.ceil(bytes / 4) };
  });
}

/** Compares the schema with what is sent. The contract refuses deep nesting, so recursion is safe. */
function changesBetween(schema: JsonObject, sent: JsonObject, note: string | null): readonly Change[] {
  const found = new Map<string, { keyword: string; how: Change['how']; places: string[] }>();
  const add = (keyword: string, how: Change['how'], place: string) => {
    const change = found.get(`${how} ${keyword}`) ?? { keyword, how, places: [] };
    found.set(`${how} ${keyword}`, change);
    change.places.push(place);
  };
  const compare = (one: Json | undefined, other: Json | undefined, place: string): void => {
    if (!isObject(one) || !isObject(other)) return;
    for (const [keyword, value] of Object.entries(one)) {
      if (SILENT.has(keyword)) continue;
      const counterpart = other[keyword];
      const below = place + jsonPointer([keyword]);
      if (counterpart === undefined) {
        const isInNote = note?.includes(`${JSON.stringify(keyword)}:`) === true;
        add(keyword, isInNote ? 'words' : 'left_out', place);
      } else if (MAPS.has(keyword) && isObject(value) && isObject(counterpart)) {
        for (const name of Object.keys(value)) {
          compare(value[name], counterpart[name], below + jsonPointer([name]));
        }
      } else if (LISTS.has(keyword) && sameLength(value, counterpart)) {
        for (const [at, each] of value.entries()) compare(each, listAt(counterpart, at), `${below}/${at}`);
      } else if (SCHEMAS.has(keyword) && isObject(value) && isObject(counterpart)) {
        compare(value, counterpart, below);
      } else if (JSON.stringify(value) !== JSON.stringify(counterpart)) add(keyword, 'rewritten', place);
    }
    for (const keyword of Object.keys(other)) {
      if (one[keyword] === undefined && !SILENT.has(keyword)) add(keyword, 'added', place);
    }
  };
  compare(schema, sent, '');
  return [...found.values()];
}

function sameLength(value: Json, other: Json): value is readonly Json[] {
  return isArray(value) && isArray(other) && value.length === other.length;
}

function listAt(value: Json, at: number): Json | undefined {
  return isArray(value) ? value[at] : undefined;
}
