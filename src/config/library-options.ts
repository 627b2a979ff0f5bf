/** Converts the library's options to the inputs of a run. `schema` may be a schema object exporting a JSON Schema. */
import { isDeepStrictEqual } from 'node:util';
import type { StandardValidate } from '../contract/contract.ts';
import { InputError, messageOf } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote, suggest } from '../text/messages.ts';
import { inputName } from '../text/naming.ts';
import { cleanText, singleLine } from '../text/sanitize.ts';
import { INPUTS, type InputName, LOCAL_INPUTS, meantInputs } from './inputs.ts';

/** Returns the options that may hold secrets, under the names of the action's variables. */
export function secretOptions(options: {
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}) {
  const { apiKey, headers } = options;
  return {
    ...(apiKey === undefined ? {} : { 'INPUT_API-KEY': apiKey }),
    ...(headers === undefined ? {} : { INPUT_HEADERS: textOf('headers', headers) }),
  };
}

/** Options that are not inputs of the same name. */
const OWN: ReadonlySet<string> = new Set(['signal', 'onEvent', 'onWarning', 'environment', 'workspace']);

/** Converts the options to raw inputs, so that one parser serves all entries, and collects their problems. */
export function inputsOf(options: object): {
  readonly raw: ReadonlyMap<InputName, string>;
  readonly problems: readonly InputError[];
} {
  const raw = new Map<InputName, string>([['gate', 'off']]);
  const problems: InputError[] = [];
  for (const key of namesOf(options)) {
    const value: unknown = Reflect.get(options, key);
    if (OWN.has(key) || value === undefined) continue;
    const kebab = key.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
    const name = [...INPUTS, ...LOCAL_INPUTS].find((input) => input.name === kebab)?.name;
    if (name === undefined) {
      problems.push(unknownOption(key, kebab));
      continue;
    }
    try {
      const text = name === 'schema' ? schemaText(value) : textOf(name, value);
      if (name === 'prompt' && text.trim() === '')
        throw new InputError('prompt', 'It is empty. Write what the agent is to do.');
      raw.set(name, text);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(error);
    }
  }
  return { raw, problems };
}

function unknownOption(key: string, kebab: string): InputError {
  const names = [...INPUTS, ...LOCAL_INPUTS]
    .filter(({ where }) => where !== 'github')
    .map(({ name }) => name);
  const inputs = meantInputs(kebab, names).map((name) => inputName(name, 'library'));
  const near = inputs.length > 0 ? inputs : suggest(key, [...OWN], 1);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  return new InputError(null, `There is no option ${quote(key, DISPLAY.name)}.${hint}`);
}

/** Includes inherited options: a gate in inherited defaults must not be silently ignored. */
function namesOf(options: object): ReadonlySet<string> {
  const names = new Set<string>();
  for (
    let each: object | null = options;
    each !== null && each !== Object.prototype;
    each = Reflect.getPrototypeOf(each)
  )
    for (const name of Object.keys(each)) names.add(name);
  return names;
}

function textOf(name: InputName, value: unknown): string {
  if (name === 'shell-network') return value === true ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(String).join('\n');
  if (name === 'headers' && typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([header, text]) => `${header}: ${String(text)}`)
      .join('\n');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The options for exporting a JSON Schema; `libraryOptions` are specific to one library. */
interface ConversionOptions {
  readonly target: 'draft-07';
  readonly libraryOptions?: Record<string, unknown>;
}

type Convert = (options: ConversionOptions) => unknown;

/** Zod types that cannot be represented in JSON or that transform their input, and their replacements. */
const INSTEAD: Readonly<Record<string, string>> = {
  bigint: 'z.int(), or z.string() for large numbers',
  custom: 'a type such as z.string() with .refine()',
  date: 'z.iso.datetime() or z.iso.date()',
  file: 'z.string()',
  function: 'z.string()',
  map: 'z.record()',
  nan: 'z.number()',
  promise: 'the type that it resolves to',
  set: 'z.array()',
  symbol: 'z.string() or z.enum()',
  transform: 'the type that the model gives, and transform the result of the run',
  undefined: '.optional()',
  void: '.optional()',
};

/** @throws InputError when the schema has no JSON Schema or would change a payload */
function schemaText(schema: unknown): string {
  if (typeof schema === 'string' && schema.trim() !== '') return schema;
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) throw noSchema();
  const standard: unknown = Reflect.get(schema, '~standard');
  if (standard === undefined && !('~standard' in schema)) return jsonText(schema);
  const [input, output] = [conversion(standard, 'input'), conversion(standard, 'output')];
  if (input === null)
    throw new InputError(
      'schema',
      'The library of this schema gives no JSON Schema (~standard.jsonSchema). Use Zod 4.2 or newer, or pass a JSON Schema.',
    );
  const given = converted(input);
  if (output !== null) refuseChanges(given, output);
  return jsonText(given);
}

/** Returns the validator of a schema object; null for a plain JSON Schema. */
export function schemaValidator(schema: unknown): StandardValidate | null {
  try {
    if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return null;
    const standard: unknown = Reflect.get(schema, '~standard');
    const validate: unknown =
      typeof standard === 'object' && standard !== null ? Reflect.get(standard, 'validate') : null;
    return typeof validate === 'function' ? (value) => Reflect.apply(validate, standard, [value]) : null;
  } catch {
    // The schema is read again, and refused, once the run has started.
    return null;
  }
}

function noSchema(): InputError {
  return new InputError(
    'schema',
    'It must be a JSON Schema as an object, a schema of Zod, the path of a .json file, or the name of a preset.',
  );
}

function conversion(standard: unknown, side: 'input' | 'output'): Convert | null {
  const holder: unknown =
    typeof standard === 'object' && standard !== null ? Reflect.get(standard, 'jsonSchema') : null;
  const convert: unknown = typeof holder === 'object' && holder !== null ? Reflect.get(holder, side) : null;
  return typeof convert === 'function' ? (options) => Reflect.apply(convert, holder, [options]) : null;
}

function converted(convert: Convert): unknown {
  try {
    return convert({ target: 'draft-07' });
  } catch (cause) {
    const found = unrepresentable(convert);
    if (found !== null) throw refuseType(found.type, found.path, cause);
    throw new InputError(
      'schema',
      `There is no JSON Schema for it: ${wordsOf(cause)}. Use types that JSON can hold.`,
      {
        cause,
      },
    );
  }
}

/** @throws InputError when the validator's output differs from its input: the payload is published as sent */
function refuseChanges(input: unknown, convert: Convert): void {
  let output: unknown;
  try {
    output = convert({ target: 'draft-07' });
  } catch (cause) {
    const found = unrepresentable(convert);
    throw refuseType(found?.type ?? 'transform', found?.path ?? '', cause);
  }
  const path = differentPath(input, output, []);
  if (path === null) return;
  throw new InputError(
    'schema',
    `It gives another value than it is given ${describePlace(propertyPath(path))} (a default, a transform or a pipe). A payload is published exactly as the model sent it: use a schema that only checks, such as .optional() in place of .default().`,
  );
}

function refuseType(type: string, path: string, cause: unknown): InputError {
  const what =
    type === 'transform'
      ? `It transforms what it is given ${describePlace(path)}, and a payload is published exactly as the model sent it`
      : `It has the type ${type} ${describePlace(path)}, which JSON cannot hold`;
  const instead = INSTEAD[type] ?? 'a type that JSON can hold';
  return new InputError('schema', `${what}. Use ${instead}.`, { cause });
}

/** Finds the first Zod type without a JSON Schema and its path; null when another library does not report that. */
function unrepresentable(convert: Convert): { readonly type: string; readonly path: string } | null {
  const found: { readonly type: string; readonly path: string }[] = [];
  const override = (context: unknown): void => {
    const type = textAt(context, 'zodSchema', '_zod', 'def', 'type');
    const path: unknown =
      typeof context === 'object' && context !== null ? Reflect.get(context, 'path') : null;
    if (type !== null && Object.hasOwn(INSTEAD, type) && Array.isArray(path))
      found.unshift({ type, path: propertyPath(path.map(String)) });
  };
  try {
    convert({ target: 'draft-07', libraryOptions: { unrepresentable: 'any', override } });
  } catch {
    return null;
  }
  return found[0] ?? null;
}

function textAt(value: unknown, ...keys: readonly string[]): string | null {
  let current = value;
  for (const key of keys) {
    if (typeof current !== 'object' || current === null) return null;
    current = Reflect.get(current, key);
  }
  return typeof current === 'string' ? current : null;
}

/**
 * Returns the path at which two JSON Schemas differ. `additionalProperties: false` in the output only is not a
 * difference.
 */
function differentPath(input: unknown, output: unknown, path: readonly string[]): readonly string[] | null {
  if (typeof input !== 'object' || input === null || typeof output !== 'object' || output === null)
    return isDeepStrictEqual(input, output) ? null : path;
  if (path.length > 200) return null;
  for (const key of new Set([...Object.keys(input), ...Object.keys(output)])) {
    const [one, other]: readonly unknown[] = [Reflect.get(input, key), Reflect.get(output, key)];
    if (key === 'additionalProperties' && one === undefined && other === false) continue;
    if (key === 'required') {
      const [before, after] = [one, other].map((names) => (Array.isArray(names) ? names.map(String) : []));
      const filled = after?.find((name) => before?.includes(name) !== true);
      if (filled !== undefined) return [...path, 'properties', filled];
      continue;
    }
    const found = differentPath(one, other, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}

/** Converts a path in a JSON Schema to one in a payload: `/properties/a/items` becomes `a[]`. */
function propertyPath(path: readonly string[]): string {
  let text = '';
  for (const [at, segment] of path.entries()) {
    if (path[at - 1] === 'properties') text += text === '' ? segment : `.${segment}`;
    else if (segment === 'items') text += '[]';
  }
  return text;
}

function describePlace(path: string): string {
  return path === '' ? 'at its root' : `at ${singleLine(cleanText(path), DISPLAY.phrase)}`;
}

function wordsOf(cause: unknown): string {
  const words = messageOf(cause);
  return singleLine(cleanText(words), DISPLAY.sentence).replace(/\.$/u, '');
}

/** @throws InputError for a value that JSON cannot represent; if it were omitted, a preset would be used instead */
function jsonText(schema: unknown): string {
  try {
    const text: unknown = JSON.stringify(schema);
    if (typeof text === 'string') return text;
  } catch (cause) {
    throw new InputError('schema', `It cannot be written as JSON: ${wordsOf(cause)}`, { cause });
  }
  throw new InputError('schema', 'It cannot be written as JSON: JSON.stringify gives nothing for it.');
}
