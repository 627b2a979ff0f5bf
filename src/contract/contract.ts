/** The contract: what a payload must look like. This is the module other folders import. */
import type { ErrorObject } from 'ajv';
import {
  type InexactNumber,
  isArray,
  isDeeperThan,
  isObject,
  jsonPointer,
  parseJsonWithInexact,
  parseStrictJson,
} from '../text/json.ts';
import { JSON_TEXT, LISTED } from '../text/limits.ts';
import type { ArgumentStatus, Issue, Json, JsonObject, RedactedIssue, Repair, ToolCall } from '../types.ts';
import { declaredProperties, outputNames } from './declared.ts';
import { cappedIssues, kindOf, redact } from './issues.ts';
import { runValidator, type StandardValidate } from './standard-schema.ts';
import { type Compiled, compile } from './validator.ts';

export { createGate, type Gate, type GateRequest } from './gate.ts';
export type { StandardValidate } from './standard-schema.ts';
export { type Compiled, compile } from './validator.ts';

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
  /**
   * Checks the arguments of a call, also by the schema object's own validator, if there is one. Only complete arguments
   * that are strict JSON are accepted. Never rejects.
   */
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
    return repaired ?? rejectArguments(why);
  }
  const validation = compiled.validate(value);
  if (validation.ok) return { ok: true, payload: value, repaired: null };
  // Without errors the validator did not finish: a repaired value would fare no better.
  const repaired =
    validation.errors.length === 0
      ? null
      : (unwrap(value, compiled) ?? parseStrings(value, validation.errors, compiled));
  return repaired ?? reject(validation.issues);
}

const incomplete: Readonly<Record<Exclude<ArgumentStatus, 'complete'>, string>> = {
  truncated:
    'the arguments were cut off by the output limit before they were complete, so they were not read. Send the call again with a shorter payload: fewer items, shorter texts.',
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

/** Keys in which models wrap the arguments of a tool. */
const WRAPPERS = ['output', 'arguments', 'input', '$PARAMETER_NAME'];

/** Returns the object under the only key of a rejected one, if the key is a wrapper's or the title of the schema. */
function unwrap(value: JsonObject, { schema, validate }: Compiled): Check | null {
  const [key = '', ...others] = Object.keys(value);
  const inner = value[key];
  if (others.length > 0 || !(WRAPPERS.includes(key) || key === schema['title'])) return null;
  if (!isObject(inner) || !validate(inner).ok) return null;
  return { ok: true, payload: inner, repaired: { kind: 'unwrapped', key } };
}

/** Parses the JSON strings of a rejected value, if there an object or array is required and the schema accepts the result. */
function parseStrings(
  value: Json,
  errors: readonly Pick<ErrorObject, 'instancePath' | 'keyword' | 'params' | 'data'>[],
  { validate }: Compiled,
): Check | null {
  const held = new Map<string, Json>();
  for (const { instancePath, keyword, params, data } of errors) {
    if (keyword !== 'type' || typeof data !== 'string') continue;
    const inner = containerIn(data);
    const wanted: unknown[] = [params['type']].flat();
    if (inner !== null && wanted.includes(isArray(inner) ? 'array' : 'object')) held.set(instancePath, inner);
  }
  const payload = held.size === 0 ? null : replaceStrings(value, '', held);
  if (!isObject(payload) || isDeeperThan(payload, JSON_TEXT.payloadDepth) || !validate(payload).ok)
    return null;
  return { ok: true, payload, repaired: { kind: 'parsed', paths: [...held.keys()] } };
}

/** Parses an object or array from a string; null for anything else, without parsing prose and numbers. */
function containerIn(text: string): Json {
  const parsed = /^[ \t\r\n]*[[{]/.test(text) ? parseStrictJson(text) : { ok: false as const };
  return parsed.ok ? parsed.value : null;
}

/** `Object.fromEntries` makes `__proto__` an ordinary own key. */
function replaceStrings(value: Json, path: string, held: ReadonlyMap<string, Json>): Json {
  if (typeof value === 'string') return held.get(path) ?? value;
  const replace = (child: Json, key: string | number) =>
    replaceStrings(child, `${path}${jsonPointer([key])}`, held);
  if (isArray(value)) return value.map(replace);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, replace(child, key)]));
}
