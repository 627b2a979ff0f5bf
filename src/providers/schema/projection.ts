/**
 * The wire schema is a projection: a legal tool schema for a provider, at most as strict as the user's, which the
 * contract judges by. What it cannot say is said in words.
 */
import { isDeeperThan, isObject, maxDepth } from '../../text/json.ts';
import type { Json, JsonObject, ToolSpec } from '../../types.ts';
import { subschemas } from './keywords.ts';
import { noteOf, strictNoteOf } from './note.ts';
import { allLost } from './plain.ts';
import { type Refs, resolveRefs } from './refs.ts';
import { combinators, foldable, rootView, type View } from './root.ts';
import { strictCopy } from './strict.ts';
import { createWalk, objectAt } from './walk.ts';

/**
 * Whose rules a tool's schema has to follow: OpenAI's, at the vendor and at Azure; Anthropic's; those of Gemini's
 * OpenAI-compatible endpoint; and what any other server of that kind may be trusted with.
 */
export type Dialect = 'openai' | 'anthropic' | 'gemini' | 'compatible';

/** A tool's parameters as a provider accepts them, and what is missing from them, in words for the model. */
export interface Projection {
  readonly parameters: JsonObject;
  /** null where nothing is missing. */
  readonly note: string | null;
}

/** Anthropic refuses the whole request for one name at the top level that does not match. */
const anthropicName = /^[a-zA-Z0-9_.-]{1,64}$/;

/** A limit that OpenAI had for a function's description, and that hosts of its models still have. */
const maxOpenAiDescription = 1024;

/** A tool with its projected parameters; what had to go is a part of its description. */
export function describedTool(
  spec: ToolSpec,
  dialect: Dialect,
): { description: string; parameters: JsonObject } {
  const { parameters, note } = projectSchema(spec.parameters, dialect);
  if (note === null) return { description: spec.description, parameters };
  const description = `${spec.description}\n\n${note}`;
  if (dialect === 'anthropic' || description.length <= maxOpenAiDescription)
    return { description, parameters };
  const own = parameters['description'];
  const told = typeof own === 'string' ? `${own}\n\n${note}` : note;
  return { description: spec.description, parameters: { ...parameters, description: told } };
}

/**
 * The schema as the provider takes it for a tool's parameters, for every schema that the contract accepts. Whatever the
 * full schema accepts, the projection accepts. Written in draft 2020-12, of which `gemini` and `compatible` get a part.
 */
export function projectSchema(schema: JsonObject, dialect: Dialect): Projection {
  const { parameters, lost } = projected(schema, dialect);
  if (dialect === 'openai' || dialect === 'anthropic') return { parameters, note: noteOf(lost) };
  const copy = strictCopy(parameters, dialect);
  return { parameters: copy.schema, note: strictNoteOf(allLost([lost, copy.lost]), parameters) };
}

/** The parameters in draft 2020-12, and the keywords of the root that they do not say. */
interface Projected {
  readonly parameters: JsonObject;
  readonly lost: JsonObject;
}

function projected(schema: JsonObject, dialect: Dialect): Projected {
  if (isDeeperThan(schema, maxDepth)) return { parameters: { type: 'object', properties: {} }, lost: {} };
  const refs = countsItems(schema) ? null : resolveRefs(schema, keepsMeaning(schema));
  if (refs === null) return vague(schema, dialect);
  const walk = createWalk(refs);
  const view = rootView(schema, refs, walk);
  const lost = lostAtRoot(schema, refs);
  const isFolded = combinators.some((keyword) => schema[keyword] !== undefined);
  const { unevaluatedProperties, ...own } = walk.object(schema);
  // Folded branches no longer count as having looked at a property.
  const kept = unevaluatedProperties === undefined || isFolded ? own : { ...own, unevaluatedProperties };
  if (isFolded && schema['unevaluatedProperties'] !== undefined) {
    lost.set('unevaluatedProperties', schema['unevaluatedProperties']);
  }
  const parameters = nameable(rootObject(kept, view), dialect, lost);
  const defs = { ...objectAt(own, '$defs'), ...hoistedDefs(schema, refs, walk.schema) };
  return {
    parameters: Object.keys(defs).length === 0 ? parameters : { ...parameters, $defs: defs },
    lost: Object.fromEntries(lost),
  };
}

/** Whether a reference to the root means the same when it leads to the projected root. */
function keepsMeaning(schema: JsonObject): boolean {
  const changed = ['nullable', '$ref', '$dynamicRef', ...combinators];
  return schema['type'] === 'object' && !changed.some((keyword) => schema[keyword] !== undefined);
}

/** Whether `unevaluatedItems` is used anywhere: the `items` that OpenAI asks for would change what it sees. */
function countsItems(schema: JsonObject): boolean {
  const rest: Json[] = [schema];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (!isObject(next)) continue;
    if (next['unevaluatedItems'] !== undefined) return true;
    rest.push(...subschemas(next));
  }
  return false;
}

/** Names and nothing else, where the rest cannot be told apart without running the schema. */
function vague(schema: JsonObject, dialect: Dialect): Projected {
  const names = Object.keys(objectAt(schema, 'properties')).filter((name) => isNameable(name, dialect));
  const properties = Object.fromEntries(names.map((name) => [name, {}]));
  return { parameters: { type: 'object', properties }, lost: schema };
}

function rootObject(own: JsonObject, view: View | null): JsonObject {
  const dropped = new Set(['type', 'properties', 'required', '$ref', ...combinators]);
  const rest = Object.entries(own).filter(([keyword]) => !dropped.has(keyword));
  const parts = [...(view?.properties ?? [])].map(([name, part]) => [name, part.schema] as const);
  const required = [...(view?.required ?? [])];
  return {
    type: 'object',
    ...Object.fromEntries(rest.filter(([keyword]) => keyword === 'title' || keyword === 'description')),
    properties: Object.fromEntries(parts),
    ...(required.length === 0 ? {} : { required }),
    ...Object.fromEntries(rest),
  };
}

/** The combinators of the root that did not fold into its properties whole. */
function lostAtRoot(schema: JsonObject, refs: Refs): Map<string, Json> {
  const lost = combinators.flatMap((keyword): [string, Json][] => {
    const value = schema[keyword];
    if (value === undefined) return [];
    return keyword === 'allOf' && foldable({ allOf: value }, refs) ? [] : [[keyword, value]];
  });
  return new Map(lost);
}

/** Leaves out names that the provider refuses, with what would then forbid them. */
function nameable(parameters: JsonObject, dialect: Dialect, lost: Map<string, Json>): JsonObject {
  const entries = Object.entries(objectAt(parameters, 'properties'));
  const refused = entries.filter(([name]) => !isNameable(name, dialect));
  if (refused.length === 0) return parameters;
  lost.set('properties', Object.fromEntries(refused));
  const { additionalProperties, unevaluatedProperties, ...rest } = parameters;
  if (additionalProperties !== undefined) lost.set('additionalProperties', additionalProperties);
  if (unevaluatedProperties !== undefined) lost.set('unevaluatedProperties', unevaluatedProperties);
  return { ...rest, properties: Object.fromEntries(entries.filter(([name]) => isNameable(name, dialect))) };
}

function isNameable(name: string, dialect: Dialect): boolean {
  return dialect !== 'anthropic' || anthropicName.test(name);
}

/** Copies of what references lead to; copying one may name the next. */
function hoistedDefs(root: JsonObject, refs: Refs, copy: (schema: Json) => Json): JsonObject {
  const copies: [string, Json][] = [];
  for (let all = refs.hoisted(); copies.length < all.length; all = refs.hoisted()) {
    for (const [name, target] of all.slice(copies.length)) {
      const { $defs: _, definitions: __, ...rest } = target === root ? root : {};
      copies.push([name, copy(target === root ? rest : target)]);
    }
  }
  return Object.fromEntries(copies);
}
