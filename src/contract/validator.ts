/** Compiles a schema into a validator, in steps with their own errors, and runs both under a deadline. */
import { createContext, runInContext } from 'node:vm';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { ContractError, type ContractStage, messageOf } from '../errors.ts';
import { isDeeperThan, isObject, jsonPointer } from '../text/json.ts';
import { DISPLAY, JSON_TEXT } from '../text/limits.ts';
import { quote, suggest, truncate } from '../text/messages.ts';
import { subschemas } from '../text/schema-walk.ts';
import type { Issue, Json, JsonObject } from '../types.ts';
import { issuesOf, kindOf, sortErrors } from './issues.ts';
import { rootObjection } from './root.ts';

/** How long a compilation may take: large schemas are slow, and ones that never finish are refused. */
const COMPILATION_MS = 3_000;

type Purpose = 'schema' | 'gate';

/** The result of a validation. `errors` is empty when the validator did not finish. */
type ValidationResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly errors: readonly ErrorObject[] };

export interface Compiled {
  readonly schema: JsonObject;
  /** One sentence for each unknown format, which is not checked. */
  readonly warnings: readonly string[];
  /** Validates a value under a deadline. A validator that throws or runs out of time rejects the value. */
  validate(value: JsonObject): ValidationResult;
  /** Whether a subschema of `schema`, that very object, accepts a value; null if it is none or throws. No deadline. */
  acceptsPart(part: JsonObject, value: Json): boolean | null;
}

/** A schema whose parts can be evaluated separately. */
export type SchemaValidator = Pick<Compiled, 'schema' | 'acceptsPart'>;

/** Compiles a schema with an Ajv of its own. @throws ContractError with stage `shape`, `root` or `compile` */
export async function compile(candidate: Json, purpose: Purpose): Promise<Compiled> {
  const schema = admit(candidate, purpose);
  const ajv = await createAjv(schema);
  const unknown = await addFormats(ajv, schema);
  const timed = underDeadline(() => ajv.compile(schema), COMPILATION_MS);
  if (timed.kind === 'timeout')
    throw refuse('compile', purpose, 'takes too long to compile. Make it smaller.');
  if (timed.kind === 'threw') throw compileError(timed.error, ajv, schema, purpose);
  return {
    schema,
    warnings: unknown.map(
      (name) =>
        `The format ${quote(name, DISPLAY.value)} in the ${purpose} is not known, so it is not checked.`,
    ),
    validate: (value) => run(timed.value, value),
    acceptsPart: createAcceptsPart(ajv, schema),
  };
}

function refuse(stage: ContractStage, purpose: Purpose, why: string): ContractError {
  return new ContractError(purpose, stage, `It ${truncate(why, DISPLAY.line)}`);
}

/** Checks a schema before compiling. The compiler may recurse, so nothing too deep must reach it. */
function admit(candidate: Json, purpose: Purpose): JsonObject {
  if (!isObject(candidate)) {
    const other = purpose === 'gate' ? ' or the name of a boolean property' : '';
    const fix = `Write a JSON Schema such as {"type": "object", "properties": {…}}${other}.`;
    throw refuse('shape', purpose, `must be a JSON object, not ${kindOf(candidate)}. ${fix}`);
  }
  if (isDeeperThan(candidate, JSON_TEXT.depth))
    throw refuse('root', purpose, `nests deeper than ${JSON_TEXT.depth} levels. Use $defs and $ref.`);
  const root = rootObjection(candidate);
  if (root !== null) throw refuse('root', purpose, root);
  if (JSON.stringify(candidate).includes('"__proto__":'))
    throw refuse('compile', purpose, 'has a key __proto__, which would be left unchecked. Rename it.');
  for (const { node, path } of schemaNodes(candidate)) {
    const objection = nodeObjection(node, path.length === 0);
    if (objection === null) continue;
    const where = truncate(jsonPointer(path), DISPLAY.phrase) || 'the root';
    throw refuse('compile', purpose, `has at ${where} ${objection}.`);
  }
  return candidate;
}

/** A subschema with its path from the root. */
interface SchemaNode {
  readonly node: JsonObject;
  readonly path: readonly string[];
}

/** Yields every object where draft-07 or 2020-12 expects a schema, starting with the root; iterative. */
function* schemaNodes(root: JsonObject): Generator<SchemaNode> {
  const rest: SchemaNode[] = [{ node: root, path: [] }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    yield next;
    for (const [segments, node] of subschemas(next.node))
      rest.push({ node, path: [...next.path, ...segments] });
  }
}

/** Returns what Ajv would accept in a subschema although it must be refused; null for nothing. */
function nodeObjection(node: JsonObject, isRoot: boolean): string | null {
  if (Object.hasOwn(node, '$async')) return '$async, which would make every payload valid. Remove it';
  // Ajv resolves dynamic references incorrectly.
  const dynamic = Object.keys(node).find((key) => /^\$(?:dynamic|recursive)Ref$/.test(key));
  if (dynamic !== undefined && !isRoot) return `${dynamic}, which is not judged reliably. Use $ref`;
  // Ajv holds its own meta-schemas.
  if (/^https?:\/\/json-schema\.org\//.test(String(node['$ref'])))
    return 'a $ref to json-schema.org, and remote schemas are not read. Define what you need under $defs';
  return null;
}

async function createAjv({ $schema }: JsonObject): Promise<Ajv> {
  // Imported on demand, and one dialect only, because this delays the start of a run.
  const { createDraft07, createDraft2020 } = await import('./create-ajv.ts');
  const is2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(String($schema));
  return is2020 ? await createDraft2020() : createDraft07();
}

/** Adds the known formats that a schema uses and lets unknown ones pass; returns the unknown ones. */
async function addFormats(ajv: Ajv, schema: JsonObject): Promise<readonly string[]> {
  const names = new Set([...schemaNodes(schema)].map(({ node }) => node['format']));
  const used = [...names].filter((name) => typeof name === 'string');
  if (used.length === 0) return [];
  const { default: formats } = await import('ajv-formats');
  formats.default(ajv, { mode: 'full' });
  const unknown = used.filter((name) => !Object.hasOwn(ajv.formats, name));
  for (const name of unknown) ajv.addFormat(name, true);
  return unknown;
}

function run(validate: ValidateFunction, value: JsonObject): ValidationResult {
  const timed = underDeadline(() => validate(value), VALIDATION_MS);
  // Only `true` means acceptance: an asynchronous validator would return a promise.
  if (timed.kind === 'done' && timed.value === true) return { ok: true };
  const errors = timed.kind === 'done' ? sortErrors(validate.errors ?? []) : [];
  if (errors.length > 0) return { ok: false, issues: issuesOf(errors), errors };
  return { ok: false, issues: [timed.kind === 'timeout' ? tooSlow : broken], errors };
}

const tooSlow: Issue = {
  path: '',
  keyword: 'deadline',
  message:
    'checking it against the schema took longer than 1 second, so it was not accepted: one of its patterns is too slow for a string, or the object is too large. Send shorter, simpler strings and fewer items.',
};

const broken: Issue = {
  path: '',
  keyword: 'validator',
  message:
    'the validator broke off, so it was not accepted: the schema may refer to itself endlessly, or a value is too complex. Send a simpler and flatter object.',
};

function createAcceptsPart(ajv: Ajv, schema: JsonObject): Compiled['acceptsPart'] {
  const base = String(schema['$id'] ?? '').replace(/#$/, '');
  return (part, value) => {
    const path = [...schemaNodes(schema)].find(({ node }) => node === part)?.path;
    const fragment = path?.map((segment) => `/${encodeURIComponent(jsonPointer([segment]).slice(1))}`);
    try {
      const valid = fragment === undefined ? null : ajv.getSchema(`${base}#${fragment.join('')}`)?.(value);
      return typeof valid === 'boolean' ? valid : null;
    } catch {
      return null;
    }
  };
}

const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
/** The keywords of 2020-12 that draft-07 does not know. */
const OF_2020 =
  'prefixItems unevaluatedItems unevaluatedProperties dependentRequired dependentSchemas minContains maxContains'.split(
    ' ',
  );
const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

function compileError(error: unknown, ajv: Ajv, schema: JsonObject, purpose: Purpose): ContractError {
  const words = truncate(messageOf(error), DISPLAY.line / 2);
  return refuse('compile', purpose, `does not compile: ${words}. ${advise(error, ajv, schema, purpose)}`);
}

function advise(error: unknown, ajv: Ajv, schema: JsonObject, purpose: Purpose): string {
  if (error instanceof RangeError) return 'It is too deep or too large for the compiler; make it flatter.';
  if (error instanceof Error && 'missingSchema' in error) {
    return 'A $ref must lead to a definition in this same document, such as #/$defs/Name: nothing is read from elsewhere.';
  }
  const keywords = Object.keys({ ...ajv.RULES.all, ...ajv.RULES.keywords });
  for (const { node, path } of schemaNodes(schema)) {
    const type = [node['type'] ?? []].flat().find((each) => !TYPES.includes(String(each)));
    if (typeof type === 'string') return `${quote(type)} is not a type. ${didYouMean(type, TYPES)}`;
    const keyword = Object.keys(node).find((each) => !keywords.includes(each));
    if (keyword === undefined) continue;
    if (OF_2020.includes(keyword))
      return `${quote(keyword)} belongs to 2020-12: add "$schema": "${DRAFT_2020}".`;
    const value = node[keyword] ?? null;
    // A gate is easily written like the payload that it requires.
    if (purpose === 'gate' && path.length === 0 && typeof value !== 'object')
      return `If it is a property of the payload, write ${JSON.stringify({ properties: { [keyword]: { const: value } } })}.`;
    return `${didYouMean(keyword, keywords)} An unknown keyword would check nothing.`;
  }
  return `It is read as draft-07, or as 2020-12 if "$schema" is "${DRAFT_2020}".`;
}

function didYouMean(word: string, candidates: readonly string[]): string {
  const [near] = suggest(word, candidates, 1);
  return near === undefined ? 'Remove it.' : `Did you mean ${quote(near)}?`;
}

/** How long a validation may take, with what it awaits: a pattern may take exponential time. */
export const VALIDATION_MS = 1_000;

/** One for all tasks: a context takes 200 KB until V8 frees it, and a merge validates hundreds of envelopes. */
const context = createContext({ task: null });

/**
 * Runs a synchronous task for at most the given number of milliseconds. V8 interrupts it at any point, including inside
 * regular expressions. Whatever it throws, including a stack overflow, is returned as a value.
 */
export function underDeadline<T>(task: () => T, milliseconds: number) {
  context['task'] = task;
  try {
    const value: T = runInContext('task()', context, { timeout: milliseconds });
    return { kind: 'done', value } as const;
  } catch (error) {
    // The error comes from the other context, so it is not an instance of this one's Error.
    const isTimeout = Object(error).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    return isTimeout ? ({ kind: 'timeout' } as const) : ({ kind: 'threw', error } as const);
  } finally {
    context['task'] = null;
  }
}
