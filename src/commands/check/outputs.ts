/** The outputs of a step: those about the run, and those that its schema declares. */
import { declarations } from '../../contract/root.ts';
import { resolveLocal } from '../../contract/schema-walk.ts';
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';

export interface Output {
  readonly name: string;
  /** The types of its values as in JSON Schema, for people. */
  readonly type: string;
  readonly kind: 'boolean' | 'number' | 'word' | 'text' | 'json';
  /** The value that lets something pass; null when no single value does. */
  readonly good: string | null;
  /** All possible values, if they can be listed; for numbers, examples. */
  readonly values: readonly string[];
  /** Whether the output is always set when there is a payload. */
  readonly isRequired: boolean;
}

const CONCLUSIONS = ['success', 'failure', 'inconclusive', 'skipped'];

/** The outputs about the run, set for every ending; a test compares them with action.yml. */
export const RUN_OUTPUTS: readonly Output[] = [
  about('run-conclusion', 'word', 'success', CONCLUSIONS),
  about('run-reason', 'word', 'accepted'),
  about('run-exit-code', 'number', '0', ['0', '1']),
  about('run-gate', 'word', 'met', ['met', 'not_met', 'none']),
  about('run-turns', 'number'),
  about('run-rejections', 'number'),
  about('run-input-tokens', 'number'),
  about('run-output-tokens', 'number'),
  about('run-cost-usd', 'number'),
  about('run-duration-seconds', 'number'),
  about('run-model', 'word'),
  about('run-sandbox', 'word'),
  about('run-changed-files', 'number'),
  about('run-coverage', 'number'),
  about('run-unseen-files', 'number'),
  about('run-patch-file', 'word'),
  about('run-result-file', 'word'),
  about('run-transcript-file', 'word'),
  about('run-comment-url', 'word'),
  about('run-reused', 'boolean', null, ['true', 'false']),
];

/** Outputs that a merge does not have: it calls no model and changes no file. */
const OF_ONE_RUN = [
  'run-sandbox',
  'run-changed-files',
  'run-coverage',
  'run-unseen-files',
  'run-patch-file',
  'run-transcript-file',
  'run-reused',
];

/** The outputs about a merge, set for every ending; a test compares them with merge/action.yml. */
export const MERGE_RUN_OUTPUTS: readonly Output[] = [
  about('run-tally', 'word'),
  ...RUN_OUTPUTS.filter(({ name }) => !OF_ONE_RUN.includes(name)),
];

/** The outputs from the payload of a merge, besides the payload itself. */
export const MERGED_OUTPUTS: readonly Output[] = [
  {
    name: 'passed',
    type: 'boolean',
    kind: 'boolean',
    good: 'true',
    values: ['true', 'false'],
    isRequired: true,
  },
];

export const PAYLOAD_OUTPUT: Output = {
  name: 'structured_output',
  type: 'object',
  kind: 'json',
  good: null,
  values: [],
  isRequired: true,
};

/** Returns the outputs that a contract provides, in the order of the schema. */
export function payloadOutputs(schema: JsonObject, names: readonly string[]): readonly Output[] {
  const declared = declarations(schema, ['allOf', 'anyOf', 'oneOf']);
  const required = requiredOf(schema);
  return names.map((name) => {
    const schemas = declared.filter((each) => each.name === name).map((each) => each.schema);
    return { name, ...shapeOf(schemas, schema), isRequired: required.includes(name) };
  });
}

function shapeOf(schemas: readonly Json[], root: JsonObject): Omit<Output, 'name' | 'isRequired'> {
  const shapes = schemas.map((schema) => typesOf(schema, root));
  // If branches differ, it is unknown which one applies.
  const types = [...new Set(shapes.flatMap((each) => each.types))];
  const values = [...new Set(shapes.flatMap((each) => each.values))];
  const type = types.length === 0 ? 'any' : types.join(' or ');
  if (types.length === 0) return { type, kind: 'json', good: null, values: [] };
  if (types.every((each) => each === 'boolean')) {
    return { type, kind: 'boolean', good: 'true', values: ['true', 'false'] };
  }
  if (types.every((each) => each === 'integer' || each === 'number')) {
    return { type, kind: 'number', good: null, values: ['0', '1'] };
  }
  if (types.every((each) => each === 'string')) {
    const isListed = shapes.every((each) => each.values.length > 0);
    return { type, kind: isListed && values.every(isHarmless) ? 'word' : 'text', good: null, values };
  }
  return { type, kind: types.includes('string') ? 'text' : 'json', good: null, values: [] };
}

/** Whether a listed value is a single word to a shell. */
function isHarmless(value: string): boolean {
  return /^[\w.,:/@+-]*$/u.test(value);
}

function typesOf(schema: Json, root: JsonObject): { types: readonly string[]; values: readonly string[] } {
  const target = isObject(schema) ? resolveLocal(root, schema) : null;
  if (target === null) return { types: [], values: [] };
  const { type, enum: listed, const: only } = target;
  const members = only !== undefined ? [only] : isArray(listed) ? listed : null;
  const values = members?.filter((each) => typeof each === 'string') ?? [];
  if (typeof type === 'string') return { types: [type], values };
  if (isArray(type)) return { types: type.filter((each) => typeof each === 'string'), values };
  if (members !== null) return { types: [...new Set(members.map(typeOf))], values };
  return { types: [], values: [] };
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return isArray(value) ? 'array' : typeof value;
}

/** Returns the names required at the root, or in each part of its `allOf`. */
function requiredOf(root: JsonObject): readonly string[] {
  const parts = [root, ...(isArray(root['allOf']) ? root['allOf'].filter(isObject) : [])];
  return parts.flatMap((part) => {
    const required = resolveLocal(root, part)?.['required'];
    return isArray(required) ? required.filter((each) => typeof each === 'string') : [];
  });
}

function about(
  name: string,
  kind: Output['kind'],
  good: string | null = null,
  values: readonly string[] = [],
): Output {
  return { name, type: kind === 'number' ? 'number' : 'string', kind, good, values, isRequired: true };
}
