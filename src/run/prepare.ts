/** Finds all that can end a run before the model is asked: inputs, the policy (schema, gate and prompt), the change. */
import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import type { Price } from '../agent/budget.ts';
import type { RunStop } from '../agent/loop.ts';
import { INPUTS, type Input } from '../config/inputs.ts';
import type { Config } from '../config/parse-config.ts';
import { requireReadableFolders, resolveWorkingDirectory } from '../config/paths.ts';
import type { Parsed } from '../config/values.ts';
import { createContract, createGate } from '../contract/contract.ts';
import { declaredFindings, requiredProperties } from '../contract/declared.ts';
import { automaticGate, type Preset, suggestGate, ungated } from '../contract/presets.ts';
import {
  localPath,
  parseGateArgument,
  parseSchemaArgument,
  pathHere,
  readNamed,
} from '../contract/source.ts';
import { InputError, MissingKeyError, throwProblems } from '../errors.ts';
import { isInside } from '../files/real-paths.ts';
import { createGitContext } from '../github/context.ts';
import { createPricer, unknownPriceError } from '../providers/pricing.ts';
import { findCheckout } from '../reporters/places.ts';
import { findProgram, SYSTEM_FOLDERS } from '../sandbox/host-program.ts';
import { NO_USAGE } from '../text/figures.ts';
import { DISPLAY } from '../text/limits.ts';
import { inputName, quote } from '../text/messages.ts';
import { once, race } from '../text/wait.ts';
import type { JsonObject, PolicyFile } from '../types.ts';
import type { RunState, World } from './world.ts';

/** Why no change is known. */
const NOT_FOUND =
  'It could not be determined whether the run is about a pull request. A github-token with pull-requests: read tells it.';
const NOT_IN_EVENT =
  'The event names no change: it is not a pull request, a merge group or a push to a branch that existed before.';
const NO_BASE = 'The run is not about a change. Give it one with base.';

export type Plan = Awaited<ReturnType<typeof prepare>>;

/** @throws InputError, ContractError, MissingKeyError, SandboxError */
export async function prepare({ config, problems }: Parsed<Config>, state: RunState, world: World) {
  const { signal } = state.stop;
  const { sandbox: mode, shellNetwork } = config;
  const { model, provider, missingKey, providerReason } = config.model;
  const isReplay = config.replay !== null;
  state.config = config;
  state.isValid = problems.length === 0;
  state.answeredBy = {
    model: isReplay ? 'replay of nothing' : model,
    provider: state.isValid ? provider : '',
    replayed: isReplay,
  };
  signal.throwIfAborted();
  const timeout: RunStop = { stop: 'timeout' };
  const timer = setTimeout(() => state.stop.abort(timeout), config.timeoutMs);
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  if (state.isValid && missingKey !== null)
    throw new MissingKeyError(
      `Nothing was judged, and this step is green all the same (on-missing-key: skip). api-key: ${missingKey}`,
    );
  const folder = await checkInputs({ config, problems }, signal, world);
  const { programFolders = SYSTEM_FOLDERS } = world;
  const detect = once(async () => {
    const { detectBackend } = await import('../sandbox/detect.ts');
    return race(detectBackend({ mode, shellNetwork, programFolders }), signal);
  });
  // The first request does not wait for the programs that find this out, unless there are none.
  const mayIsolate = ['bwrap', 'nsenter'].some((name) => findProgram(name, programFolders) !== null);
  const detected = mode === 'required' && !mayIsolate ? await detect() : null;
  if (detected?.kind === 'none') throw detected.error;
  const text = `provider ${provider}, chosen by ${providerReason}`;
  if (!isReplay) state.tell({ type: 'notice', level: 'info', text });
  const price = await findPrice(config, state);
  const policy = await race(loadPolicy(config, state, world), signal);
  // The repository around the folder, or the only one in the workspace.
  const repository = findCheckout(folder, world.workspace);
  if (config.base !== null && repository === null) {
    const part = inputName('working-directory', world.entry);
    const why = `There is no git repository in ${quote(world.workspace)}. Start in the root of the checkout; ${part} names the part to judge.`;
    throw new InputError('base', why);
  }
  const found = await race(findContext(config, world), signal);
  // Until the diff has been written it counts as missing.
  state.context = found === null ? 'none' : 'missing';
  const why = world.entry === 'action' ? NOT_IN_EVENT : NO_BASE;
  if (found === null) state.change = { ...state.change, why };
  if (found === 'unknown') state.change = { ...state.change, status: 'partial', why: NOT_FOUND };
  const root = repository ?? world.workspace;
  return {
    config,
    policy,
    price,
    /** The absolute path of the agent's working directory. */
    folder,
    /** The workspace, if there is no repository. */
    root,
    hasRepository: repository !== null,
    /** The judged folder, relative to the root. A checkout below the working directory is judged as a whole. */
    subject: isInside(folder, root) ? path.relative(root, folder) : '',
    context: found === 'unknown' ? null : found,
    /** Finds out, once, how commands can be isolated. Rejects with the reason of `state.stop` only. */
    detect,
  };
}

const DECIDED =
  "it runs with the repository's rights, and the author of the recording would decide the verdict. Use it on push or pull_request.";
const STRANGERS = "which runs with the repository's rights on what a stranger wrote. Use required.";
const INSIDE =
  'is in the workspace, where the agent could change it. Use required, or an action that is not checked out (uses: org/structured-agent@v1).';

/**
 * Checks what depends on this machine and on the trigger, and returns the absolute path of the working directory.
 * @throws InputError that lists all problems with the inputs
 */
async function checkInputs({ config, problems }: Parsed<Config>, signal: AbortSignal, world: World) {
  const { privileged, entry, guarded, workspace, recording } = world;
  const [isReplay, isOff] = [config.replay !== null, config.sandbox === 'off'];
  const trigger = world.subject?.event ?? 'this trigger';
  // The agent could change the action, parts of which are loaded after it ran.
  const inside = entry === 'action' ? guarded.find((place) => isInside(place, workspace)) : undefined;
  const all: Error[] = [...problems];
  const refuse = (input: string, why: string) => all.push(new InputError(input, why));
  const note = (error: Error) => {
    all.push(error);
    return '';
  };
  if (isReplay && privileged) refuse('replay', `It is refused on ${trigger}: ${DECIDED}`);
  if (isReplay && recording) refuse('replay', 'A replay cannot be recorded. Leave out record or replay.');
  if (isOff && privileged) refuse('sandbox', `The value off is refused on ${trigger}, ${STRANGERS}`);
  if (isOff && inside !== undefined)
    refuse('sandbox', `The value off is refused, because ${inside} ${INSIDE}`);
  const ours = [world.environment['HOME'] ?? os.homedir(), path.dirname(world.runFolder)];
  await requireReadableFolders(config.sandboxRead, ours).catch(note);
  const folder = await resolveWorkingDirectory(config.workingDirectory, workspace).catch(note);
  // The misspelt name of an input may be what the gate needs.
  const isKnown = problems.every(({ input }) => KNOWN.has(input));
  if (all.length > 0 && isKnown) await race(readContract(config, world), signal).catch(note);
  throwProblems(all);
  return folder;
}

const KNOWN = new Set<string | null>(INPUTS.flatMap(({ name, also = [] }: Input) => [name, ...also]));

/**
 * Returns the price of one completion, and notes the price list's name of the model. A replay is free.
 * @throws InputError for `max-cost-usd` if the price of the model is unknown
 */
async function findPrice({ model, replay, maxCostUsd }: Config, state: RunState): Promise<Price> {
  if (replay !== null) return async () => 0;
  const pricer = createPricer(model);
  const price: Price = async (usage) => {
    const found = await pricer(usage);
    state.pricedAs = found?.pricedAs ?? null;
    return found?.usd ?? null;
  };
  if (maxCostUsd !== null && (await price(NO_USAGE)) === null) throw unknownPriceError(model.model);
  return price;
}

/** Reads and compiles the schema and the gate. @throws ContractError */
async function readContract(config: Config, world: World) {
  const { schema, preset } = await parseSchemaArgument(config.schema, world.files);
  const contract = await createContract(schema, world.validate ?? null);
  const auto = automaticGate(contract.schema, preset, world.entry);
  const request = await parseGateArgument(config.gate, auto, world.files);
  return { contract, preset, request, gate: await createGate(request, contract) };
}

/**
 * Reads the policy once. Its `files` are those of this repository that it comes from.
 * @throws InputError, ContractError
 */
async function loadPolicy(config: Config, state: RunState, world: World) {
  const { contract, preset, request, gate } = await readContract(config, world);
  state.gate = gate;
  for (const text of [...contract.warnings, ...state.gate.warnings]) state.warn(text);
  const isOpen = preset === null && config.gate === 'auto' && request.kind === 'none';
  // On the command line and in the library a schema often asks for no verdict.
  if (isOpen && (world.entry === 'action' || suggestGate(contract.schema) !== null)) {
    const { message, fix } = ungated(contract.schema);
    state.warnOfWeakness(`${message} ${fix}`);
  }
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
  return (prompt.before ?? '') + reading.text;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Determines what `auto` stands for. */
function readEvidencePolicy({ minCoverage, grounding }: Config, schema: JsonObject, preset: Preset | null) {
  const findings = declaredFindings(schema);
  // Without a quote nothing can be proven, and every finding would be marked.
  const canQuote = findings?.properties.includes('quote') === true && findings.properties.includes('path');
  const automatic = !canQuote ? 'off' : preset === null ? 'mark' : 'require';
  const isReview = preset?.minCoverage === 1;
  return {
    minCoverage,
    findings,
    isReview,
    isPreset: preset !== null,
    /** Whether the payload names the command that it judged, as that of `test-report` does. */
    namesCommand: preset !== null && requiredProperties(schema).includes('command'),
    /** Whether a share of the change has to be shown, if it is known. */
    requiresCoverage: minCoverage === 'auto' ? isReview : minCoverage !== 'off',
    grounding: grounding === 'auto' ? automatic : grounding,
  };
}

/** Returns the change that this run is about: that of its event, or everything since a base. Never rejects. */
export async function findContext({ base }: Pick<Config, 'base'>, world: Pick<World, 'findContext'>) {
  if (base === null) return world.findContext();
  const shown = quote(base, DISPLAY.name);
  const subject = {
    about: `what changed since the merge base with ${shown}, with what is uncommitted in tracked files`,
    contents: 'changed files and diff',
    author: 'the author of the change',
  };
  const note = `The diff is missing: git could not compare the files with ${shown}, or there is no shell to run it in.`;
  return createGitContext(subject, { ref: base }, note);
}
