/** Checks a step that runs the agent: its inputs, the files that they name, and the job and triggers around it. */
import path from 'node:path';
import { INPUTS, type InputName, meantInputs } from '../../config/inputs.ts';
import { type Config, parseConfig } from '../../config/parse-config.ts';
import { resolveWorkingDirectory } from '../../config/paths.ts';
import { type Files, isInOtherRepository, pathHere } from '../../contract/source.ts';
import { InputError } from '../../errors.ts';
import { createPricer, unknownPriceError } from '../../providers/pricing.ts';
import { isPrivilegedTrigger } from '../../text/triggers.ts';
import { NO_USAGE } from '../../text/usage.ts';
import { expressionsIn } from './conditions.ts';
import { type Policy, readPolicy } from './policy.ts';
import { type Fault, INPUT, JOB, refused, soften } from './rules.ts';
import {
  entriesOf,
  type Job,
  mentions,
  type Step,
  scalarsIn,
  textAt,
  textOf,
  valueAt,
  type Workflow,
} from './workflow.ts';

/** The inputs of a step, by name and trimmed, as far as they are literal. */
export interface GivenInputs<N extends string> {
  readonly given: ReadonlyMap<N, string>;
  /** The inputs that an expression computes. */
  readonly unknown: ReadonlySet<N>;
}

/** Inputs that must not be readable in a workflow file. */
const SECRETS: readonly string[] = ['api-key', 'github-token', 'signing-key'];

/** Reads the inputs of a step; reports those that do not exist, are no texts, or are written out secrets. */
export function readInputs<N extends string>(
  { report }: Workflow,
  { node }: Step,
  names: readonly N[],
): GivenInputs<N> {
  const given = new Map<N, string>();
  const unknown = new Set<N>();
  for (const [key, value] of entriesOf(valueAt(node, 'with'))) {
    const name = names.find((each) => each === key.toLowerCase());
    const text = textOf(value);
    const fault = (which: Fault) => report(node, ['with', key], which);
    if (name === undefined) fault(INPUT.unknown(key, meantInputs(key, names)));
    else if (text === null) fault(INPUT.notText(name));
    else if (text.includes('${{')) {
      // Names of headers are usually literal; only their values come from secrets.
      const known = expressionsIn(text, false).reduce(
        (before, inner) => before.replace(`\${{${inner}}}`, 'unknown'),
        text,
      );
      if (name === 'headers') given.set(name, known);
      else unknown.add(name);
    } else {
      given.set(name, text.trim());
      if (SECRETS.includes(name) && text.trim() !== '') fault(INPUT.secret(name));
    }
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
  ['base-url', 'https://unknown.invalid/v1'],
  ['provider', 'openai'],
  ['replay', 'unknown'],
]);

/** A step with its inputs, as the checks of it need them. */
interface Given {
  readonly workflow: Workflow;
  readonly job: Job;
  readonly step: Step;
  readonly config: Config;
  /** As typed; null when absent, undefined when an expression computes it. */
  readonly get: (input: InputName) => string | null | undefined;
  readonly report: (input: InputName, fault: Fault) => void;
}

/** Checks a step; returns null if its schema is invalid or not known. */
export async function checkStep(
  workflow: Workflow,
  job: Job,
  step: Step,
  root: string,
  files: Files,
): Promise<Policy | null> {
  const { given, unknown } = readInputs(workflow, step, NAMES);
  const raw = new Map(given);
  for (const name of unknown) raw.set(name, STAND_INS.get(name) ?? '');
  // The URL of an Azure endpoint may contain more than any other, and the other vendors need none.
  if (unknown.has('provider') && given.has('base-url')) raw.set('provider', 'azure-openai');
  if (unknown.has('prompt') && raw.has('prompt-file')) raw.delete('prompt');
  for (const [name, text] of raw) if (text === '') raw.delete(name);
  const environment = environmentOf(workflow, job, step);
  const { config, problems } = parseConfig(raw, { environment });
  const report: Given['report'] = (input, fault) => workflow.report(step.node, ['with', input], fault);
  const mayHaveKey = workflow.isComposite || mentions(job.node, 'GITHUB_ENV');
  for (const { input, message } of problems) {
    if (input === 'api-key' && mayHaveKey) continue;
    workflow.report(step.node, input === null ? [] : ['with', input], refused('input', message));
  }
  const get = (name: InputName) => (unknown.has(name) ? undefined : (given.get(name) ?? null));
  const all: Given = { workflow, job, step, config, get, report };
  await checkLimits(all);
  // The job, the triggers and the checkout of a composite action are those of its caller.
  const missing = workflow.isComposite ? new Set<InputName>() : await checkFiles(all, root, files);
  if (!workflow.isComposite) {
    checkPermissions(all);
    checkTriggers(all);
  }
  const known = (name: 'schema' | 'gate') => {
    const value = get(name);
    const isFile = typeof value === 'string' && pathHere(value) !== null;
    const isElsewhere = typeof value === 'string' && isInOtherRepository(value);
    return isElsewhere || missing.has(name) || (isFile && workflow.isComposite) ? undefined : value;
  };
  const schema = known('schema');
  return schema === undefined ? null : readPolicy(schema, known('gate'), files, report);
}

/** Returns the variables that the workflow sets for the step; what an expression computes counts as set. */
function environmentOf(workflow: Workflow, job: Job, { node }: Step): Readonly<Record<string, string>> {
  const owners = [workflow.node, job.node, node];
  return Object.fromEntries(
    owners.flatMap((owner) =>
      entriesOf(valueAt(owner, 'env')).map(([key, value]) => [key, textOf(value) ?? '']),
    ),
  );
}

/** Finds what keeps a step from ever being green. */
async function checkLimits({ workflow, job, config, get, report }: Given): Promise<void> {
  const label = labelsOf(job.node).find((each) => !each.startsWith('ubuntu'));
  if (label !== undefined && config.sandbox === 'required' && get('sandbox') !== undefined)
    workflow.report(job.node, ['runs-on'], JOB.noSandbox(label));
  if (config.maxTurns === 0) report('max-turns', JOB.noTurn);
  if (config.excludeTools.includes('structured_output')) report('exclude-tools', JOB.noDelivery);
  const { provider, model, baseUrl } = config.model;
  const isKnown = (['model', 'base-url', 'provider'] as const).every((name) => get(name) !== undefined);
  if (config.maxCostUsd === null || config.replay !== null || !isKnown || model === '') return;
  if ((await createPricer({ provider, model, baseUrl })(NO_USAGE)) === null)
    report('max-cost-usd', refused('input', unknownPriceError(model).message));
}

const FILE_INPUTS = ['schema', 'gate', 'prompt-file', 'replay', 'working-directory'] as const;

/** Checks the files that inputs name; returns the inputs whose file cannot be read here. */
async function checkFiles(
  { job, step, get, report }: Given,
  root: string,
  files: Files,
): Promise<Set<InputName>> {
  const missing = new Set<InputName>();
  const before = job.steps.filter(({ index }) => index < step.index);
  const isBase = get('trusted-files') !== null && get('trusted-files') !== 'workspace';
  // On a runner of one's own, or in a container, the files may be there already.
  const isHosted = labelsOf(job.node).length > 0 && valueAt(job.node, 'container') === null;
  const isEmpty = isHosted && before.every(({ uses }) => /^actions\/setup-/u.test(uses));
  for (const input of FILE_INPUTS) {
    const value = get(input);
    if (typeof value !== 'string' || isInOtherRepository(value)) continue;
    const file = input === 'schema' || input === 'gate' ? pathHere(value) : value;
    if (file === null || path.posix.resolve('/', file) === '/') continue;
    const problem = await problemWith(input, file, root, files);
    if (problem !== null) {
      missing.add(input);
      const isCertain = !isBase && !before.some((each) => mayBring(each, path.posix.basename(file)));
      report(input, isCertain ? problem : soften(problem));
    } else if (isEmpty && !isBase) report(input, INPUT.noCheckout(input));
  }
  return missing;
}

async function problemWith(
  input: InputName,
  file: string,
  root: string,
  files: Files,
): Promise<Fault | null> {
  if (input !== 'working-directory') {
    const reading = await files.readFile(file);
    if (!reading.ok) return INPUT.missingFile(`${input}: ${reading.problem}`);
    return input === 'prompt-file' && reading.text.trim() === ''
      ? refused('missing-file', 'prompt-file is empty. Write the task into it.')
      : null;
  }
  try {
    await resolveWorkingDirectory(file, root);
    return null;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return INPUT.missingFile(error.message);
  }
}

/** Whether an earlier step may bring a file that the checkout does not have. */
function mayBring({ node, uses }: Step, file: string): boolean {
  if (/^actions\/(?:setup-[\w-]+|cache|upload-artifact)@/u.test(uses)) return false;
  const isPlain = ['repository', 'ref', 'path'].every((key) => valueAt(node, 'with', key) === null);
  if (/^actions\/checkout@/u.test(uses)) return !isPlain;
  return uses !== '' || mentions(node, file);
}

/** Returns the labels of GitHub's own runners. */
function labelsOf(job: Job['node']): readonly string[] {
  const labels = [...scalarsIn(valueAt(job, 'runs-on'))].map(({ scalar }) => textOf(scalar) ?? '');
  return labels.filter((label) => /^(?:ubuntu|windows|macos)-[\w.-]+$/u.test(label));
}

/** Without `permissions:` the settings of the repository decide, and another token has rights of its own. */
function checkPermissions({ workflow, job, get }: Given): void {
  const owner = [job.node, workflow.node].find((node) => valueAt(node, 'permissions') !== null);
  if (owner === undefined || get('github-token') !== null) return;
  const has = (right: string) => {
    const all = textAt(owner, 'permissions');
    return all === 'write-all' || textAt(owner, 'permissions', right) === 'write';
  };
  const demand = (input: 'comment' | 'commit-status', right: string) =>
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
    const isFile = typeof value === 'string' && (input === 'prompt-file' || pathHere(value) !== null);
    if (isFile) report(input, JOB.policyInChange(input, event));
  }
}

/** Whether a step checks out anything but the default ref of the trigger, which is the repository's own code. */
function takesChange({ node, uses }: Step): boolean {
  if (/\bgh\s+pr\s+checkout\b|\bpull\/|FETCH_HEAD/u.test(textAt(node, 'run') ?? '')) return true;
  const ref = `${textAt(node, 'with', 'ref') ?? ''} ${textAt(node, 'with', 'repository') ?? ''}`;
  return /^actions\/checkout@/u.test(uses) && /head|merge|pull/iu.test(ref);
}
