/** The policy of a run: schema, gate and prompt, read once and frozen before the first model call. */
import { createHash } from 'node:crypto';
import type { Config } from '../config/parse-config.ts';
import { type Contract, createContract, createGate } from '../contract/contract.ts';
import { automaticGate, suggestGate, ungated } from '../contract/presets.ts';
import {
  localPath,
  parseGateArgument,
  parseSchemaArgument,
  pathHere,
  readNamed,
} from '../contract/source.ts';
import { InputError } from '../errors.ts';
import type { PolicyFile } from '../types.ts';
import { type EvidencePolicy, readEvidencePolicy } from './evidence-policy.ts';
import type { RunState, World } from './world.ts';

export async function loadPolicy(
  config: Config,
  state: RunState,
  world: World,
): Promise<{
  contract: Contract;
  prompt: string;
  evidence: EvidencePolicy;
  warnings: readonly string[];
}> {
  const schema = await parseSchemaArgument(config.schema, world.files);
  const contract = await createContract(schema.schema, world.validate ?? null);
  const auto = automaticGate(contract.schema, schema.preset, world.entry);
  const request = await parseGateArgument(config.gate, auto, world.files);
  state.gate = await createGate(request, contract);
  const warnings = [...contract.warnings, ...state.gate.warnings];
  const isOpen = schema.preset === null && config.gate === 'auto' && request.kind === 'none';
  // On the command line and in the library a schema often asks for no verdict.
  if (isOpen && (world.entry === 'action' || suggestGate(contract.schema) !== null)) {
    const { message, fix } = ungated(contract.schema);
    state.openGate = [`${message} ${fix}`];
    warnings.push(...state.openGate);
  }
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
  return { contract, prompt, evidence, warnings };
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
