/** Checks a step that runs the agent: its inputs, the files that they name, and the job and triggers around it. */
import path from 'node:path';
import { INPUTS, type InputName, meantInputs } from '../../config/inputs.ts';
import { type Config, parseConfig } from '../../config/parse-config.ts';
import { readTrustedFile, resolveWorkingDirectory } from '../../config/paths.ts';
import { type Files, isInOtherRepository, pathHere } from '../../contract/source.ts';
import { messageOf } from '../../errors.ts';
import { createPricer, unknownPriceError } from '../../providers/pricing.ts';
import { NO_USAGE } from '../../text/figures.ts';
import { isPrivilegedTrigger } from '../../text/privileged-triggers.ts';
import type { Reading } from '../../types.ts';
import { type Policy, readPolicy } from './outputs.ts';
import { type Fault, INPUT, JOB, refused, soften } from './rules.ts';
import { entriesOf, mentions, type Place, type StepNode, scalarAt, scalarOf, valueAt } from './workflow.ts';

/**
 * Reads the inputs of a step as far as they are literal, and which ones an expression computes. Reports those that do
 * not exist, are not texts, or are written out secrets.
 */
export function readStepInputs<N extends string>({ workflow, step }: Place, names: readonly N[]) {
  const given = new Map<N, string>();
  const unknown = new Set<N>();
  for (const [key, value] of entriesOf(valueAt(step.node, 'with'))) {
    const name = names.find((each) => each === key.toLowerCase());
    const text = scalarOf(value);
    const fault = (which: Fault) => workflow.report(step.node, ['with', key], which);
    if (name === undefined) fault(INPUT.unknown(key, meantInputs(key, names)));
    else if (text === null) fault(INPUT.notText(name));
    else if (text.includes('${{')) unknown.add(name);
    else given.set(name, text.trim());
    const isSecret = /^(?:api-key|github-token|signing-key)$/iu.test(key);
    if (isSecret && name !== undefined && given.get(name)) fault(INPUT.secret(name));
  }
  return { given, unknown };
}

const NAMES: readonly InputName[] = INPUTS.map(({ name }) => name);

/** Valid texts for inputs that an expression computes. */
const STAND_INS: ReadonlyMap<InputName, string> = new Map([
  ['prompt', 'unknown'],
  ['prompt-file', 'unknown'],
  ['model', 'claude-unknown'],
  ['api-key', 'unknown'],
  ['headers', 'Authorization: unknown'],
  ['base-url', 'https://unknown.invalid/v1'],
  ['provider', 'openai'],
  ['replay', 'unknown'],
]);

/** A step with its inputs, as the checks of it need them. */
interface Given extends Place {
  readonly config: Config;
  /** As typed; null when absent, undefined when an expression computes it. */
  readonly get: (input: InputName) => string | null | undefined;
  readonly report: (input: string | null, fault: Fault) => void;
}

/** Checks a step and finds its outputs; returns null if its schema is invalid or not known. */
export async function checkStep(place: Place, root: string): Promise<Policy | null> {
  const { workflow, job, step } = place;
  const files: Files = {
    readFile: (name) => readTrustedFile(name, { root, outside: 'refused' }),
    readElsewhere: async () => ({ ok: false, problem: 'is in another repository' }),
  };
  const { given, unknown } = readStepInputs(place, NAMES);
  const raw = new Map([...given].filter(([, text]) => text !== ''));
  for (const name of unknown) if (STAND_INS.has(name)) raw.set(name, STAND_INS.get(name) ?? '');
  if (unknown.has('prompt') && raw.has('prompt-file')) raw.delete('prompt');
  // What an expression computes counts as set.
  const variables = [workflow.node, job.node, step.node].flatMap((owner) => entriesOf(valueAt(owner, 'env')));
  const environment = Object.fromEntries(variables.map(([key, value]) => [key, scalarOf(value) ?? '']));
  const { config, problems } = parseConfig(raw, { environment });
  const report: Given['report'] = (input, fault) =>
    workflow.report(step.node, input === null ? [] : ['with', input], fault);
  const mayHaveKey = workflow.isComposite || mentions(job.node, 'GITHUB_ENV');
  for (const error of problems)
    if (error.input !== 'api-key' || !mayHaveKey) report(error.input, refused('input', messageOf(error)));
  const get = (name: InputName) => (unknown.has(name) ? undefined : (given.get(name) ?? null));
  const all: Given = { ...place, config, get, report };
  await checkLimits(all);
  // The job, the triggers and the checkout of a composite action are those of its caller.
  const missing = workflow.isComposite ? new Set<InputName>() : await checkFiles(all, root, files);
  if (!workflow.isComposite) {
    checkPermissions(all);
    checkTriggers(all);
  }
  const known = (name: 'schema' | 'gate') => {
    const value = get(name) ?? '';
    const isUnread = missing.has(name) || isInOtherRepository(value);
    return isUnread || (workflow.isComposite && pathHere(value) !== null) ? undefined : get(name);
  };
  const schema = known('schema');
  const policy = schema === undefined ? null : await readPolicy(schema, known('gate'), files, report);
  step.outputs = policy?.outputs ?? null;
  return policy;
}

/** Finds what keeps a step from ever being green. */
async function checkLimits({ workflow, job, config, get, report }: Given): Promise<void> {
  const label = job.labels.find((each) => !each.startsWith('ubuntu'));
  if (label !== undefined && config.sandbox === 'required' && get('sandbox') !== undefined)
    workflow.report(job.node, ['runs-on'], JOB.noSandbox(label));
  if (config.maxTurns === 0) report('max-turns', JOB.noTurn);
  const { provider, model, baseUrl } = config.model;
  const isKnown = (['model', 'base-url', 'provider'] as const).every((name) => get(name) !== undefined);
  if (config.maxCostUsd === null || config.replay !== null || !isKnown || model === '') return;
  if ((await createPricer({ provider, model, baseUrl })(NO_USAGE)) === null)
    report('max-cost-usd', refused('input', messageOf(unknownPriceError(model))));
}

/** Checks the files that inputs name; returns the inputs whose file cannot be read here. */
async function checkFiles({ job, step, get, report }: Given, root: string, { readFile }: Files) {
  const missing = new Set<InputName>();
  const before = job.steps.filter(({ index }) => index < step.index);
  const isBase = (get('trusted-files') ?? 'workspace') !== 'workspace';
  // On a runner of one's own, or in a container, the files may be there already.
  const isHosted = job.labels.length > 0 && valueAt(job.node, 'container') === null;
  const isEmpty = isHosted && before.every(({ uses }) => /^actions\/setup-/u.test(uses));
  for (const input of ['schema', 'gate', 'prompt-file', 'replay', 'working-directory'] as const) {
    const value = get(input) ?? '';
    const file = input === 'schema' || input === 'gate' ? pathHere(value) : value;
    if (file === null || path.posix.resolve('/', file) === '/' || isInOtherRepository(value)) continue;
    const isFolder = input === 'working-directory';
    const problem = await (isFolder ? folderProblem(file, root) : fileProblem(input, await readFile(file)));
    if (problem !== null) {
      missing.add(input);
      const isCertain = !isBase && !before.some((each) => mayBring(each, path.posix.basename(file)));
      const fault = refused('missing-file', problem);
      report(input, isCertain ? fault : soften(fault));
    } else if (isEmpty && !isBase) report(input, INPUT.noCheckout(input));
  }
  return missing;
}

async function folderProblem(folder: string, root: string): Promise<string | null> {
  const refusal = await resolveWorkingDirectory(folder, root).catch((error: unknown) => error);
  return refusal instanceof Error ? refusal.message : null;
}

function fileProblem(input: InputName, reading: Reading): string | null {
  if (!reading.ok) return `${input}: ${reading.problem}`;
  const isEmpty = input === 'prompt-file' && reading.text.trim() === '';
  return isEmpty ? 'prompt-file is empty. Write the task into it.' : null;
}

/** Whether an earlier step may bring a file that the checkout does not have. */
function mayBring({ node, uses }: StepNode, file: string): boolean {
  if (/^actions\/(?:setup-[\w-]+|cache|upload-artifact)@/u.test(uses)) return false;
  const isPlain = ['repository', 'ref', 'path'].every((key) => valueAt(node, 'with', key) === null);
  if (/^actions\/checkout@/u.test(uses)) return !isPlain;
  return uses !== '' || mentions(node, file);
}

/** Without `permissions:` the settings of the repository decide, and another token has rights of its own. */
function checkPermissions({ workflow, job, get }: Given): void {
  const owner = [job.node, workflow.node].find((node) => valueAt(node, 'permissions') !== null);
  if (owner === undefined || get('github-token') !== null) return;
  const isAll = scalarAt(owner, 'permissions') === 'write-all';
  const has = (right: string) => isAll || scalarAt(owner, 'permissions', right) === 'write';
  const demand = (input: string, right: string) =>
    workflow.report(owner, ['permissions'], JOB.permission(input, `${right}: write`));
  const comments = !['never', 'off', null, undefined].includes(get('comment'));
  if (comments && !has('pull-requests') && !has('issues')) demand('comment', 'pull-requests');
  if (get('commit-status') !== null && !has('statuses')) demand('commit-status', 'statuses');
}

/** Checks what an outsider can bring into a job with the secrets of the repository. */
function checkTriggers({ workflow, job, step, get, report }: Given): void {
  // A called workflow has its caller's event.
  const event = workflow.events.find((each) => each !== 'workflow_call' && isPrivilegedTrigger(each));
  if (event === undefined) return;
  if (get('sandbox') === 'off') report('sandbox', JOB.refusedOnTrigger('sandbox: off', event));
  if (get('replay') !== null) report('replay', JOB.refusedOnTrigger('replay', event));
  const isStrangers = job.steps.some((each) => each.index < step.index && takesChange(each));
  if (!isStrangers || ['base', undefined].includes(get('trusted-files') ?? 'workspace')) return;
  for (const input of ['schema', 'gate', 'prompt-file'] as const) {
    const value = get(input);
    if (value && (input === 'prompt-file' || pathHere(value) !== null))
      report(input, JOB.policyInChange(input, event));
  }
}

/** Whether a step checks out anything but the default ref of the trigger, which is the repository's own code. */
function takesChange({ node, uses }: StepNode): boolean {
  if (/\bgh\s+pr\s+checkout\b|\bpull\/|FETCH_HEAD/u.test(scalarAt(node, 'run') ?? '')) return true;
  const ref = `${scalarAt(node, 'with', 'ref') ?? ''} ${scalarAt(node, 'with', 'repository') ?? ''}`;
  return /^actions\/checkout@/u.test(uses) && /head|merge|pull/iu.test(ref);
}
