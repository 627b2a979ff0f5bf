/** What the library is told → the inputs of a run. */
import { INPUTS, type InputName, meantInputs } from './config/inputs.ts';
import { InputError } from './errors.ts';

/** An object that tells its JSON Schema by the Standard JSON Schema interface. */
interface Typed {
  readonly '~standard': {
    readonly jsonSchema: { input(options: { readonly target: 'draft-07' }): Record<string, unknown> };
  };
}

/** The options that may hold secrets, by the names of the action's variables. */
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
const OWN = new Set(['signal', 'onEvent', 'onWarning', 'environment', 'workspace']);

/** The options of a library's run as if they had been typed: one parser judges them all. @throws InputError */
export function inputsOf(options: object): ReadonlyMap<InputName, string> {
  const raw = new Map<InputName, string>([['gate', 'none']]);
  for (const key of namesOf(options)) {
    const value: unknown = Reflect.get(options, key);
    if (OWN.has(key) || value === undefined) continue;
    const kebab = key.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
    const name = INPUTS.find((input) => input.name === kebab)?.name;
    if (name === undefined) throw unknownOption(key, kebab);
    raw.set(name, name === 'schema' ? schemaText(value) : textOf(name, value));
  }
  return raw;
}

function unknownOption(key: string, kebab: string): InputError {
  const names = INPUTS.filter(({ where }) => where === 'everywhere').map(({ name }) => name);
  const near = meantInputs(kebab, names).map((name) =>
    name.replace(/-[a-z]/gu, (letter) => letter.slice(1).toUpperCase()),
  );
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  return new InputError(null, `There is no option ${JSON.stringify(key)}.${hint}`);
}

/** Inherited ones count: defaults that a gate is a part of must not be lost in silence. */
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

function schemaText(schema: unknown): string {
  if (typeof schema === 'string' && schema.trim() !== '') return schema;
  if (typeof schema !== 'object' || schema === null)
    throw new InputError(
      'schema',
      'schema must be a JSON Schema as an object, a schema of Zod, the path of a .json file, or the name of a preset.',
    );
  if (!('~standard' in schema)) return jsonText(schema);
  if (!isTyped(schema))
    throw new InputError(
      'schema',
      'schema is of a library that does not tell its JSON Schema. Zod does from 4.2 on; else convert it yourself.',
    );
  return jsonText(schema['~standard'].jsonSchema.input({ target: 'draft-07' }));
}

/** @throws InputError for what has no JSON: left out, a preset would stand in for it. */
function jsonText(schema: unknown): string {
  try {
    const text: unknown = JSON.stringify(schema);
    if (typeof text === 'string') return text;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new InputError('schema', `schema cannot be written as JSON: ${why}`, { cause });
  }
  throw new InputError('schema', 'schema cannot be written as JSON: nothing comes of it.');
}

function isTyped(schema: object): schema is Typed {
  const standard: unknown = Reflect.get(schema, '~standard');
  if (typeof standard !== 'object' || standard === null) return false;
  const told: unknown = Reflect.get(standard, 'jsonSchema');
  return typeof told === 'object' && told !== null && typeof Reflect.get(told, 'input') === 'function';
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
