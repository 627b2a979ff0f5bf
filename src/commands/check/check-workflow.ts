/** One workflow file: what its steps of the action say, and what is read of them. */
import path from 'node:path';
import { resolveWorkingDirectory } from '../../config/paths.ts';
import { type Files, isInOtherRepository, pathHere } from '../../contract/source.ts';
import { InputError } from '../../errors.ts';
import { createPricer, unknownPriceError } from '../../providers/pricing.ts';
import { PROVIDERS, type ProviderName, providerByName } from '../../providers/registry.ts';
import { NO_USAGE } from '../../text/usage.ts';
import { missingCheckout } from './checkout.ts';
import { createFindings, type Fault, type Findings, type Place, refused, wrong } from './finding.ts';
import { checkLegs, checkMatrix } from './legs.ts';
import {
  checkDownload,
  checkMergeGate,
  checkMergeJob,
  type MergeStep,
  type MergeStepInputs,
  readMergeStep,
} from './merge-job.ts';
import { checkForgiven, checkReads, checkUnknown } from './output-usage.ts';
import { MERGE_RUN_OUTPUTS, MERGED_OUTPUTS, RUN_OUTPUTS } from './outputs.ts';
import { checkMergeRights, checkRights } from './permissions.ts';
import { type Judge, type Judging, judgeOf } from './schema.ts';
import { calledWorkflows, type Judged } from './sources.ts';
import { readStepInputs, type StepInputs } from './step-inputs.ts';
import { checkHazards } from './unsafe-triggers.ts';
import {
  type Job,
  judgeSteps,
  mentions,
  mergeSteps,
  placeOf,
  type Source,
  type Step,
  type Workflow,
} from './workflow.ts';
import { valueAt } from './yaml-file.ts';

/** A step whose judge is known. */
export interface Used {
  readonly judge: Judge;
  readonly place: Place;
  /** null where nobody can say which. */
  readonly provider: ProviderName | null;
}

/** What a workflow is checked against. */
export interface Surroundings {
  readonly files: Files;
  /** The real folder of the checkout. */
  readonly root: string;
  /** Stands for schemas that cannot be read here; null for none. */
  readonly standIn: string | null;
  readonly findings: Findings;
  /** Reads the text of another workflow of the same checkout; null where it is none. */
  readonly readWorkflow: (file: string, text: string) => Promise<Workflow | null>;
}

/** Checks a workflow; gives the steps of the action whose schema is in order, null where it has no step of it. */
export async function checkWorkflow(
  alone: Workflow,
  surroundings: Surroundings,
): Promise<readonly Used[] | null> {
  const { findings } = surroundings;
  const used: Used[] = [];
  const called = await calledWorkflows(alone, surroundings.root, (file, text) =>
    judgedOf(file, text, surroundings),
  );
  const workflow: Workflow = { ...alone, called };
  const { sources, merges } = await checkSteps(workflow, surroundings, used);
  checkUnknown(workflow, findings);
  const isOurs = sources.length > 0 || [...called.values()].some((each) => each.isOurs);
  if (!isOurs) return null;
  for (const merge of workflow.isComposite ? [] : merges) {
    const gate = merge.inputs.get('gate');
    const files =
      isElsewhere(gate) || isWrittenBefore(gate, merge.job, merge.step) ? null : surroundings.files;
    await checkMergeGate(workflow, merge, sources, files, findings);
  }
  for (const source of sources) checkForgiven(source, workflow, sources, findings);
  checkReads(workflow, sources, findings);
  if (!workflow.isComposite) checkMatrix(workflow, findings);
  return used;
}

/** What the steps of another workflow give; what is wrong with them is found where that one is checked. */
async function judgedOf(file: string, text: string, surroundings: Surroundings): Promise<Judged | null> {
  const workflow = await surroundings.readWorkflow(file, text);
  if (workflow === null) return null;
  const { sources } = await checkSteps(workflow, { ...surroundings, findings: createFindings() }, []);
  return { workflow, sources };
}

/** Checks the steps of the action, each by itself. */
async function checkSteps(
  workflow: Workflow,
  surroundings: Surroundings,
  used: Used[],
): Promise<{ readonly sources: readonly Source[]; readonly merges: readonly MergeStep[] }> {
  const sources: Source[] = [];
  const merges: MergeStep[] = [];
  for (const job of workflow.jobs) {
    for (const step of judgeSteps(job)) {
      const judge = await checkStep(workflow, job, step, surroundings, used);
      sources.push({ job, step, judge, about: RUN_OUTPUTS });
    }
    for (const step of mergeSteps(job)) {
      merges.push({ job, step, inputs: checkMergeStep(workflow, job, step, surroundings.findings) });
      sources.push({ job, step, judge: MERGED, about: MERGE_RUN_OUTPUTS });
    }
  }
  return { sources, merges };
}

/** A merge is red unless it passed, whatever made it of. */
const MERGED: Judge = {
  name: 'merge',
  schema: {},
  outputs: MERGED_OUTPUTS,
  gated: ['passed'],
  hasGate: true,
};

function checkMergeStep(workflow: Workflow, job: Job, step: Step, findings: Findings): MergeStepInputs {
  const inputs = readMergeStep(step.node);
  for (const { key, fault } of inputs.faults) {
    findings.add(
      placeOf(workflow.file, step.node, step.start, ...(key === null ? [] : ['with', key])),
      fault,
    );
  }
  // The jobs around a composite action are its callers'.
  if (workflow.isComposite) return inputs;
  checkMergeRights(workflow, job, inputs, findings);
  checkMergeJob(workflow, job, step, findings);
  checkDownload(workflow, job, step, inputs, findings);
  checkLegs(workflow, job, step, inputs, findings);
  return inputs;
}

async function checkStep(
  workflow: Workflow,
  job: Job,
  step: Step,
  surroundings: Surroundings,
  used: Used[],
): Promise<Judge | null> {
  const { findings } = surroundings;
  const inputs = readStepInputs(
    step.node,
    environmentOf(workflow, job, step),
    workflow.isComposite || mentions(job.node, 'GITHUB_ENV'),
  );
  const faulty = new Set<string | null>();
  const say = (key: string | null, fault: Fault) => {
    faulty.add(key);
    findings.add(
      placeOf(workflow.file, step.node, step.start, ...(key === null ? [] : ['with', key])),
      fault,
    );
  };
  for (const { key, fault } of inputs.faults) say(key, fault);
  if (!workflow.isComposite) checkRights(workflow, job, inputs, findings);
  checkHazards(workflow, job, step, inputs, findings);
  for (const [key, fault] of await pathFaults(inputs, job, step, surroundings)) {
    if (!workflow.isComposite) say(key, fault);
  }
  if (excludesVerdict(inputs)) say('exclude-tools', noVerdict);
  const priceless = await priceFault(inputs);
  if (priceless !== null) say('max-cost-usd', priceless);
  const { judge, faults } = await judgeOfStep(inputs, job, step, surroundings);
  for (const { input, fault } of faults) {
    const isRead = fault.rule.endsWith('-source');
    // The paths of a composite action lead into the checkout of its caller, which may be another repository.
    if (isRead && workflow.isComposite && pathHere(inputs.get(input) ?? '') !== null) continue;
    say(input, isRead ? asRead(inputs, fault) : fault);
  }
  const unread = missingCheckout(job, step, inputs);
  // A file that cannot be read here either has been found already, with the checkout in its advice.
  if (unread !== null && !faulty.has(unread[0])) say(...unread);
  if (judge !== null) {
    const place = placeOf(workflow.file, step.node, step.start, 'with', 'schema');
    used.push({ judge, place, provider: providerOf(inputs) });
  }
  return judge;
}

const noVerdict = wrong(
  'no-verdict',
  'exclude-tools takes structured_output away, the only tool that delivers a verdict, so no run can end with one.',
  'Take structured_output out of exclude-tools.',
);

function excludesVerdict(inputs: StepInputs): boolean {
  return /(?:^|[\s,])struct(?:ured)?_?output(?:$|[\s,])/iu.test(inputs.get('exclude-tools') ?? '');
}

/** A limit on money for a model without a known price, which a run refuses; null where either is not known. */
async function priceFault(inputs: StepInputs): Promise<Fault | null> {
  const model = inputs.get('model');
  const baseUrl = inputs.get('base-url');
  const provider = providerOf(inputs);
  const isLimited = Number(inputs.get('max-cost-usd')) > 0;
  if (!isLimited || inputs.get('replay') !== null || typeof model !== 'string' || provider === null)
    return null;
  if (baseUrl === undefined) return null;
  const price = await createPricer({ provider, model, baseUrl })(NO_USAGE);
  return price === null ? refused('input-max-cost-usd', unknownPriceError(model).message) : null;
}

const NOTHING: Judging = { judge: null, faults: [] };

async function judgeOfStep(
  inputs: StepInputs,
  job: Job,
  step: Step,
  { files, standIn }: Surroundings,
): Promise<Judging> {
  const schema = inputs.get('schema');
  const gate = inputs.get('gate');
  const isUnknown = isElsewhere(schema) || isWrittenBefore(schema, job, step);
  const known = isUnknown ? standIn : schema;
  if (known === undefined || (isUnknown && known === null)) return NOTHING;
  const isKnown = !isElsewhere(gate) && !isWrittenBefore(gate, job, step);
  return judgeOf(known, isKnown ? gate : undefined, files);
}

/** Whether an input is decided by an expression, or read from another repository. */
function isElsewhere(value: string | null | undefined): boolean {
  if (typeof value !== 'string') return value === undefined;
  return isInOtherRepository(value);
}

/** Whether a step before may have written the file. */
function isWrittenBefore(value: string | null | undefined, job: Job, step: Step): boolean {
  const file = typeof value === 'string' ? pathHere(value) : null;
  if (file === null) return false;
  return job.steps.some(({ index, node }) => {
    const script = valueAt(node, 'run');
    return index < step.index && script !== null && mentions(script, path.posix.basename(file));
  });
}

/** Files and folders that a run would look for. */
async function pathFaults(
  inputs: StepInputs,
  job: Job,
  step: Step,
  { files, root }: Surroundings,
): Promise<readonly (readonly [string, Fault])[]> {
  const faults: (readonly [string, Fault])[] = [];
  const prompt = inputs.get('prompt-file');
  if (typeof prompt === 'string' && !isWrittenBefore(`@${prompt}`, job, step)) {
    const reading = await files.readFile(prompt);
    if (!reading.ok) {
      faults.push([
        'prompt-file',
        asRead(inputs, refused('input-prompt-file', `prompt-file: ${reading.problem}`)),
      ]);
    }
    if (reading.ok && reading.text.trim() === '') {
      faults.push([
        'prompt-file',
        wrong('input-prompt-file', 'prompt-file is empty.', 'Write the task into it.'),
      ]);
    }
  }
  const folder = inputs.get('working-directory');
  if (typeof folder === 'string') {
    const error = await resolveWorkingDirectory(folder, root).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error instanceof InputError)
      faults.push(['working-directory', refused('input-working-directory', error.message)]);
    else if (error !== null) throw error;
  }
  return faults;
}

/** A file that is read from another branch may differ from the one here. */
function asRead(inputs: StepInputs, fault: Fault): Fault {
  return inputs.get('trusted-files') === 'base' ? { ...fault, severity: 'warning' } : fault;
}

/** What the workflow sets for a step, literally or not. */
function environmentOf(workflow: Workflow, job: Job, step: Step): Readonly<Record<string, string>> {
  const variables = new Map<string, string>();
  for (const owner of [workflow.root, job.node, step.node]) {
    const node = valueAt(owner, 'env');
    for (const { key, value } of node?.kind === 'map' ? node.entries : []) {
      if (value.kind === 'scalar') variables.set(key, value.text.includes('${{') ? 'unknown' : value.text);
    }
  }
  return Object.fromEntries(variables);
}

/** The provider that the inputs name, or the model's name tells; null where an expression decides. */
function providerOf(inputs: StepInputs): ProviderName | null {
  const named = inputs.get('provider');
  const found = PROVIDERS.find((each) => each === named?.toLowerCase());
  if (found !== undefined || named !== null) return found ?? null;
  const model = inputs.get('model') ?? '';
  const known = providerByName(model);
  if (known !== null) return known;
  return model !== '' && inputs.get('base-url') !== null ? 'openai-compatible' : null;
}
