/** Converts the library's options to the inputs of a run. `schema` may be a schema object exporting a JSON Schema. */
import { isDeepStrictEqual } from 'node:util';
import type { StandardValidate } from '../contract/contract.ts';
import { InputError, messageOf } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';
import { inputName, joinWithOr, quote } from '../text/messages.ts';
import { singleLine } from '../text/sanitize.ts';
import { type InputName, LOCAL_INPUTS, meantInputs } from './inputs.ts';

/** Options that are not inputs of the same name. */
const OWN = ['signal', 'onEvent', 'onWarning', 'environment', 'workspace'];

/** Converts the options to raw inputs, so that one parser serves all entries, and collects their problems. */
export function inputsOf(options: object) {
  const raw = new Map<InputName, string>([['gate', 'off']]);
  const problems: InputError[] = [];
  const given = Object.entries(options).filter(([key, value]) => value !== undefined && !OWN.includes(key));
  for (const [key, value] of given) {
    const name = LOCAL_INPUTS.find((input) => inputName(input.name, 'library') === key)?.name;
    try {
      if (name === undefined) throw unknownOption(key);
      raw.set(name, name === 'schema' ? schemaText(value) : textOf(name, value));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(error);
    }
  }
  return { raw, problems };
}

function unknownOption(key: string): InputError {
  const kebab = key.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
  const known = [...LOCAL_INPUTS.map(({ name }) => name), ...OWN];
  const near = meantInputs(kebab, known).map((name) => inputName(name, 'library'));
  const hint = near.length === 0 ? '' : ` Did you mean ${joinWithOr(near)}?`;
  return new InputError(null, `There is no option ${quote(key, DISPLAY.name)}.${hint}`);
}

/** @throws InputError for a blank text, which may stand for a variable that is not set */
function textOf(name: InputName, value: unknown): string {
  if (typeof value === 'string' && value.trim() === '')
    throw new InputError(name, 'It is empty. Give a value, or leave it out.');
  if (name === 'shell-network' && typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(String).join('\n');
  if (typeof value !== 'object' || value === null) return String(value).trim();
  if (name !== 'headers') return jsonText(name, value);
  const lines = Object.entries(value).map(([header, text]) => `${header}: ${String(text)}`);
  return lines.join('\n');
}

/** The part of the Standard JSON Schema interface that is used. */
interface Standard {
  readonly validate?: StandardValidate;
  readonly jsonSchema?: Partial<Record<'input' | 'output', (options: { target: 'draft-07' }) => unknown>>;
}

function standardOf(schema: unknown): Standard | null {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return null;
  return '~standard' in schema ? Object(schema['~standard']) : null;
}

/** Returns the validator of a schema object; null for a plain JSON Schema. */
export function schemaValidator(schema: unknown): StandardValidate | null {
  const standard = standardOf(schema);
  return typeof standard?.validate === 'function' ? (value) => standard.validate?.(value) : null;
}

/** @throws InputError when the schema has no JSON Schema or would change a payload */
function schemaText(schema: unknown): string {
  const standard = standardOf(schema);
  if (standard !== null) return jsonText('schema', convert(standard));
  if (typeof schema === 'string' && schema.trim() !== '') return schema;
  if (typeof schema === 'object' && schema !== null) return jsonText('schema', schema);
  throw new InputError('schema', 'It must be a JSON Schema, a schema of Zod, a path or a preset.');
}

/** @throws InputError with the library's own words */
function convert({ jsonSchema }: Standard): unknown {
  if (typeof jsonSchema?.input !== 'function')
    throw new InputError('schema', 'Its library gives no JSON Schema. Use Zod 4.2 or newer.');
  const only =
    'A payload is published exactly as the model sent it: use a schema that only checks, of types that JSON can hold';
  try {
    const input = jsonSchema.input({ target: 'draft-07' });
    const output = jsonSchema.output?.({ target: 'draft-07' }) ?? input;
    if (isDeepStrictEqual(withoutClosing(input), withoutClosing(output))) return input;
  } catch (cause) {
    throw new InputError('schema', `${only}. ${singleLine(messageOf(cause), DISPLAY.sentence)}`, { cause });
  }
  throw new InputError('schema', `${only}. It gives another value than it takes: a default or a transform.`);
}

/** Returns a JSON Schema without `additionalProperties: false`, which Zod writes for its output only. */
function withoutClosing(schema: unknown): unknown {
  const isClosing = (key: string, value: unknown) => key === 'additionalProperties' && value === false;
  return JSON.parse(JSON.stringify(schema, (key, value) => (isClosing(key, value) ? undefined : value)));
}

/** @throws InputError for a value that JSON cannot represent */
function jsonText(name: InputName, value: unknown): string {
  try {
    return String(JSON.stringify(value));
  } catch (cause) {
    const why = singleLine(messageOf(cause), DISPLAY.sentence);
    throw new InputError(name, `It cannot be written as JSON: ${why}`, { cause });
  }
}
