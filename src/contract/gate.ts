/** The gate: what an accepted payload must fulfil for the step to succeed. Fails closed. */

import type { ErrorObject } from 'ajv';
import { ContractError } from '../errors.ts';
import { jsonPointer, parseOrUndefined } from '../text/json.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { counted, joinWithOr, quote, suggest } from '../text/messages.ts';
import { inertLine } from '../text/sanitize.ts';
import type { GateResult, Issue, Json, JsonObject } from '../types.ts';
import { declarations, declaredBooleans, declaredProperties, gatesOfTexts } from './declared.ts';
import { lintGate } from './gate-lint.ts';
import { cappedIssues, listValues, showValue } from './issues.ts';
import { compile, type SchemaValidator } from './validator.ts';

/** What the gate requires: nothing, that one property is true, or a schema. */
export type GateRequest =
  | { readonly kind: 'none' }
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'schema'; readonly schema: Json };

export interface Gate {
  /** A sentence or two each: formats that are not checked, and doubts whether the gate checks what was intended. */
  readonly warnings: readonly string[];
  evaluate(payload: JsonObject): GateResult;
}

/**
 * Creates a gate over a contract's schema.
 * @throws ContractError when a gate schema does not compile or is certainly a mistake, and when a named property is not
 * declared as a boolean
 */
export async function createGate(request: GateRequest, contract: SchemaValidator): Promise<Gate> {
  switch (request.kind) {
    case 'none':
      return { warnings: [], evaluate: () => ({ status: 'none', issues: [] }) };
    case 'property':
      return propertyGate(request.name, contract.schema);
    case 'schema':
      return schemaGate(request.schema, contract);
  }
}

function propertyGate(name: string, schema: JsonObject): Gate {
  const booleans = declaredBooleans(schema);
  if (!booleans.includes(name)) throw new ContractError('gate', 'root', undeclared(name, schema, booleans));
  return {
    warnings: [],
    evaluate: (payload) => {
      if (!Object.hasOwn(payload, name)) return result([absent(name)]);
      const value = payload[name];
      return result(
        value === true ? [] : [issue(jsonPointer([name]), 'const', `must be true${found(value)}`)],
      );
    },
  };
}

/** Says what to write instead, also of a comparison such as `verdict == 'pass'`. */
function undeclared(name: string, schema: JsonObject, booleans: readonly string[]): string {
  const words = `It names ${quote(name)}, which the schema does not declare as a boolean.`;
  const [, property = '', operator, text = ''] = /^([\w-]+) ?(={1,3}|>=|<=)(.+)$/.exec(name) ?? [];
  if (declaredProperties(schema).includes(property)) {
    const keyword = operator === '>=' ? 'minimum' : operator === '<=' ? 'maximum' : 'const';
    const value = text.trim().replace(/^['"]|['"]$/g, '');
    const part = { [keyword]: parseOrUndefined(value) ?? value };
    return `${words} Write ${JSON.stringify({ properties: { [property]: part } })}.`;
  }
  const listed = gatesOfTexts(schema).find(([each]) => each === name);
  if (listed !== undefined) return `${words} Write ${listed[1]}.`;
  if (/^(?:none|no)$/iu.test(name)) return `${words} For no gate write off.`;
  const near = suggest(name, booleans, LISTED.few).map((each) => quote(each));
  return near.length > 0
    ? `${words} Did you mean ${joinWithOr(near)}?`
    : `${words} Name a boolean property, or give the gate as a JSON Schema.`;
}

async function schemaGate(schema: Json, contract: SchemaValidator): Promise<Gate> {
  const compiled = await compile(schema, 'gate');
  // `allOf` branches count as top level, because a $ref may be allowed only there.
  const named = [...new Set(declarations(compiled.schema, ['allOf']).map((each) => each.name))];
  const suspicions = lintGate(compiled, contract);
  return {
    warnings: [...compiled.warnings, ...suspicions],
    evaluate: (payload) => {
      const missing = named.filter((name) => !Object.hasOwn(payload, name)).map(absent);
      const validation = compiled.validate(payload);
      if (validation.ok) return result(missing);
      // Without errors the validator did not finish.
      if (validation.errors.length === 0) return result([...missing, ...validation.issues.map(unfinished)]);
      return result([...missing, ...validation.errors.map(unmet)]);
    },
  };
}

function absent(name: string): Issue {
  return issue('', 'present', `has no ${quote(name)}`);
}

function unfinished({ keyword }: Issue): Issue {
  return keyword === 'deadline'
    ? issue('', keyword, 'could not be judged within 1 second: a pattern of the gate may be too slow')
    : issue('', keyword, 'could not be judged: the gate may refer to itself endlessly');
}

/** Describes what the gate requires at a place, and what the payload has there. */
function unmet({ instancePath, keyword, message, params, data }: ErrorObject): Issue {
  const wanted: Readonly<Record<string, string>> = {
    const: `must be ${showValue(params['allowedValue'])}`,
    enum: `must be one of ${listValues(params['allowedValues'])}`,
  };
  return issue(instancePath, keyword, `${wanted[keyword] ?? message}${found(data)}`);
}

/** Returns what a value is, for the end of a clause; nothing for an object, which is shown whole elsewhere. */
function found(value: unknown): string {
  if (Array.isArray(value)) return `, has ${counted(value.length, 'item')}`;
  return typeof value === 'object' && value !== null ? '' : `, is ${showValue(value)}`;
}

/** An issue for people, whose message says where. */
function issue(path: string, keyword: string, clause: string): Issue {
  const where = path === '' ? 'the payload' : `\`${path}\``;
  return { path, keyword, message: inertLine(`${where} ${clause}`, DISPLAY.reason) };
}

function result(issues: readonly Issue[]): GateResult {
  return { status: issues.length === 0 ? 'met' : 'not_met', issues: cappedIssues(issues) };
}
