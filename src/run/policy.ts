/** The policy of a run: schema, gate and prompt, read once and frozen before the first model call. */
import { createHash } from 'node:crypto';
import type { Config } from '../config/parse-config.ts';
import { type Contract, createContract, createGate } from '../contract/contract.ts';
import type { GateRequest } from '../contract/gate.ts';
import { declaredBooleans, requiredProperties } from '../contract/root.ts';
import {
  localPath,
  parseGateArgument,
  parseSchemaArgument,
  pathHere,
  readNamed,
} from '../contract/source.ts';
import { InputError } from '../errors.ts';
import type { PolicyFile } from '../github/changed-files.ts';
import type { Entry } from '../text/naming.ts';
import type { JsonObject } from '../types.ts';
import { type EvidencePolicy, readEvidencePolicy } from './evidence-policy.ts';
import type { RunState, World } from './world.ts';

export async function loadPolicy(
  config: Config,
  state: RunState,
  world: World,
): Promise<{ contract: Contract; prompt: string; evidence: EvidencePolicy }> {
  const schema = await parseSchemaArgument(config.schema, world.files);
  const contract = await createContract(schema.schema, schema.warnings, world.validate ?? null);
  const auto = schema.preset?.gate ?? automaticGate(contract.schema, world.entry);
  const request = await parseGateArgument(config.gate, auto, world.files);
  state.gate = await createGate(request, contract);
  state.outputNames = contract.outputNames;
  const evidence = readEvidencePolicy(config, contract.schema, schema.preset);
  const prompt = await readPrompt(config.prompt, world);
  state.policy = {
    schema_sha256: sha256(JSON.stringify(contract.schema)),
    gate_sha256: request.kind === 'none' ? null : sha256(JSON.stringify(request)),
    prompt_sha256: sha256(prompt),
    version: world.version,
  };
  const read = state.placed.promise.then(() => state.change);
  // Needed only for the report, so the run itself does not wait for it.
  state.judging = state.asked.promise
    .then(() => world.findPolicyChanges(policyFiles(config), read))
    .then((changes) => {
      state.policyChanges = changes;
    });
  return { contract, prompt, evidence };
}

/** The policy files of this repository, with their paths as typed. */
function policyFiles({ schema, gate, prompt, replay }: Config): readonly PolicyFile[] {
  const files: readonly (readonly [PolicyFile['what'], string | null])[] = [
    ['schema', pathHere(schema)],
    ['gate', pathHere(gate)],
    ['prompt-file', 'file' in prompt ? localPath(prompt.file) : null],
    ['replay', replay],
  ];
  return files.flatMap(([what, path]) => (path === null ? [] : [{ what, path }]));
}

/**
 * What `auto` means for a schema of one's own. The source designs end with 0 on the command line for any valid payload.
 */
function automaticGate(schema: JsonObject, entry: Entry): GateRequest {
  const isMeant =
    requiredProperties(schema).includes('passed') && declaredBooleans(schema).includes('passed');
  return entry === 'action' && isMeant ? { kind: 'property', name: 'passed' } : { kind: 'none' };
}

async function readPrompt(prompt: Config['prompt'], world: World): Promise<string> {
  if ('text' in prompt) return prompt.text;
  const reading = await readNamed(prompt.file, world.files);
  if (!reading.ok) throw new InputError('prompt-file', reading.problem);
  if (reading.text.trim() === '') throw new InputError('prompt-file', 'It is empty. Write the task into it.');
  return reading.text;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
