/** Checks a step of the action: its inputs, the files they name, and its schema and gate. */
import path from 'node:path';
import { resolveWorkingDirectory } from '../../config/paths.ts';
import { type Files, isInOtherRepository, pathHere } from '../../contract/source.ts';
import { InputError } from '../../errors.ts';
import { createPricer, unknownPriceError } from '../../providers/pricing.ts';
import { PROVIDERS, type ProviderName, providerByName } from '../../providers/registry.ts';
import { NO_USAGE } from '../../text/usage.ts';
import { checkCoverage } from './evidence.ts';
import { type Fault, type Findings, locate, refused } from './finding.ts';
import { checkPermissions } from './permissions.ts';
import { STEP } from './rules.ts';
import { type Policy, readPolicy } from './schema.ts';
import { readStepInputs, type StepInputs } from './step-inputs.ts';
import { checkSurroundings } from './unsafe-triggers.ts';
import { type Job, mentions, type Step, type Workflow } from './workflow.ts';
import { type SourceLocation, textAt, valueAt } from './yaml-file.ts';

/** A step whose schema is known. */
export interface Used {
  readonly policy: Policy;
  readonly location: SourceLocation;
  /** null when unknown. */
  readonly provider: ProviderName | null;
}

export interface StepSurroundings {
  readonly files: Files;
  /** The real path of the checkout. */
  readonly root: string;
  /** Used instead of schemas that cannot be read here; null for none. */
  readonly standIn: string | null;
  readonly findings: Findings;
}

/** Checks a step on its own; returns null when its schema is unknown or invalid. */
export async function checkStep(
  workflow: Workflow,
  job: Job,
  step: Step,
  surroundings: StepSurroundings,
): Promise<Used | null> {
  const { findings } = surroundings;
  const mayHaveKey = workflow.isComposite || mentions(job.node, 'GITHUB_ENV');
  const inputs = readStepInputs(step.node, environmentOf(workflow, job, step), mayHaveKey);
  const faulty = new Set<string | null>();
  const report = (input: string | null, fault: Fault | null | false) => {
    if (fault === null || fault === false) return;
    faulty.add(input);
    findings.report(step, input === null ? [] : ['with', input], fault);
  };
  for (const { key, fault } of inputs.faults) report(key, fault);
  // The surrounding job of a composite action, and the checkout that its paths refer to, are those of its caller.
  if (!workflow.isComposite) {
    checkPermissions(workflow, job, inputs, findings);
    report('prompt-file', await promptFault(inputs, job, step, surroundings.files));
    report('working-directory', await folderFault(inputs, surroundings.root));
  }
  checkSurroundings(workflow, job, step, inputs, findings);
  report('exclude-tools', excludesVerdict(inputs) && STEP.noVerdict);
  report('max-cost-usd', await priceFault(inputs));
  const { policy, faults } = await policyOf(inputs, job, step, surroundings);
  if (!faulty.has('min-coverage')) checkCoverage(workflow, job, step, inputs, findings);
  for (const { input, fault } of faults) {
    const isRead = fault.rule.endsWith('-source');
    if (isRead && workflow.isComposite && pathHere(inputs.get(input) ?? '') !== null) continue;
    report(input, isRead ? softenForBase(inputs, fault) : fault);
  }
  // A file that cannot be read here has been reported already, with advice about the checkout.
  const unread = inputWithoutCheckout(job, step, inputs);
  report(unread, unread !== null && !faulty.has(unread) && STEP.checkout(unread));
  return policy === null
    ? null
    : { policy, location: locate(step, 'with', 'schema'), provider: providerOf(inputs) };
}

function excludesVerdict(inputs: StepInputs): boolean {
  return /(?:^|[\s,])struct(?:ured)?_?output(?:$|[\s,])/iu.test(inputs.get('exclude-tools') ?? '');
}

/** Checks for a cost limit with a model of unknown price, which a run refuses; returns null when either is unknown. */
async function priceFault(inputs: StepInputs): Promise<Fault | null> {
  const [model, baseUrl, provider] = [inputs.get('model'), inputs.get('base-url'), providerOf(inputs)];
  if (!(Number(inputs.get('max-cost-usd')) > 0) || inputs.get('replay') !== null) return null;
  if (typeof model !== 'string' || provider === null || baseUrl === undefined) return null;
  const price = await createPricer({ provider, model, baseUrl })(NO_USAGE);
  return price === null ? refused('input-max-cost-usd', unknownPriceError(model).message) : null;
}

/** Returns the provider given by the inputs, or derived from the model's name; null when computed by an expression. */
function providerOf(inputs: StepInputs): ProviderName | null {
  const named = inputs.get('provider');
  const found = PROVIDERS.find((each) => each === named?.toLowerCase());
  if (found !== undefined || named !== null) return found ?? null;
  const model = inputs.get('model') ?? '';
  const known = providerByName(model);
  if (known !== null) return known;
  return model !== '' && inputs.get('base-url') !== null ? 'openai-compatible' : null;
}

async function policyOf(
  inputs: StepInputs,
  job: Job,
  step: Step,
  { files, standIn }: StepSurroundings,
): ReturnType<typeof readPolicy> {
  const [schema, gate] = [inputs.get('schema'), inputs.get('gate')];
  const isKnown = isKnownHere(schema, job, step);
  if (!isKnown && standIn === null) return { policy: null, faults: [] };
  return readPolicy(
    isKnown ? (schema ?? null) : standIn,
    isKnownHere(gate, job, step) ? gate : undefined,
    files,
  );
}

/**
 * Whether the value of an input can be resolved here: no expression, and no file of another repository or an earlier
 * step.
 */
export function isKnownHere(value: string | null | undefined, job: Job, step: Step): boolean {
  if (typeof value !== 'string') return value === null;
  return !isInOtherRepository(value) && !isWrittenBefore(value, job, step);
}

/** Whether an earlier step may have written the file. */
function isWrittenBefore(value: string, job: Job, step: Step): boolean {
  const file = pathHere(value);
  if (file === null) return false;
  return job.steps.some(({ index, node }) => {
    const script = valueAt(node, 'run');
    return index < step.index && script !== null && mentions(script, path.posix.basename(file));
  });
}

async function promptFault(inputs: StepInputs, job: Job, step: Step, files: Files): Promise<Fault | null> {
  const prompt = inputs.get('prompt-file');
  if (typeof prompt !== 'string' || isWrittenBefore(`@${prompt}`, job, step)) return null;
  const reading = await files.readFile(prompt);
  if (reading.ok) return reading.text.trim() === '' ? STEP.emptyPrompt : null;
  return softenForBase(inputs, refused('input-prompt-file', `prompt-file: ${reading.problem}`));
}

async function folderFault(inputs: StepInputs, root: string): Promise<Fault | null> {
  const folder = inputs.get('working-directory');
  if (typeof folder !== 'string') return null;
  try {
    await resolveWorkingDirectory(folder, root);
    return null;
  } catch (thrown) {
    if (!(thrown instanceof InputError)) throw thrown;
    return refused('input-working-directory', thrown.message);
  }
}

/** Reduces the severity for files read from another branch, which may differ from the local ones. */
function softenForBase(inputs: StepInputs, fault: Fault): Fault {
  return inputs.get('trusted-files') === 'base' ? { ...fault, severity: 'warning' } : fault;
}

/** Returns the variables that the workflow sets for the step, literal or not. */
function environmentOf(workflow: Workflow, job: Job, step: Step): Readonly<Record<string, string>> {
  const variables = new Map<string, string>();
  for (const owner of [workflow, job, step]) {
    const node = valueAt(owner.node, 'env');
    for (const { key, value } of node?.kind === 'map' ? node.entries : []) {
      if (value.kind === 'scalar') variables.set(key, value.text.includes('${{') ? 'unknown' : value.text);
    }
  }
  return Object.fromEntries(variables);
}

/** Actions that add no files to the workspace. Any other action may. */
const BRINGS_NO_FILE = /^actions\/(?:setup-[\w-]+|create-github-app-token|labeler|upload-artifact)@/iu;

/** Commands that can add files from elsewhere, or run what did. */
const BRINGS_FILES =
  /\b(?:git|gh|hub|curl|wget|tar|unzip|cp|mv|rsync|scp|aws|az|gcloud|gsutil|docker|podman|svn|hg|invoke-webrequest)\b/iu;

/** Returns the input that names a file of a checkout that no step makes; null when that is uncertain. */
function inputWithoutCheckout(job: Job, step: Step, inputs: StepInputs): string | null {
  // Files of the base branch are read through the API. On a self-hosted runner an earlier job may have left the files.
  if (inputs.get('trusted-files') !== null && inputs.get('trusted-files') !== 'workspace') return null;
  if (!isHosted(job)) return null;
  for (const input of ['schema', 'gate', 'prompt-file', 'replay', 'working-directory'] as const) {
    const value = inputs.get(input);
    if (typeof value !== 'string') continue;
    const file = input === 'schema' || input === 'gate' ? pathHere(value) : value;
    if (file === null || path.posix.resolve('/', file) === '/') continue;
    const before = job.steps.filter(({ index }) => index < step.index);
    return before.every((each) => bringsNothing(each, path.posix.basename(file))) ? input : null;
  }
  return null;
}

/** Whether the job surely starts in an empty workspace: on a GitHub-hosted runner label, outside a container. */
function isHosted({ node }: Job): boolean {
  const label = textAt(node, 'runs-on');
  return (
    label !== null && /^(?:ubuntu|windows|macos)-[\w.-]+$/u.test(label) && valueAt(node, 'container') === null
  );
}

function bringsNothing({ node, uses }: Step, file: string): boolean {
  if (uses !== '') return BRINGS_NO_FILE.test(uses);
  const script = textAt(node, 'run') ?? '';
  return !script.includes(file) && !BRINGS_FILES.test(script);
}
