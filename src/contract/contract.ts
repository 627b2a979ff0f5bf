/** The contract: what a payload must look like. This is the module other folders import. */
import { type InexactNumber, isObject, jsonPointer, parseJsonWithInexact } from '../text/json.ts';
import { JSON_TEXT, LISTED } from '../text/limits.ts';
import type { ArgumentStatus, Issue, Json, JsonObject, RedactedIssue, Repair, ToolCall } from '../types.ts';
import { type Compiled, collectMentions, compile } from './compile.ts';
import { cappedIssues, pathIn, redactPath } from './issues.ts';
import { parseStrings, type Repaired, unwrap } from './repair.ts';
import { declaredProperties, outputNames } from './root.ts';
import { runValidator, type StandardValidate } from './validator.ts';

export { type Compiled, compile } from './compile.ts';
export { createGate, type Gate, type GateRequest } from './gate.ts';
export type { StandardValidate } from './validator.ts';

/** The result of checking a candidate: the payload exactly as it was validated, or the issues. */
export type Check =
  | { readonly ok: true; readonly payload: JsonObject; readonly repaired: Repair | null }
  | {
      readonly ok: false;
      /** For the model. */
      readonly issues: readonly Issue[];
      /** For everything that is stored: logs, events, transcripts, envelopes. */
      readonly redacted: readonly RedactedIssue[];
    };

export interface Contract {
  readonly schema: JsonObject;
  /** The `title` of the schema; null when it has none. */
  readonly title: string | null;
  /** The names declared at the root and in its `allOf`, `anyOf` and `oneOf` branches, in order, without duplicates. */
  readonly declaredProperties: readonly string[];
  /** The declared properties that get a step output of their own. */
  readonly outputNames: readonly string[];
  /** One sentence each: formats that are not checked, names without an output of their own. */
  readonly warnings: readonly string[];
  /** Whether a part of the schema accepts a value; see `Compiled`. */
  readonly acceptsPart: Compiled['acceptsPart'];
  /** Checks the arguments of a call. Only complete arguments that are strict JSON are accepted. */
  check(call: Pick<ToolCall, 'rawArguments' | 'status'>): Check;
  /** Also runs the schema object's own validator, if there is one: what a run accepts. Never rejects. */
  accept(call: Pick<ToolCall, 'rawArguments' | 'status'>): Promise<Check>;
}

/**
 * Creates a contract from a schema.
 * @param sourceWarnings warnings from parsing the schema's text
 * @param validate validates a payload that the schema accepts; null for none
 * @throws ContractError with stage `shape`, `root` or `compile`, whose message names the path and the fix
 */
export async function createContract(
  schema: Json,
  sourceWarnings: readonly string[] = [],
  validate: StandardValidate | null = null,
): Promise<Contract> {
  const compiled = await compile(schema, 'schema');
  const declared = declaredProperties(compiled.schema);
  const outputs = outputNames(declared);
  const given = compiled.schema['title'];
  const { propertyNames } = collectMentions(compiled.schema);
  const title = typeof given === 'string' && given !== '' ? given : null;
  return {
    schema: compiled.schema,
    title,
    declaredProperties: declared,
    outputNames: outputs.names,
    warnings: cappedWarnings([...sourceWarnings, ...compiled.warnings, ...outputs.warnings]),
    acceptsPart: compiled.acceptsPart,
    check: (call) => check(call, compiled, title, propertyNames),
    accept: (call) => accept(call, compiled, title, propertyNames, validate),
  };
}

/** Limits the warnings: a schema with hundreds of odd names would drown all other messages. */
function cappedWarnings(warnings: readonly string[]): readonly string[] {
  const more = warnings.length - LISTED.many;
  if (more <= 0) return warnings;
  return [...warnings.slice(0, LISTED.many), `${more} more warnings about the schema are not listed.`];
}

function check(
  call: Pick<ToolCall, 'rawArguments' | 'status'>,
  compiled: Compiled,
  title: string | null,
  declared: ReadonlySet<string>,
): Check {
  if (call.status !== 'complete') return rejected(incomplete[call.status]);
  const parsed = parseJsonWithInexact(
    call.rawArguments === '' ? '{}' : call.rawArguments,
    JSON_TEXT.payloadDepth,
  );
  if (!parsed.ok) return rejected(`${parsed.problem} Send the arguments as one valid JSON object.`);
  if (parsed.inexact.length > 0) return inexactRejection(parsed.inexact, declared);
  const { value } = parsed;
  if (!isObject(value)) {
    const repaired = parseStrings(value, compiled.validate);
    return repaired === null
      ? rejected(`${notAnObject(value)} Send one JSON object.`)
      : acceptRepaired(repaired, value, declared);
  }
  const validation = compiled.validate(value);
  if (validation.ok) return { ok: true, payload: value, repaired: null };
  // Without errors the validator did not finish: a repaired value would fare no better.
  if (validation.errors.length === 0) return rejection(validation.issues, value, declared);
  const repaired = unwrap(value, title, compiled.validate) ?? parseStrings(value, compiled.validate);
  return repaired === null
    ? rejection(validation.issues, value, declared)
    : acceptRepaired(repaired, value, declared);
}

/** A repair must not change a number: the value inside the string must be exactly what is published. */
function acceptRepaired(
  { payload, repaired, inexact }: Repaired,
  value: Json,
  declared: ReadonlySet<string>,
): Check {
  if (inexact.length > 0) return inexactRejection(inexact, declared);
  if (repaired.kind !== 'parsed') return { ok: true, payload, repaired };
  // These paths are logged, so they must not contain text of the model.
  const paths = repaired.paths.map((pointer) => redactPath(pathIn(value, pointer), declared));
  return { ok: true, payload, repaired: { kind: 'parsed', paths } };
}

function rejection(issues: readonly Issue[], value: Json, declared: ReadonlySet<string>): Check {
  const redacted = issues.map(({ path, keyword, missing }) => ({
    path: redactPath(pathIn(value, path), declared),
    keyword,
    ...(missing === undefined ? {} : { missing }),
  }));
  return { ok: false, issues, redacted };
}

function inexactRejection(inexact: readonly InexactNumber[], declared: ReadonlySet<string>): Check {
  const issues = inexact.map(({ path }) => ({
    path: jsonPointer(path),
    keyword: 'precision',
    message:
      'this number cannot be represented exactly (it has too many digits, or is too large or too close to zero) and would change. Send fewer digits, or a string where the schema allows one.',
  }));
  const capped = cappedIssues(issues);
  const redacted = inexact
    .slice(0, capped.length)
    .map(({ path }) => ({ path: redactPath(path, declared), keyword: 'precision' }));
  return { ok: false, issues: capped, redacted };
}

/** A repaired payload must pass both checks like any other. The issues reported are those of the payload as sent. */
async function accept(
  call: Pick<ToolCall, 'rawArguments' | 'status'>,
  compiled: Compiled,
  title: string | null,
  declared: ReadonlySet<string>,
  validate: StandardValidate | null,
): Promise<Check> {
  const first = check(call, compiled, title, declared);
  if (!first.ok || validate === null) return first;
  const issues = await runValidator(validate, first.payload);
  if (issues.length === 0) return first;
  // A wrapper object can pass a schema that allows additional properties, while only its content passes the validator.
  const inner = first.repaired === null ? unwrap(first.payload, title, compiled.validate) : null;
  if (inner === null || (await runValidator(validate, inner.payload)).length > 0)
    return rejection(issues, first.payload, declared);
  return acceptRepaired(inner, first.payload, declared);
}

const incomplete: Readonly<Record<Exclude<ArgumentStatus, 'complete'>, string>> = {
  truncated:
    'the arguments were cut off by the output limit before they were complete, so they were not read. Send the call again with a shorter payload: fewer items, shorter texts.',
  malformed:
    'the arguments did not arrive as valid JSON, so they were not read. Send one complete JSON object.',
  too_long:
    'the arguments are longer than 2 MiB, so they were not read. Send the call again with a shorter payload: fewer items, shorter texts.',
};

function notAnObject(value: Json): string {
  if (typeof value === 'string') return 'the arguments must be a JSON object, but they are a string.';
  return `the arguments must be a JSON object, but they are ${Array.isArray(value) ? 'an array' : `a bare ${value === null ? 'null' : typeof value}`}.`;
}

function rejected(message: string): Check {
  const place = { path: '', keyword: 'arguments' };
  return { ok: false, issues: [{ ...place, message }], redacted: [place] };
}
