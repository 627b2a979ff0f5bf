/** The outputs of a step: those about the run, and those that its schema declares. */
import { declarations, requiredProperties } from '../../contract/root.ts';
import { resolveLocal } from '../../contract/schema-walk.ts';
import { RUN_OUTPUTS } from '../../reporters/outputs.ts';
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';

export interface Output {
  readonly name: string;
  /** `word` for texts that the schema lists; `text` may also be JSON. */
  readonly kind: 'boolean' | 'number' | 'word' | 'text';
  /** The types as in JSON Schema, for people. */
  readonly type: string;
  /** All possible texts, the one that lets something pass first; empty if they cannot be listed. */
  readonly values: readonly string[];
  /** The text that lets something pass; null if the schema does not tell. */
  readonly good: string | null;
}

export const PAYLOAD: Output = {
  name: 'structured_output',
  kind: 'text',
  type: 'object',
  values: [],
  good: null,
};

/** The output about the run on which decisions depend. It is set on every ending. */
export const CONCLUSION: Output = {
  name: 'run-conclusion',
  kind: 'word',
  type: 'string',
  values: ['success', 'failure', 'inconclusive', 'skipped'],
  good: 'success',
};

export const RUN_NAMES: readonly string[] = RUN_OUTPUTS.map(({ name }) => name);

/** The output of a merge, besides the payload and those about the run. */
export const MERGED: readonly Output[] = [
  { name: 'passed', kind: 'boolean', type: 'boolean', values: ['true', 'false'], good: 'true' },
];

/** Returns the outputs that a schema declares, in its order. */
export function payloadOutputs(schema: JsonObject, names: readonly string[]): readonly Output[] {
  const declared = declarations(schema, ['allOf', 'anyOf', 'oneOf']);
  return names.map((name) => {
    const shapes = declared.filter((each) => each.name === name).map((each) => shapeOf(each.schema, schema));
    const types = [...new Set(shapes.flatMap((each) => each.types))];
    const values = [...new Set(shapes.flatMap((each) => each.values))];
    const are = (...wanted: readonly string[]) =>
      types.length > 0 && types.every((each) => wanted.includes(each));
    const isListed = are('string') && shapes.every((each) => each.values.length > 0);
    // A listed text with blanks or signs in it would still be a danger in a script.
    const isWord = isListed && values.every((value) => /^[\w.,:/@+-]+$/u.test(value));
    const type = types.length === 0 ? 'any' : types.join(' or ');
    if (are('boolean')) return { name, kind: 'boolean', type, values: ['true', 'false'], good: 'true' };
    if (are('integer', 'number')) return { name, kind: 'number', type, values: [], good: null };
    const good = values.find((value) => PASSING.test(value)) ?? null;
    const sorted = isListed
      ? values.toSorted((one, other) => Number(other === good) - Number(one === good))
      : [];
    return { name, kind: isWord ? 'word' : 'text', type, values: sorted, good: isListed ? good : null };
  });
}

/** Names and texts that mean that something passes. */
const PASSING =
  /^(?:is_?)?(?:pass(?:ed|es)?|ok|okay|approved?|accept(?:ed)?|success|safe(?:_to_merge)?|ready|green)$/iu;

/** Returns a gate to paste for a schema: the name of a required boolean, or a schema for a listed text; null for none. */
export function suggestGate(schema: JsonObject, outputs: readonly Output[]): string | null {
  const required = requiredProperties(schema);
  const booleans = outputs.filter(({ name, kind }) => kind === 'boolean' && required.includes(name));
  const boolean = booleans.find(({ name }) => PASSING.test(name)) ?? booleans[0];
  const listed = outputs.find(
    ({ values, good, kind }) => kind !== 'boolean' && values.length > 0 && good !== null,
  );
  if (boolean !== undefined && (PASSING.test(boolean.name) || listed === undefined)) return boolean.name;
  if (listed === undefined) return null;
  return `'${JSON.stringify({ properties: { [listed.name]: { const: listed.good } } })}'`;
}

function shapeOf(schema: Json, root: JsonObject): { types: readonly string[]; values: readonly string[] } {
  const target = isObject(schema) ? resolveLocal(root, schema) : null;
  if (target === null) return { types: [], values: [] };
  const { type, enum: listed, const: only } = target;
  const members = only !== undefined ? [only] : isArray(listed) ? listed : [];
  const values = members.filter((each) => typeof each === 'string');
  const given = isArray(type) ? type : type === undefined ? members.map(typeOf) : [type];
  return { types: given.filter((each) => typeof each === 'string'), values };
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return isArray(value) ? 'array' : typeof value;
}
