/** Reads the schema and the gate as a run does. */
import { createContract, createGate } from '../../contract/contract.ts';
import { type Files, parseGateArgument, parseSchemaArgument } from '../../contract/source.ts';
import { ContractError } from '../../errors.ts';
import { structuredOutputSpec } from '../../tools/structured-output.ts';
import { type Output, payloadOutputs, suggestGate } from './outputs.ts';
import { type Fault, INPUT, refused, soften } from './rules.ts';

/** A valid schema. */
export interface Policy {
  /** As typed. */
  readonly name: string;
  readonly outputs: readonly Output[];
  /** The size of the tool that stands in every request, in bytes. */
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
  const attempt = async <T>(input: 'schema' | 'gate', task: () => Promise<T>): Promise<T | null> => {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      report(input, refused(input, error.message));
      return null;
    }
  };
  const made = await attempt('schema', async () => {
    const source = await parseSchemaArgument(schema ?? undefined, files);
    return { source, contract: await createContract(source.schema, source.warnings) };
  });
  if (made === null) return null;
  const { source, contract } = made;
  const outputs = payloadOutputs(contract.schema, contract.outputNames);
  for (const text of contract.warnings) report('schema', soften(refused('schema', text)));
  if (gate !== undefined) {
    const made = await attempt('gate', async () => {
      const request = await parseGateArgument(
        gate ?? undefined,
        source.preset?.gate ?? { kind: 'none' },
        files,
      );
      return { request, warnings: (await createGate(request, contract)).warnings };
    });
    for (const text of made?.warnings ?? []) report('gate', soften(refused('gate', text)));
    if (made?.request.kind === 'none' && (gate ?? 'auto') === 'auto')
      report('schema', INPUT.noGate(suggestGate(contract.schema, outputs)));
  }
  const bytes = Buffer.byteLength(JSON.stringify(structuredOutputSpec(contract.schema)));
  return { name: schema ?? 'verdict', outputs, bytes };
}
