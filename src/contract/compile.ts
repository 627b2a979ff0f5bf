/**
 * Compiles a schema into the validator of a payload: checks of the shape and the root, then a strict compile, each with
 * its own errors.
 */
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { ContractError, type ContractStage, messageOf } from '../errors.ts';
import { isArray, isDeeperThan, isObject, jsonPointer } from '../text/json.ts';
import { DISPLAY, JSON_TEXT, WAIT } from '../text/limits.ts';
import { suggest, truncate } from '../text/messages.ts';
import type { Issue, Json, JsonObject } from '../types.ts';
import { type Timed, underDeadline } from './deadline.ts';
import { issuesOf } from './issues.ts';
import { rootObjection } from './root.ts';
import { type SchemaNode, schemaNodes } from './schema-walk.ts';

/** What a schema is used for, as named in messages. */
type Purpose = 'schema' | 'gate';

/** The result of a validation. `errors` is empty when the validator did not finish. */
export type ValidationResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly errors: readonly ErrorObject[] };

export interface Compiled {
  readonly schema: JsonObject;
  /** One sentence for each unknown format, which is not checked. */
  readonly warnings: readonly string[];
  /** Validates a value under a deadline. A validator that throws or runs out of time rejects the value. */
  validate(value: JsonObject): ValidationResult;
  /**
   * Whether a subschema of `schema` (that very object) accepts a value; null when the validator does not finish in
   * time, and when `part` is not a subschema.
   */
  acceptsPart(part: Json, value: Json): boolean | null;
}

/** A schema whose parts can be evaluated separately. */
export type SchemaValidator = Pick<Compiled, 'schema' | 'acceptsPart'>;

/**
 * Compiles a schema in strict mode with an Ajv instance of its own: draft-07, or 2020-12 if `$schema` says so.
 * @param ours whether the schema is part of this program and always terminates. If so, compiling and validating have no
 * deadline: a deadline starts a thread each time, and is missed on a machine that stalls.
 * @throws ContractError with stage `shape`, `root` or `compile`
 */
export async function compile(candidate: Json, purpose: Purpose, ours = false): Promise<Compiled> {
  const schema = admissible(candidate, purpose);
  const mentioned = collectMentions(schema);
  const ajv = await createAjv(schema);
  const unknownFormats = await addFormats(ajv, [...mentioned.formats]);
  const task = () => ajv.compile(schema);
  const timed: Timed<ValidateFunction> = ours
    ? { kind: 'done', value: task() }
    : underDeadline(task, WAIT.compilation);
  if (timed.kind !== 'done') throw compileError(purpose, ajv, schema, timed);
  const validate = timed.value;
  return {
    schema,
    warnings: unknownFormats.map(
      (name) =>
        `The format ${JSON.stringify(name.slice(0, DISPLAY.value))} in the ${purpose} is not known, so it is not checked.`,
    ),
    validate: (value) => {
      const validation = run(validate, value, ours);
      if (!validation.ok || !mentioned.usesUnevaluatedProperties) return validation;
      const issue = unevaluatedPrototypeKey(value, mentioned.propertyNames);
      return issue === null ? validation : { ok: false, issues: [issue], errors: [] };
    },
    acceptsPart: createAcceptsPart(ajv, schema),
  };
}

function createAcceptsPart(ajv: Ajv, schema: JsonObject): Compiled['acceptsPart'] {
  let places: ReadonlyMap<Json, SchemaNode['path']> | null = null;
  return (part, value) => {
    if (typeof part === 'boolean') return part;
    places ??= new Map([...schemaNodes(schema)].map(({ node, path }) => [node, path]));
    const path = places.get(part);
    if (path === undefined) return null;
    const fragment = path.map((segment) => encodeURIComponent(jsonPointer([segment]).slice(1)));
    const address = typeof schema['$id'] === 'string' ? schema['$id'].replace(/#$/, '') : '';
    const timed = underDeadline(
      () => ajv.getSchema([`${address}#`, ...fragment].join('/'))?.(value),
      WAIT.validation,
    );
    return timed.kind === 'done' && typeof timed.value === 'boolean' ? timed.value : null;
  };
}

/** Checks a schema before compiling. The compiler may recurse, so nothing too deep must reach it. */
function admissible(candidate: Json, purpose: Purpose): JsonObject {
  const refuse = (stage: ContractStage, why: string): ContractError =>
    new ContractError(stage, `The ${purpose} ${truncate(why, 1_500)}`);
  if (!isObject(candidate)) {
    throw refuse(
      'shape',
      `must be a JSON object, but it is ${kindOf(candidate)}. Write a JSON Schema such as {"type": "object", "properties": {…}}.`,
    );
  }
  if (isDeeperThan(candidate, JSON_TEXT.depth)) {
    throw refuse(
      'root',
      `nests deeper than ${JSON_TEXT.depth} levels. Make it flatter, with $defs and $ref.`,
    );
  }
  const root = rootObjection(candidate);
  if (root !== null) throw refuse('root', root);
  const vetting = vettingObjection(candidate);
  if (vetting !== null) throw refuse('compile', vetting);
  return candidate;
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

async function createAjv({ $schema: dialect }: JsonObject): Promise<Ajv> {
  // Imported on demand, and one dialect only, because this delays the start of a run.
  const { createDraft07, createDraft2020 } = await import('./ajv.ts');
  const is2020 =
    typeof dialect === 'string' && /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(dialect);
  return is2020 ? await createDraft2020() : createDraft07();
}

/** Adds the known formats that a schema uses and lets unknown ones pass; returns the unknown ones. */
async function addFormats(ajv: Ajv, names: readonly string[]): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const { default: formats } = await import('ajv-formats');
  formats.default(ajv, { mode: 'full' });
  const unknown = names.filter((name) => !Object.hasOwn(ajv.formats, name));
  for (const name of unknown) ajv.addFormat(name, true);
  return unknown;
}

function run(validate: ValidateFunction, value: JsonObject, ours: boolean): ValidationResult {
  const timed: Timed<unknown> = ours
    ? { kind: 'done', value: validate(value) }
    : underDeadline(() => validate(value), WAIT.validation);
  if (timed.kind === 'timeout') return { ok: false, issues: [deadlineIssue], errors: [] };
  if (timed.kind === 'threw') return { ok: false, issues: [validatorIssue], errors: [] };
  // Only `true` means acceptance: an asynchronous validator would return a promise.
  if (timed.value === true) return { ok: true };
  const errors = validate.errors ?? [];
  return { ok: false, issues: errors.length > 0 ? issuesOf(errors) : [validatorIssue], errors };
}

const deadlineIssue: Issue = {
  path: '',
  keyword: 'deadline',
  message:
    'checking it against the schema took longer than 1 second, so it was not accepted: one of its patterns is too slow for a string, or the object is too large. Send shorter, simpler strings and fewer items.',
};

const validatorIssue: Issue = {
  path: '',
  keyword: 'validator',
  message:
    'the validator broke off, so it was not accepted: the schema may refer to itself endlessly, or a value is too complex. Send a simpler and flatter object.',
};

function compileError(
  purpose: Purpose,
  ajv: Ajv,
  schema: JsonObject,
  failure: { readonly kind: 'timeout' } | { readonly kind: 'threw'; readonly error: unknown },
): ContractError {
  if (failure.kind === 'timeout') {
    return new ContractError(
      'compile',
      `The ${purpose} takes longer than ${WAIT.compilation / 1_000} seconds to compile. Make it smaller.`,
    );
  }
  const { error } = failure;
  const words = messageOf(error);
  const message = `The ${purpose} does not compile: ${truncate(words, 1_500)}. ${advice(error, ajv, schema, purpose)}`;
  return new ContractError('compile', message, { cause: error });
}

function advice(error: unknown, ajv: Ajv, schema: JsonObject, purpose: Purpose): string {
  if (error instanceof RangeError) return 'It is too deep or too large for the compiler; make it flatter.';
  if (error instanceof Error && 'missingSchema' in error) {
    return 'A $ref must lead to a definition in this same document, such as #/$defs/Name: nothing is read from elsewhere.';
  }
  const known = Object.keys({ ...ajv.RULES.all, ...ajv.RULES.keywords });
  for (const { node, path } of schemaNodes(schema)) {
    const unknown = Object.keys(node).find((keyword) => !known.includes(keyword));
    if (unknown === undefined) continue;
    const guess = suggest(unknown, known, 1).map((name) => `Did you mean "${name}"? `);
    const value = node[unknown];
    // A gate is easily written like the payload it requires; an unknown key that holds an object is rather a misspelled
    // keyword.
    const place =
      purpose === 'gate' && path.length === 0 && typeof value !== 'object'
        ? `If it is a property of the payload, write {"properties": {${JSON.stringify(unknown.slice(0, DISPLAY.value))}: {"const": ${JSON.stringify(value).slice(0, DISPLAY.value)}}}}. `
        : '';
    if (guess.length > 0 || place !== '')
      return `${guess.join('')}${place}Unknown keywords are refused, because they would check nothing.`;
  }
  return 'Correct the schema; it is read as draft-07, or as 2020-12 where "$schema" says "https://json-schema.org/draft/2020-12/schema".';
}

/** The formats and property names that a schema mentions at keyword positions. */
interface Mentions {
  readonly formats: ReadonlySet<string>;
  readonly usesUnevaluatedProperties: boolean;
  readonly propertyNames: ReadonlySet<string>;
}

const types: readonly string[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const metaSchemas = /^https?:\/\/json-schema\.org\//;

/** Returns why a schema must not be compiled, as a sentence with the fix; null when it may be. */
export function vettingObjection(schema: JsonObject): string | null {
  if (holdsPrototypeKey(schema)) {
    return 'has a key __proto__, which the validator would leave unchecked. Rename it.';
  }
  for (const { node, path } of schemaNodes(schema)) {
    // Computed only when needed: the pointers of all nodes of a deep schema take a minute.
    const where = () => jsonPointer(path).slice(0, DISPLAY.phrase) || 'the root';
    const objection = nodeObjection(node, where) ?? dynamicObjection(node, path.length, where);
    if (objection !== null) return objection;
  }
  return null;
}

function nodeObjection(node: JsonObject, where: () => string): string | null {
  if (Object.hasOwn(node, '$async')) {
    return `has $async at ${where()}, which would make every payload valid. Remove $async.`;
  }
  // The compiler looks keywords up in a plain object and so accepts "toString" as a known one.
  const inherited = Object.keys(node).find((keyword) => keyword in Object.prototype);
  if (inherited !== undefined) {
    return `does not compile: strict mode: unknown keyword: "${inherited}" at ${where()}. Remove it.`;
  }
  const typeFault = typeObjection(node['type'], where);
  if (typeFault !== null) return typeFault;
  for (const keyword of ['$ref', '$dynamicRef', '$id']) {
    const uri = node[keyword];
    if (typeof uri === 'string' && metaSchemas.test(uri)) {
      return `has a ${keyword} to json-schema.org at ${where()}; remote schemas are not read. Define what you need under $defs.`;
    }
  }
  return null;
}

/** The compiler refuses such a type too, but with three sentences that do not contain the invalid word. */
function typeObjection(type: Json | undefined, where: () => string): string | null {
  const wrong = (isArray(type) ? type : [type]).find(
    (each) => typeof each === 'string' && !types.includes(each),
  );
  if (typeof wrong !== 'string') return null;
  const guess = suggest(wrong, types, 1)[0];
  const fix = guess === undefined ? `The types are ${types.join(', ')}.` : `Did you mean "${guess}"?`;
  return `does not compile: the type at ${where()} is ${JSON.stringify(wrong.slice(0, DISPLAY.value))}. ${fix}`;
}

/** Refuses dynamic references that the validator resolves incorrectly, which makes its results meaningless. */
function dynamicObjection(node: JsonObject, depth: number, where: () => string): string | null {
  const keyword = Object.hasOwn(node, '$recursiveRef') ? '$recursiveRef' : '$dynamicRef';
  if (!Object.hasOwn(node, keyword) || (keyword === '$dynamicRef' && depth === 0)) return null;
  return `has ${keyword} at ${where()}, which is not judged reliably. Use $ref.`;
}

function holdsPrototypeKey(schema: Json): boolean {
  const rest: Json[] = [schema];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, '__proto__')) return true;
    for (const child of Object.values(next)) rest.push(child);
  }
  return false;
}

/** Collects the formats and names that a schema mentions. Literals, and properties named like keywords, are skipped. */
export function collectMentions(schema: JsonObject): Mentions {
  const formats = new Set<string>();
  const propertyNames = new Set<string>();
  let usesUnevaluatedProperties = false;
  for (const { node } of schemaNodes(schema)) {
    if (typeof node['format'] === 'string') formats.add(node['format']);
    if (node['unevaluatedProperties'] !== undefined) usesUnevaluatedProperties = true;
    if (isObject(node['properties'])) {
      for (const name of Object.keys(node['properties'])) propertyNames.add(name);
    }
  }
  return { formats, usesUnevaluatedProperties, propertyNames };
}

interface Place {
  readonly value: Json;
  readonly path: readonly (string | number)[];
}

/**
 * Under `unevaluatedProperties`, Ajv looks names up in a plain object and so treats keys such as `constructor` or
 * `__proto__` as evaluated. Returns an issue for the first such key of a payload that no `properties` of the schema
 * declares; null when there is none. Iterative.
 */
function unevaluatedPrototypeKey(payload: Json, declared: ReadonlySet<string>): Issue | null {
  const rest: Place[] = [{ value: payload, path: [] }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { value, path } = next;
    if (isObject(value)) {
      const name = Object.keys(value).find((key) => key in Object.prototype && !declared.has(key));
      if (name !== undefined) {
        const message = `the property ${JSON.stringify(name)} is not allowed here; leave it out.`;
        return { path: jsonPointer(path), keyword: 'unevaluatedProperties', message };
      }
      for (const [key, child] of Object.entries(value)) rest.push({ value: child, path: [...path, key] });
    } else if (isArray(value)) {
      for (const [index, child] of value.entries()) rest.push({ value: child, path: [...path, index] });
    }
  }
  return null;
}
