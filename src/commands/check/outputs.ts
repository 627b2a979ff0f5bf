/** Reads the schema and the gate of a step as a run does, and finds its outputs. */
import { createContract, createGate } from '../../contract/contract.ts';
import { declarations, PASSING } from '../../contract/declared.ts';
import { automaticGate, ungated } from '../../contract/presets.ts';
import { type Files, parseGateArgument, parseSchemaArgument } from '../../contract/source.ts';
import { ContractError } from '../../errors.ts';
import { RUN_OUTPUTS } from '../../reporters/outputs.ts';
import { isObject } from '../../text/json.ts';
import { resolveLocal } from '../../text/schema-walk.ts';
import { structuredOutputSpec } from '../../tools/tool.ts';
import type { JsonObject } from '../../types.ts';
import { type Fault, refused, soften, warning } from './rules.ts';

export interface Output {
  readonly name: string;
  /** `word` for texts that the schema lists; `text` may also be JSON. */
  readonly kind: 'boolean' | 'number' | 'word' | 'text';
  /** The types as in JSON Schema, for people. */
  readonly type: string;
  /** All possible texts, the one that lets something pass first; empty if they cannot be listed. */
  readonly values: readonly string[];
  /** The text that lets something pass; null if the schema does not tell. */
  readonly good: string | null;
}

const TEXT = { kind: 'text', values: [], good: null } as const;
const BOOLEAN = { kind: 'boolean', values: ['true', 'false'], good: 'true' } as const;

export const PAYLOAD: Output = { name: 'structured_output', type: 'object', ...TEXT };

/** The output about the run on which decisions depend. It is set on every ending. */
export const CONCLUSION: Output = {
  name: 'run-conclusion',
  kind: 'word',
  type: 'string',
  values: ['success', 'failure', 'inconclusive', 'skipped'],
  good: 'success',
};

export const RUN_NAMES: readonly string[] = Object.keys(RUN_OUTPUTS);

/** The outputs of a merge, besides those about the run. */
export const MERGED: readonly Output[] = [{ name: 'passed', type: 'boolean', ...BOOLEAN }, PAYLOAD];

/** A valid schema. */
export interface Policy {
  /** As typed. */
  readonly name: string;
  /** All but those about the run. */
  readonly outputs: readonly Output[];
  /** The size of the tool that is in every request, in bytes. */
  readonly bytes: number;
}

/**
 * Creates the contract and its gate as a run does. Returns null for an invalid schema.
 * @param schema as typed; null for the default
 * @param gate as typed; null for the default, undefined when unknown
 */
export async function readPolicy(
  schema: string | null,
  gate: string | null | undefined,
  files: Files,
  report: (input: 'schema' | 'gate', fault: Fault) => void,
): Promise<Policy | null> {
  let policy: Policy | null = null;
  try {
    const { preset, ...source } = await parseSchemaArgument(schema ?? undefined, files);
    const contract = await createContract(source.schema);
    for (const text of contract.warnings) report('schema', soften(refused('schema', text)));
    policy = {
      name: schema ?? 'verdict',
      outputs: [...contract.outputNames.map((name) => outputOf(name, contract.schema)), PAYLOAD],
      bytes: Buffer.byteLength(JSON.stringify(structuredOutputSpec(contract.schema))),
    };
    if (gate === undefined) return policy;
    const auto = automaticGate(contract.schema, preset, 'action');
    const request = await parseGateArgument(gate ?? undefined, auto, files);
    const { warnings } = await createGate(request, contract);
    for (const text of warnings) report('gate', soften(refused('gate', text)));
    if (request.kind === 'none' && (gate ?? 'auto') === 'auto') {
      const { message, fix } = ungated(contract.schema);
      report('schema', warning('no-gate', message, fix));
    }
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const input = policy === null ? 'schema' : 'gate';
    report(input, refused(input, error.message));
  }
  return policy;
}

function outputOf(name: string, root: JsonObject): Output {
  const shapes = declarations(root, ['allOf', 'anyOf', 'oneOf'])
    .filter((each) => each.name === name)
    .map(({ schema }) => (isObject(schema) ? resolveLocal(root, schema) : null) ?? {});
  const type = [...new Set(shapes.flatMap((shape) => shape['type'] ?? 'any'))].join(' or ');
  if (type === 'boolean') return { name, type, ...BOOLEAN };
  if (/^(?:(?:integer|number)(?: or )?)+$/u.test(type)) return { name, type, ...TEXT, kind: 'number' };
  const listed = shapes.flatMap((shape) => shape['const'] ?? shape['enum'] ?? null);
  const values = [...new Set(listed.filter((value) => typeof value === 'string'))];
  if (!listed.every((value) => typeof value === 'string')) return { name, type, ...TEXT };
  const good = values.find((value) => PASSING.test(value)) ?? null;
  values.sort((one, other) => Number(other === good) - Number(one === good));
  // A listed text with blanks or signs in it would still be a danger in a script.
  const isWord = values.every((value) => /^[\w.,:/@+-]+$/u.test(value));
  return { name, kind: isWord ? 'word' : 'text', type, values, good };
}
