/** The outputs of a step: what it tells about the run, and what its schema declares. */
import { declarations } from '../../contract/root.ts';
import { resolveLocal } from '../../contract/schema-walk.ts';
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';

/** One output. */
export interface Output {
  readonly name: string;
  /** The types of its values in words of JSON Schema, for people. */
  readonly type: string;
  readonly kind: 'boolean' | 'number' | 'word' | 'text' | 'json';
  /** The value that speaks for letting something pass; null where none does by itself. */
  readonly good: string | null;
  /** All the values it can have, where they can be listed; of numbers, examples. */
  readonly values: readonly string[];
  /** Whether later steps can rely on it wherever there is a payload. */
  readonly isRequired: boolean;
}

const CONCLUSIONS = ['success', 'failure', 'inconclusive', 'skipped'];

/** What each ending tells about the run; a test holds it against action.yml. */
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
  about('run-patch-file', 'word'),
  about('run-result-file', 'word'),
  about('run-transcript-file', 'word'),
  about('run-comment-url', 'word'),
  about('run-reused', 'boolean', null, ['true', 'false']),
];

/** What a merge has none of: it asks no model and touches no file. */
const OF_ONE_RUN = [
  'run-sandbox',
  'run-changed-files',
  'run-patch-file',
  'run-transcript-file',
  'run-reused',
];

/** What each ending of a merge tells about it; a test holds it against merge/action.yml. */
export const MERGE_RUN_OUTPUTS: readonly Output[] = [
  about('run-tally', 'word'),
  ...RUN_OUTPUTS.filter(({ name }) => !OF_ONE_RUN.includes(name)),
];

/** What the payload of a merge gives, beside the whole of it. */
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

/** The whole payload. */
export const PAYLOAD_OUTPUT: Output = {
  name: 'structured_output',
  type: 'object',
  kind: 'json',
  good: null,
  values: [],
  isRequired: true,
};

/** The outputs that a contract gives: its own, in the order of the schema. */
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
  // Where branches differ, nobody can say which holds.
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

/** Listed words that a shell reads as one word. */
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

/** What is required at the root, or in each part of its `allOf`. */
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
