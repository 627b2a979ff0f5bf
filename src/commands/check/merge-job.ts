/** Checks the job that merges verdicts. It is the required check, so it must run whatever happened to the legs. */
import { type Files, pathHere } from '../../contract/source.ts';
import { MERGE_NAMES, type MergeInputName, parseMergeConfig } from '../../merge/config.ts';
import { conditionOf, type Expression, evaluate, isTruthy, nodesOf, pathOf } from './expression.ts';
import { type Fault, type Findings, refused } from './finding.ts';
import { LEG, MERGE } from './rules.ts';
import { gateFaults, type Policy } from './schema.ts';
import { collectInputs, type KnownInputs } from './step-inputs.ts';
import { actionSteps, isUse, type Job, type Source, type Step, type Workflow, withOf } from './workflow.ts';
import { entryAt, textAt, valueAt } from './yaml-file.ts';

export interface MergeStep {
  readonly job: Job;
  readonly step: Step;
  readonly inputs: MergeStepInputs;
}

export type MergeStepInputs = KnownInputs<MergeInputName>;

const SECRET_INPUTS: readonly MergeInputName[] = ['signing-key', 'github-token'];

/** Reads the inputs of a merge step; literal values are parsed as the merge does. */
export function readMergeStep({ node }: Step): MergeStepInputs {
  const { given, get, faults } = collectInputs(node, MERGE_NAMES, SECRET_INPUTS);
  const raw = new Map<MergeInputName, string>();
  const unknown = new Set<MergeInputName>();
  for (const [name, value] of given) {
    if (value === null) unknown.add(name);
    else raw.set(name, value);
  }
  const problems = parseMergeConfig(raw, { environment: {}, unknown }).problems.map(({ input, message }) => ({
    key: input !== null && entryAt(valueAt(node, 'with'), input) !== null ? input : null,
    fault: refused(`input-${input ?? 'any'}`, message),
  }));
  return { get, faults: [...faults, ...problems] };
}

export function checkMergeJob(workflow: Workflow, { job, step }: MergeStep, findings: Findings): void {
  findings.report(job, ['if'], job.needs.length > 0 && skipFault(textAt(job.node, 'if')));
  const condition = textAt(step.node, 'if');
  const root = condition === null ? null : conditionOf(condition);
  const isSkipped = root !== null && !alwaysHolds(root) && !isPlanned(root, step);
  findings.report(step, ['if'], isSkipped && MERGE.skippedStep);
  const beside = legsBeside(workflow, job);
  findings.report(job, ['needs'], beside !== undefined && MERGE.early(beside.id));
  for (const each of job.steps.filter(({ index }) => index < step.index)) {
    const isOne = withOf(each, 'merge-multiple') === 'true' && isUse(each, 'actions/download-artifact');
    findings.report(each, ['with', 'merge-multiple'], isOne && MERGE.oneFolder);
  }
}

/** Returns the fault of a job's condition when legs fail or are skipped or cancelled; null when there is none. */
function skipFault(text: string | null): Fault | null {
  const root = text === null ? null : conditionOf(text);
  // A condition that cannot be parsed is not checked here.
  if (text !== null && root === null) return null;
  const nodes = root === null ? [] : nodesOf(root);
  const calls = (name: string) => nodes.some((node) => node.kind === 'call' && node.name === name);
  if (calls('always'))
    return nodes.some((node) => pathOf(node)?.[0] === 'needs') ? MERGE.besidesAlways : null;
  const value = root !== null && calls('cancelled') && evaluate(root, () => undefined);
  return value === undefined || isTruthy(value) ? MERGE.skippedWhenCancelled : MERGE.skippedJob;
}

/** Whether a condition is true in every job that has not failed already. */
function alwaysHolds(root: Expression): boolean {
  return (root.kind === 'call' && root.name === 'success') || evaluate(root, () => undefined) === true;
}

/** Whether only a planned list of legs that is empty can skip the step: an output without a value is not `'[]'`. */
function isPlanned(root: Expression, step: Step): boolean {
  const expected = conditionOf(withOf(step, 'expect') ?? '');
  const path = expected === null ? undefined : pathOf(expected)?.join('\n');
  if (path === undefined || root.kind !== 'comparison' || root.operator !== '!=') return false;
  const isNone = (operand: Expression) => operand.kind === 'literal' && operand.value === '[]';
  return root.operands.some(isNone) && root.operands.some((operand) => pathOf(operand)?.join('\n') === path);
}

/** For a merge job without `needs`, returns a job in the same workflow that has legs; undefined otherwise. */
function legsBeside(workflow: Workflow, job: Job): Job | undefined {
  if (job.needs.length > 0) return undefined;
  return workflow.jobs.find(
    (each) => each !== job && actionSteps(each, 'run').some((step) => withOf(step, 'leg') !== null),
  );
}

/**
 * Checks the gate of a merge against the schemas of its legs, if they are known.
 * @param files reads a gate that is a file; null when the file may not exist yet
 */
export async function checkMergeGate(
  merge: MergeStep,
  sources: readonly Source[],
  files: Files | null,
  findings: Findings,
): Promise<void> {
  const gate = merge.inputs.get('gate');
  if (gate === undefined) return;
  const legs = sources.flatMap(({ job, step, policy }) =>
    policy !== null && merge.job.needs.includes(job.id) && withOf(step, 'leg') !== null
      ? [{ step, policy }]
      : [],
  );
  for (const { step, policy } of legs) {
    const names = policy.outputs.map(({ name }) => name);
    const own = withOf(step, 'gate');
    const isUngated = own === 'none' || (own === null && !policy.hasGate);
    const passes = gate === 'none' && isUngated && names.includes('passed');
    findings.report(merge.step, ['with', 'gate'], passes && MERGE.ungated);
    findings.report(step, ['with', 'schema'], gateFault(gate ?? 'auto', isUngated, names, policy));
  }
  if (gate === null || files === null) return;
  const schemas = legs.map(({ policy }) => policy.schema);
  for (const fault of await gateFaults(gate, schemas, files))
    findings.report(merge.step, ['with', 'gate'], fault);
}

function gateFault(
  gate: string,
  isUngated: boolean,
  names: readonly string[],
  { schema }: Policy,
): Fault | null {
  // A schema that allows undeclared properties may be given them.
  const isClosed = schema['additionalProperties'] === false;
  if (gate === 'auto') return isUngated && !names.includes('passed') ? LEG.ungated(isClosed) : null;
  const isProperty = gate !== 'none' && pathHere(gate) === null && /^[\w.-]+$/u.test(gate);
  return isProperty && !names.includes(gate) ? LEG.undeclaredGate(isClosed, gate, names) : null;
}

/** Compares the folder and artifacts downloaded in a merge's job with what the merge reads and the legs upload. */
export function checkDownload(
  workflow: Workflow,
  { job, step, inputs }: MergeStep,
  findings: Findings,
): void {
  const before = job.steps.filter(({ index }) => index < step.index);
  const downloads = before.filter((each) => isUse(each, 'actions/download-artifact'));
  const [first] = downloads;
  // A script may put the files anywhere.
  if (job.steps.some(({ node }) => textAt(node, 'run') !== null)) return;
  if (first === undefined) {
    findings.report(step, ['with', 'verdicts'], before.every(bringsNothing) && MERGE.noDownload);
    return;
  }
  const verdicts = withOf(step, 'verdicts');
  const isElsewhere =
    inputs.get('verdicts') !== null &&
    verdicts !== null &&
    !downloads.some((each) => meets(withOf(each, 'path'), verdicts));
  findings.report(step, ['with', 'verdicts'], isElsewhere && MERGE.folder);
  const uploads = workflow.jobs
    .filter(({ id }) => job.needs.includes(id))
    .flatMap(({ steps }) => steps.filter((each) => isUse(each, 'actions/upload-artifact')));
  // An artifact that is not archived is named after its file.
  if (uploads.length === 0 || uploads.some((each) => withOf(each, 'archive') === 'false')) return;
  const names = uploads.map((each) => withOf(each, 'name') ?? 'artifact');
  const wanted = withOf(first, 'name') ?? '${{';
  const isFound = wanted.includes('${{') || names.some((each) => mayBecome(each, wanted));
  findings.report(first, ['with', 'name'], downloads.length === 1 && !isFound && MERGE.unknownArtifact);
  for (const download of downloads) {
    const pattern = withOf(download, 'pattern');
    const isMatched = pattern === null || names.some((each) => fits(each, pattern));
    findings.report(download, ['with', 'pattern'], !isMatched && MERGE.unmatchedPattern);
  }
}

/** Whether a step is known not to download artifacts. */
function bringsNothing(step: Step): boolean {
  return isUse(step, 'actions/checkout') || step.uses.startsWith('actions/setup-');
}

/** The only folder outside the checkout that every runner has. */
const TEMP = '${{runner.temp}}';

/** Whether one folder is or contains the other, or that is unknown; the root of the checkout contains everything. */
function meets(download: string | null, verdicts: string): boolean {
  const [one, other] = [plainFolder(download ?? ''), plainFolder(verdicts)];
  if ([one, other].some((each) => each.replace(TEMP, '').includes('${{'))) return true;
  return one === '' || one === other || other.startsWith(`${one}/`) || one.startsWith(`${other}/`);
}

function plainFolder(folder: string): string {
  return folder
    .replace(
      /\$\{\{((?:(?!\$\{\{|\}\}).)*)\}\}/gu,
      (_, inner: string) => `\${{${inner.trim().toLowerCase()}}}`,
    )
    .replace(/^\$\{\{github\.workspace\}\}\/?/u, '')
    .replace(/^(?:\.\/+)+|(?<!\/)\/+$/gu, '')
    .replace(/^\.$/u, '');
}

/** Whether a name and a pattern can start with the same text, up to the first expression and the first wildcard. */
function fits(name: string, pattern: string): boolean {
  const [one = ''] = name.split('${{');
  const [other = ''] = pattern.split(/[*?[{!(]|\$\{\{/u);
  return one.startsWith(other) || other.startsWith(one);
}

/** Whether a name with expressions can evaluate to the given one. */
function mayBecome(name: string, wanted: string): boolean {
  const [start = '', ...others] = name.split('${{');
  return others.length === 0 ? start === wanted : wanted.startsWith(start);
}
