/** The policy of a run: schema, gate and prompt, read once and frozen before the first model call. */
import { createHash } from 'node:crypto';
import type { Config } from '../config/parse-config.ts';
import { createContract, createGate } from '../contract/contract.ts';
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
import { readEvidencePolicy } from './evidence-policy.ts';
import type { RunState, World } from './world.ts';

export type RunPolicy = Awaited<ReturnType<typeof loadPolicy>>;

/**
 * Reads the policy, and notes it in the state. Its `files` are those of this repository that it comes from.
 * @throws InputError, ContractError
 */
export async function loadPolicy(config: Config, state: RunState, world: World) {
  const { schema, preset } = await parseSchemaArgument(config.schema, world.files);
  const contract = await createContract(schema, world.validate ?? null);
  const auto = automaticGate(contract.schema, preset, world.entry);
  const request = await parseGateArgument(config.gate, auto, world.files);
  state.gate = await createGate(request, contract);
  const isOpen = preset === null && config.gate === 'auto' && request.kind === 'none';
  // On the command line and in the library a schema often asks for no verdict.
  if (isOpen && (world.entry === 'action' || suggestGate(contract.schema) !== null)) {
    const { message, fix } = ungated(contract.schema);
    state.openGate = [`${message} ${fix}`];
  }
  for (const text of [...contract.warnings, ...state.gate.warnings, ...state.openGate])
    state.audience.notice('warning', text);
  state.outputNames = contract.outputNames;
  const prompt = await readPrompt(config.prompt, world);
  state.policy = {
    schema_sha256: sha256(JSON.stringify(contract.schema)),
    gate_sha256: request.kind === 'none' ? null : sha256(JSON.stringify(request)),
    prompt_sha256: sha256(prompt),
    version: world.version,
  };
  const evidence = readEvidencePolicy(config, contract.schema, preset);
  return { contract, prompt, evidence, files: policyFiles(config) };
}

/** Returns the files with their paths as typed. */
function policyFiles({ schema, gate, prompt, replay }: Config): readonly PolicyFile[] {
  const files = [
    ['schema', pathHere(schema)],
    ['gate', pathHere(gate)],
    ['prompt-file', 'file' in prompt ? localPath(prompt.file) : null],
    ['replay', replay],
  ] as const;
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
