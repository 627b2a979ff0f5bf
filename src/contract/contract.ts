/** The contract: what a payload must look like. This is the module other folders import. */
import { type InexactNumber, isObject, jsonPointer, parseJsonWithInexact } from '../text/json.ts';
import { JSON_TEXT, LISTED } from '../text/limits.ts';
import type { ArgumentStatus, Issue, Json, JsonObject, RedactedIssue, Repair, ToolCall } from '../types.ts';
import { type Compiled, compile } from './compile.ts';
import { cappedIssues, kindOf, redact } from './issues.ts';
import { parseStrings, unwrap } from './repair.ts';
import { declaredProperties, outputNames } from './root.ts';
import { runValidator, type StandardValidate } from './standard-schema.ts';

export { type Compiled, compile } from './compile.ts';
export { createGate, type Gate, type GateRequest } from './gate.ts';
export type { StandardValidate } from './standard-schema.ts';

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
  /** The declared properties that get a step output of their own. */
  readonly outputNames: readonly string[];
  /** One sentence each: formats that are not checked, names without an output of their own. */
  readonly warnings: readonly string[];
  /** Whether a part of the schema accepts a value; see `Compiled`. */
  readonly acceptsPart: Compiled['acceptsPart'];
  /** Checks the arguments of a call. Only complete arguments that are strict JSON are accepted. */
  check(call: Arguments): Check;
  /** Also runs the schema object's own validator, if there is one: what a run accepts. Never rejects. */
  accept(call: Arguments): Promise<Check>;
}

type Arguments = Pick<ToolCall, 'rawArguments' | 'status'>;

/**
 * Creates a contract from a schema.
 * @param validate validates a payload that the schema accepts; null for none
 * @throws ContractError with stage `shape`, `root` or `compile`, whose message names the path and the fix
 */
export async function createContract(
  schema: Json,
  validate: StandardValidate | null = null,
): Promise<Contract> {
  const compiled = await compile(schema, 'schema');
  const outputs = outputNames(declaredProperties(compiled.schema));
  return {
    schema: compiled.schema,
    outputNames: outputs.names,
    // A schema with hundreds of odd names would drown all other messages.
    warnings: [...compiled.warnings, ...outputs.warnings].slice(0, LISTED.many),
    acceptsPart: compiled.acceptsPart,
    check: (call) => check(call, compiled),
    accept: async (call) => {
      const checked = check(call, compiled);
      if (!checked.ok || validate === null) return checked;
      const issues = await runValidator(validate, checked.payload);
      return issues.length === 0 ? checked : reject(issues);
    },
  };
}

function check({ rawArguments, status }: Arguments, compiled: Compiled): Check {
  if (status !== 'complete') return rejectArguments(incomplete[status]);
  const parsed = parseJsonWithInexact(rawArguments || '{}', JSON_TEXT.payloadDepth);
  if (!parsed.ok)
    return rejectArguments(`The text ${parsed.fault}. Send the arguments as one valid JSON object.`);
  if (parsed.inexact.length > 0) return rejectNumbers(parsed.inexact);
  const { value } = parsed;
  if (!isObject(value)) {
    const error = { instancePath: '', keyword: 'type', params: { type: 'object' }, data: value };
    const repaired = parseStrings(value, [error], compiled);
    const why = `the arguments must be a JSON object, but they are ${kindOf(value)}. Send one JSON object.`;
    return repaired === null ? rejectArguments(why) : { ok: true, ...repaired };
  }
  const validation = compiled.validate(value);
  if (validation.ok) return { ok: true, payload: value, repaired: null };
  // Without errors the validator did not finish: a repaired value would fare no better.
  const repaired =
    validation.errors.length === 0
      ? null
      : (unwrap(value, compiled) ?? parseStrings(value, validation.errors, compiled));
  return repaired === null ? reject(validation.issues) : { ok: true, ...repaired };
}

const incomplete: Readonly<Record<Exclude<ArgumentStatus, 'complete'>, string>> = {
  truncated:
    'the arguments were cut off by the output limit before they were complete, so they were not read. Send the call again with a shorter payload: fewer items, shorter texts.',
  malformed:
    'the arguments did not arrive as valid JSON, so they were not read. Send one complete JSON object.',
  too_long:
    'the arguments are longer than 2 MiB, so they were not read. Send the call again with a shorter payload: fewer items, shorter texts.',
};

function reject(issues: readonly Issue[]): Check {
  return { ok: false, issues, redacted: redact(issues) };
}

function rejectArguments(message: string): Check {
  return reject([{ path: '', keyword: 'arguments', message }]);
}

function rejectNumbers(inexact: readonly InexactNumber[]): Check {
  const message =
    'this number cannot be represented exactly and would change. Send fewer digits, or a string where the schema allows one.';
  return reject(
    cappedIssues(inexact.map(({ path }) => ({ path: jsonPointer(path), keyword: 'precision', message }))),
  );
}
