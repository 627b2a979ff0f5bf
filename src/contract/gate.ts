/** The gate: what an accepted payload must fulfil for the step to succeed. Fails closed. */

import { ContractError } from '../errors.ts';
import { jsonPointer } from '../text/json.ts';
import { LISTED } from '../text/limits.ts';
import { quote, suggest } from '../text/messages.ts';
import type { GateResult, Issue, Json, JsonObject } from '../types.ts';
import { compile, type SchemaValidator } from './compile.ts';
import { lintGate } from './gate-lint.ts';
import {
  brokenWords,
  listedWords,
  metWords,
  quotableOf,
  unmetPropertyWords,
  unmetWords,
} from './gate-words.ts';
import { cappedIssues } from './issues.ts';
import { declarations, declaredBooleans, declaredProperties } from './root.ts';

/** What the gate requires: nothing, that one property is true, or a schema. */
export type GateRequest =
  | { readonly kind: 'none' }
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'schema'; readonly schema: Json };

/** A gate that evaluates payloads accepted by the contract. */
export interface Gate {
  /** A sentence or two each: formats that are not checked, and doubts whether the gate checks what was intended. */
  readonly warnings: readonly string[];
  evaluate(payload: JsonObject): GateResult;
}

/**
 * Creates a gate over a contract's schema.
 * @throws ContractError when a gate schema is not a valid contract schema, when every payload meets it or none can, or
 * when a named property is not declared as a boolean
 */
export async function createGate(request: GateRequest, contract: SchemaValidator): Promise<Gate> {
  switch (request.kind) {
    case 'none':
      return { warnings: [], evaluate: () => ({ status: 'none', issues: [] }) };
    case 'property':
      return propertyGate(request.name, contract.schema);
    case 'schema':
      if (typeof request.schema === 'boolean')
        throw new ContractError('shape', booleanGate(request.schema, contract.schema));
      return schemaGate(request.schema, contract);
  }
}

/** The message for `gate: true`, which is easily written instead of the name of a property that must be true. */
function booleanGate(value: boolean, schema: JsonObject): string {
  if (!value) return 'The gate is false, which no payload can meet. For no gate at all write off.';
  const booleans = declaredBooleans(schema).slice(0, LISTED.few);
  const fix =
    booleans.length === 0
      ? 'Write the name of a boolean property, or a JSON Schema for the payload.'
      : `Write the name of the boolean property that must be true: ${booleans.map((name) => quote(name)).join(' or ')}.`;
  return `The gate is true, which every payload meets. ${fix}`;
}

function propertyGate(name: string, schema: JsonObject): Gate {
  const booleans = declaredBooleans(schema);
  if (!booleans.includes(name)) throw new ContractError('root', undeclared(name, schema, booleans));
  return {
    warnings: [],
    evaluate: (payload) => {
      const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
      if (value === true) return result([], metWords({ properties: { [name]: { const: true } } }));
      const words = unmetPropertyWords(name, value, { words: listedWords(schema) });
      if (value === undefined) return result([absent(name)], words);
      const issue = { path: jsonPointer([name]), keyword: 'const', message: 'must be true.' };
      return result([issue], words);
    },
  };
}

function undeclared(name: string, schema: JsonObject, booleans: readonly string[]): string {
  const declared = declaredProperties(schema);
  const what = declared.includes(name) ? 'does not declare as a boolean' : 'does not declare';
  const near = suggest(name, booleans);
  const candidates = near.length > 0 ? near : booleans.slice(0, LISTED.few);
  const names = candidates.map((name) => quote(name)).join(', ');
  const fix =
    candidates.length > 0
      ? near.length > 0
        ? `Did you mean ${names}?`
        : `Its boolean properties: ${names}.`
      : 'It declares no boolean property: add one, or give the gate as a JSON Schema.';
  return `The gate names ${quote(name)}, which the schema ${what}. ${fix}`;
}

async function schemaGate(schema: Json, contract: SchemaValidator): Promise<Gate> {
  const compiled = await compile(schema, 'gate');
  // `allOf` branches count as top level, because a $ref may be allowed only there.
  const named = [...new Set(declarations(compiled.schema, ['allOf']).map((each) => each.name))];
  const suspicions = lintGate(compiled, contract, named);
  return {
    warnings: [...compiled.warnings, ...suspicions],
    evaluate: (payload) => {
      const missing = named.filter((name) => !Object.hasOwn(payload, name));
      const validation = compiled.validate(payload);
      const { issues, errors } = validation.ok ? { issues: [], errors: [] } : validation;
      const all = [...missing.map(absent), ...issues];
      if (all.length === 0) return result(all, metWords(compiled.schema));
      // Without errors the validator did not finish.
      const [broken] = errors.length > 0 ? [] : issues;
      if (broken !== undefined) return result(all, brokenWords(broken.keyword));
      return result(all, unmetWords(payload, missing, errors, quotableOf(contract.schema, compiled.schema)));
    },
  };
}

function absent(name: string): Issue {
  const message = `the payload has no ${quote(name)}, and the gate is about it.`;
  return { path: '', keyword: 'present', message };
}

function result(issues: readonly Issue[], words: readonly string[]): GateResult {
  return { status: issues.length === 0 ? 'met' : 'not_met', issues: cappedIssues(issues), words };
}
