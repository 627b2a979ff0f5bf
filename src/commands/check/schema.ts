/** Reads the schema and the gate as a run does. */
import { type Contract, createContract, createGate } from '../../contract/contract.ts';
import { isUngated, UNGATED } from '../../contract/presets.ts';
import { type Files, parseGateArgument, parseSchemaArgument } from '../../contract/source.ts';
import { ContractError } from '../../errors.ts';
import { jsonPointer } from '../../text/json.ts';
import type { JsonObject } from '../../types.ts';
import { type Fault, refused, warning } from './finding.ts';
import { type Output, payloadOutputs } from './outputs.ts';

export interface Policy {
  /** As typed. */
  readonly name: string;
  readonly schema: JsonObject;
  readonly outputs: readonly Output[];
  /** The boolean properties that the gate requires to be true, so the step fails if one is false; empty for none. */
  readonly gated: readonly string[];
  readonly hasGate: boolean;
}

/** The policy, null when it is invalid, and the findings. */
export interface PolicyReading {
  readonly policy: Policy | null;
  readonly faults: readonly { readonly input: 'schema' | 'gate'; readonly fault: Fault }[];
}

/**
 * Creates the contract and its gate as a run does.
 * @param schema as typed; null for the default
 * @param gate as typed; null for the default, undefined when unknown
 */
export async function readPolicy(
  schema: string | null,
  gate: string | null | undefined,
  files: Files,
): Promise<PolicyReading> {
  const faults: { input: 'schema' | 'gate'; fault: Fault }[] = [];
  const attempt = async <T>(input: 'schema' | 'gate', task: () => Promise<T>): Promise<T | null> => {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      faults.push({ input, fault: refused(`${input}-${error.stage}`, error.message) });
      return null;
    }
  };
  const given = schema ?? 'verdict';
  const made = await attempt('schema', async () => {
    const source = await parseSchemaArgument(given, files);
    return { source, contract: await createContract(source.schema, source.warnings) };
  });
  if (made === null) return { policy: null, faults };
  const { source, contract } = made;
  for (const text of contract.warnings) faults.push({ input: 'schema', fault: warned('schema', text) });
  const gating =
    gate === undefined ? null : await attempt('gate', () => gateOf(gate, source.preset, contract, files));
  for (const text of gating?.warnings ?? []) faults.push({ input: 'gate', fault: warned('gate', text) });
  if (gate !== undefined && isUngated(gate ?? 'auto', given, contract.declaredProperties)) {
    faults.push({ input: 'schema', fault: ungated });
  }
  const policy: Policy = {
    name: given,
    schema: contract.schema,
    outputs: payloadOutputs(contract.schema, contract.outputNames),
    gated: gating?.gated ?? [],
    hasGate: gating?.gated !== undefined && gating.kind !== 'none',
  };
  return { policy, faults };
}

async function gateOf(
  gate: string | null,
  preset: Parameters<typeof parseGateArgument>[1],
  contract: Contract,
  files: Files,
) {
  const request = await parseGateArgument(gate ?? 'auto', preset, files);
  const { warnings, evaluate } = await createGate(request, contract);
  // By trial: a property counts if the gate is not met when it is false, whatever else the payload contains.
  const gated = payloadOutputs(contract.schema, contract.outputNames)
    .filter(({ kind }) => kind === 'boolean')
    .map(({ name }) => name)
    .filter((name) => evaluate({ [name]: false }).issues.some(({ path }) => path === jsonPointer([name])));
  return { kind: request.kind, warnings, gated };
}

/**
 * Returns the faults of a gate that is a JSON Schema, inline or a file, for payloads of several schemas; none for other
 * gates.
 * @param gate as typed
 */
export async function gateFaults(
  gate: string,
  schemas: readonly JsonObject[],
  files: Files,
): Promise<readonly Fault[]> {
  const faults: Fault[] = [];
  const errors: ContractError[] = [];
  try {
    const request = await parseGateArgument(gate, null, files);
    if (request.kind !== 'schema') return [];
    // A gate that is invalid for payloads of any schema is invalid for each of them.
    const { warnings } = await createGate(request, await createContract({ type: 'object' }));
    faults.push(...warnings.map((text) => warned('gate', text)));
    for (const schema of schemas) {
      try {
        const { warnings } = await createGate(request, await createContract(schema));
        faults.push(...warnings.map((text) => warned('gate', text)));
      } catch (error) {
        if (!(error instanceof ContractError)) throw error;
        errors.push(error);
      }
    }
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return [refused(`gate-${error.stage}`, error.message)];
  }
  // A gate that is useless for the payloads of one leg may be intended for those of another.
  const [first] = errors;
  if (first !== undefined && errors.length === schemas.length)
    return [refused(`gate-${first.stage}`, first.message)];
  return [...errors.map(({ message }) => warned('gate', message)), ...faults];
}

function warned(input: 'schema' | 'gate', text: string): Fault {
  return { ...refused(`${input}-warning`, text), severity: 'warning' };
}

/** The same warning as in a run. */
const ungated = warning('no-gate', UNGATED.message, UNGATED.fix);
