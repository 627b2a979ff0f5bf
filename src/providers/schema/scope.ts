/** What references mean in a strict dialect: they are followed, or lead to definitions of their own. */
import { isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';
import { endless } from './circles.ts';
import type { StrictDialect } from './dialects.ts';
import { anything, type Copy, type Form, isAnything, isEmpty, typesOf } from './plain.ts';
import { definitionPointer } from './refs.ts';

/** The references of one copy. */
export interface Scope {
  readonly dialect: StrictDialect;
  /** Runs `read` once for each schema, or, where references are followed, each time. */
  remembered(schema: JsonObject, read: () => Form): Form;
  /** What a reference says beside `others`. */
  referenced(reference: string, others: readonly Form[], read: (target: Json) => Form): Form;
  /** What a schema that is a mere reference leads to; any other schema as it is. */
  resolved(schema: Json): Json;
  /** The definitions that are referred to, as a part of the root, with what they lost. */
  definitions(copy: (definition: Json) => Copy): Copy;
  /** Whether following references made more of the schema than is worth sending. */
  isSpent(): boolean;
}

interface Target {
  readonly name: string;
  readonly schema: Json;
}

/**
 * A scope for one copy of these parameters. `depth` is how many references may be followed into each other, `budget`
 * how many schemas are read in all before no further reference is followed.
 */
export function createScope(
  parameters: JsonObject,
  dialect: StrictDialect,
  depth: number,
  budget: number,
): Scope {
  const targets = targetsOf(parameters);
  const forms = new Map<JsonObject, Form>();
  const following = new Set<string>();
  const wanted = createWanted();
  let left = budget;

  const follow = (reference: string, target: Target, read: (target: Json) => Form): Form => {
    if (following.has(reference) || following.size >= depth || left < 0) return cut(reference, target);
    following.add(reference);
    const form = read(target.schema);
    following.delete(reference);
    return form;
  };
  return {
    dialect,
    remembered: (schema, read) => {
      left -= 1;
      if (dialect === 'gemini') return read();
      const form = forms.get(schema) ?? read();
      forms.set(schema, form);
      return form;
    },
    referenced: (reference, others, read) => {
      const target = targets.get(reference);
      if (target === undefined) return anything;
      if (dialect === 'gemini') return follow(reference, target, read);
      const isAlone = others.every((form) => isAnything(form) || saysOnlyTypes(form));
      if (!isAlone) return follow(reference, target, read);
      const $ref = `#/$defs/${wanted.named(reference, target)}`;
      return { ...anything, alternatives: [{ types: null, fields: { $ref } }] };
    },
    resolved: (schema) => {
      const reference = isObject(schema) ? schema['$ref'] : undefined;
      return typeof reference === 'string' ? (targets.get(reference)?.schema ?? schema) : schema;
    },
    definitions: wanted.definitions,
    isSpent: () => left < 0,
  };
}

/** The definitions that are referred to. */
function createWanted(): {
  named(reference: string, target: Target): string;
  definitions: Scope['definitions'];
} {
  const wanted = new Map<string, Target>();
  const taken = new Set<string>();
  return {
    named: (reference, { name: own, schema }) => {
      const before = wanted.get(reference);
      if (before !== undefined) return before.name;
      // llama.cpp reads pointers without unescaping them.
      const plain = own.replaceAll(/[^\w.-]/g, '_') || '_';
      let name = plain;
      for (let n = 2; taken.has(name); n += 1) name = `${plain}_${n}`;
      taken.add(name);
      wanted.set(reference, { name, schema });
      return name;
    },
    definitions: (copy) => {
      const schemas: [string, Json][] = [];
      const lost: [string, Json][] = [];
      // Copying one may ask for the next, which a Map's iterator still comes to.
      for (const { name, schema } of wanted.values()) {
        const copied = copy(schema);
        schemas.push([name, copied.schema]);
        if (!isEmpty(copied.lost)) lost.push([name, copied.lost]);
      }
      return { schema: defs(withoutCircles(schemas, copy(true).schema)), lost: defs(lost) };
    },
  };
}

/** What was left of a definition may be a reference that leads, through others, back to it: no grammar survives that. */
function withoutCircles(entries: readonly [string, Json][], open: Json): readonly [string, Json][] {
  const next = new Map(
    entries.flatMap(([name, schema]): [string, string][] => {
      const reference = isObject(schema) ? schema['$ref'] : undefined;
      return typeof reference === 'string' ? [[name, reference.slice('#/$defs/'.length)]] : [];
    }),
  );
  const circles = endless(next);
  return entries.map(([name, schema]) => [name, circles.has(name) ? open : schema]);
}

function defs(entries: readonly (readonly [string, Json])[]): JsonObject {
  return entries.length === 0 ? {} : { $defs: Object.fromEntries(entries) };
}

function saysOnlyTypes({ alternatives: [first, ...others] }: Form): boolean {
  return first !== undefined && others.length === 0 && first.types !== null && isEmpty(first.fields);
}

function targetsOf(parameters: JsonObject): ReadonlyMap<string, Target> {
  const { $defs, definitions, ...root } = parameters;
  const targets = new Map<string, Target>([['#', { name: 'root', schema: root }]]);
  for (const [keyword, map] of Object.entries({ definitions, $defs })) {
    if (!isObject(map)) continue;
    for (const [name, schema] of Object.entries(map))
      targets.set(definitionPointer(keyword, name), { name, schema });
  }
  return targets;
}

/** Where a reference is not followed: its types, and in words what it is. */
function cut(reference: string, { name, schema }: Target): Form {
  const own = isObject(schema) ? schema : {};
  const what = reference === '#' ? 'the arguments themselves' : `the definition ${JSON.stringify(name)}`;
  const told = `Follows ${what}; see the note on this tool's arguments.`;
  const { description } = own;
  return {
    alternatives: [{ types: typesOf(own['type']), fields: {} }],
    annotations: { description: typeof description === 'string' ? `${description} (${told})` : told },
    lost: { $ref: reference },
  };
}
