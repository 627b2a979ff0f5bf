/** The job that merges verdicts: it is the check that is required, so it must run whatever became of the legs. */

import { type Files, pathHere } from '../../contract/source.ts';
import { MERGE_NAMES, type MergeInputName, parseMergeConfig } from '../../merge/config.ts';
import { suggest } from '../../text/messages.ts';
import type { JsonObject } from '../../types.ts';
import {
  type Expression,
  embedded,
  evaluate,
  isTruthy,
  nodesOf,
  parseExpression,
  pathOf,
} from './expression.ts';
import { doubtful, type Fault, type Findings, refused, wrong } from './finding.ts';
import { gateFaults, type Judge } from './schema.ts';
import { collectInputs, type StepFault } from './step-inputs.ts';
import { type Job, judgeSteps, placeOf, type Source, type Step, type Workflow, withOf } from './workflow.ts';
import { entryAt, type Mapping, textAt, valueAt } from './yaml-file.ts';

/** Looks at when a merge runs, and at what it is given. */
export function checkMergeJob(workflow: Workflow, job: Job, step: Step, findings: Findings): void {
  const at = (owner: Job | Step, ...keys: readonly string[]) =>
    placeOf(workflow.file, owner.node, owner.start, ...keys);
  const skips = job.needs.length === 0 ? null : skippedJob(textAt(job.node, 'if'));
  if (skips !== null) findings.add(at(job, 'if'), skips);
  const condition = textAt(step.node, 'if');
  if (condition !== null && !isHarmless(conditionOf(condition)) && !isPlanned(condition, step))
    findings.add(at(step, 'if'), skippedStep);
  const early = legsBeside(workflow, job);
  if (early !== null) findings.add(at(job, 'needs'), early);
  for (const each of job.steps.filter(({ index }) => index < step.index)) {
    if (textAt(valueAt(each.node, 'with'), 'merge-multiple') !== 'true') continue;
    if (isUse(each, 'actions/download-artifact')) findings.add(at(each, 'with', 'merge-multiple'), oneFolder);
  }
}

/** Whether a step uses this action, whatever its version. */
export function isUse({ node }: Step, action: string): boolean {
  return (textAt(node, 'uses') ?? '').toLowerCase().startsWith(`${action}@`);
}

/** A condition as a tree; null for what is none, and for text around `${{ }}`. */
export function conditionOf(text: string): Expression | null {
  if (!text.includes('${{')) return parseExpression(text);
  const [first, ...others] = embedded(text);
  if (first === undefined || others.length > 0) return null;
  return text.replace(`\${{${first.text}}}`, '').trim() === '' ? parseExpression(first.text) : null;
}

/** The functions that a condition calls. */
function callsIn(root: Expression | null): readonly string[] {
  return root === null ? [] : [...nodesOf(root)].flatMap((node) => (node.kind === 'call' ? [node.name] : []));
}

/** What a job's condition makes of legs that are red, skipped or cancelled; null where nothing is wrong with it. */
function skippedJob(text: string | null): Fault | null {
  const root = text === null ? null : conditionOf(text);
  // What cannot be read is not judged here.
  if (text !== null && root === null) return null;
  const calls = callsIn(root);
  if (calls.includes('always')) {
    const asks = root !== null && [...nodesOf(root)].some((node) => pathOf(node)?.[0] === 'needs');
    return asks ? besides : null;
  }
  if (calls.includes('cancelled') && root !== null) {
    const value = evaluate(root, () => undefined);
    if (value === undefined || isTruthy(value)) return unlessCancelled;
  }
  return wrong(
    'merge-skipped',
    'After a red leg this job is skipped, and a required check that is skipped counts as passed.',
    'Set if: ${{ always() }} on the job.',
  );
}

const unlessCancelled = doubtful(
  'merge-skipped',
  'Where the run is cancelled this job is skipped, and a required check that is skipped counts as passed.',
  'Use always() instead.',
);

const besides = doubtful(
  'merge-skipped',
  'What became of the legs can skip this job, and a required check that is skipped counts as passed.',
  'Leave always() alone: a merge counts what is missing by itself.',
);

const skippedStep = doubtful(
  'merge-skipped',
  'Where this condition does not hold nothing is merged, and the job is green.',
  'Take it out, and let the job decide.',
);

const oneFolder = doubtful(
  'merge-multiple',
  'The result files of all legs have one name, and in one folder each replaces the one before.',
  'Take merge-multiple out: each artifact gets a folder then.',
);

/** What holds in every job that is not red already. */
function isHarmless(root: Expression | null): boolean {
  if (root === null || (root.kind === 'call' && root.name === 'success')) return true;
  return evaluate(root, () => undefined) === true;
}

/** Whether only a list of legs that was planned and is empty can skip the step: what has no value is not `'[]'`. */
function isPlanned(condition: string, { node }: Step): boolean {
  const expected = pathIn(conditionOf(textAt(valueAt(node, 'with'), 'expect') ?? ''));
  const root = conditionOf(condition);
  if (expected === null || root?.kind !== 'comparison' || root.operator !== '!=') return false;
  const isNone = (operand: Expression) => operand.kind === 'literal' && operand.value === '[]';
  const [one, other] = root.operands;
  return [one, other].some(isNone) && [one, other].some((operand) => pathIn(operand) === expected);
}

/** A path of properties as one text; null for anything else. */
function pathIn(root: Expression | null): string | null {
  return (root === null ? null : pathOf(root))?.join('\n') ?? null;
}

/** Legs of the same workflow that a merge does not wait for. */
function legsBeside(workflow: Workflow, job: Job): Fault | null {
  const waited = new Set<string>();
  const rest = [job];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    for (const id of next.needs.filter((each) => !waited.has(each))) {
      waited.add(id);
      rest.push(...workflow.jobs.filter((each) => each.id === id));
    }
  }
  const beside = workflow.jobs.filter(
    (each) =>
      each !== job &&
      !waited.has(each.id) &&
      judgeSteps(each).some((step) => textAt(valueAt(step.node, 'with'), 'leg') !== null),
  );
  // A workflow may hold legs of two merges; one that waits for none is wrong in any case.
  const [first] = beside;
  if (first === undefined || job.needs.length > 0) return null;
  const message = `This job does not wait for ${JSON.stringify(first.id)}, whose legs it merges.`;
  return doubtful('merge-too-early', message, `Add needs: ${first.id}.`);
}

/** What is known of a merge's inputs. */
export interface MergeStepInputs {
  /** As typed, trimmed; undefined where an expression decides, null where the input is absent. */
  readonly get: (name: MergeInputName) => string | null | undefined;
  readonly faults: readonly StepFault[];
}

const SECRET_INPUTS: readonly MergeInputName[] = ['signing-key', 'github-token'];

/** Reads the inputs of a merge, literal ones by its own rules. */
export function readMergeStep(step: Mapping): MergeStepInputs {
  const faults: StepFault[] = [];
  const given = collectInputs(step, MERGE_NAMES, SECRET_INPUTS, faults);
  const raw = new Map<MergeInputName, string>();
  const unknown = new Set<MergeInputName>();
  for (const [name, value] of given) {
    if (value === null) unknown.add(name);
    else raw.set(name, value);
  }
  for (const error of parseMergeConfig(raw, { environment: {}, unknown }).problems) {
    const name = MERGE_NAMES.find((each) => each === error.input);
    const key = name !== undefined && entryAt(valueAt(step, 'with'), name) !== null ? name : null;
    faults.push({ key, fault: refused(`input-${error.input ?? 'any'}`, error.message) });
  }
  return {
    faults,
    get(name) {
      const value = given.get(name);
      return value === undefined ? null : (value ?? undefined);
    },
  };
}

/** A merge with what is known of its inputs. */
export interface MergeStep {
  readonly job: Job;
  readonly step: Step;
  readonly inputs: MergeStepInputs;
}

/**
 * Looks at the schemas of the legs that a merge needs, as far as they are known.
 * @param files where a gate is read that is a file; null where its file may not be there yet.
 */
export async function checkMergeGate(
  workflow: Workflow,
  { job: merge, step: mergeStep, inputs }: MergeStep,
  sources: readonly Source[],
  files: Files | null,
  findings: Findings,
): Promise<void> {
  const gate = inputs.get('gate');
  if (gate === undefined) return;
  const schemas: JsonObject[] = [];
  const place = placeOf(workflow.file, mergeStep.node, mergeStep.start, 'with', 'gate');
  for (const { job, step, judge } of sources) {
    if (judge === null || !merge.needs.includes(job.id) || withOf(step, 'leg') === null) continue;
    schemas.push(judge.schema);
    if (gate === 'none' && isUngated(withOf(step, 'gate'), judge)) findings.add(place, passing);
    const fault = faultOf(gate ?? 'auto', withOf(step, 'gate'), judge);
    if (fault !== null) findings.add(placeOf(workflow.file, step.node, step.start, 'with', 'schema'), fault);
  }
  if (gate === null || files === null) return;
  for (const fault of await gateFaults(gate, schemas, files)) findings.add(place, fault);
}

/** Whether nothing asks a leg that speaks of passing whether it did. */
function isUngated(own: string | null, { hasGate, outputs }: Judge): boolean {
  const isOff = own === 'none' || (own === null && !hasGate);
  return isOff && outputs.some(({ name }) => name === 'passed');
}

function faultOf(gate: string, own: string | null, judge: Judge): Fault | null {
  const names = judge.outputs.map(({ name }) => name);
  if (gate === 'auto') {
    const ungated = own === 'none' || (own === null && !judge.hasGate);
    return ungated && !names.includes('passed') ? told(judge, silent, fix) : null;
  }
  if (gate === 'none' || pathHere(gate) !== null || !/^[\w.-]+$/u.test(gate) || names.includes(gate))
    return null;
  const near = suggest(gate, names);
  const message = `The gate of the merge wants "${gate}" to be true, which the schema of this leg does not declare: it never passes.`;
  return told(judge, message, near.length === 0 ? fix : `Did you mean ${near.join(' or ')}?`);
}

/** A schema that takes more than it declares may be given what it does not. */
function told({ schema }: Judge, message: string, what: string): Fault {
  return schema['additionalProperties'] === false
    ? wrong('leg-ungated', message, what)
    : doubtful('leg-ungated', message, what);
}

const passing = doubtful(
  'merge-ungated',
  'Every leg with a payload passes here, whatever "passed" says: the gate of the merge is none.',
  'Take it out: then "passed" is asked for. none belongs to the legs.',
);

const silent =
  'Nothing says whether this leg passes: it has no gate, its schema no property "passed", and the gate of the merge is auto (52).';
const fix = 'Set gate on the merge to what must hold, for example a boolean property of the schema.';

/** The one folder beside the checkout that every runner has. */
const TEMP = '${{runner.temp}}';

/** Holds folder and artifacts of the downloads in a merge's job against what the merge reads and the legs upload. */
export function checkDownload(
  workflow: Workflow,
  merge: Job,
  step: Step,
  inputs: MergeStepInputs,
  findings: Findings,
): void {
  const downloads = merge.steps.filter(
    (each) => each.index < step.index && isUse(each, 'actions/download-artifact'),
  );
  const [first] = downloads;
  // By other means it may come to anywhere.
  if (merge.steps.some(({ node }) => textAt(node, 'run') !== null)) return;
  if (first === undefined) {
    const before = merge.steps.filter(({ index }) => index < step.index);
    if (before.every(bringsNothing))
      findings.add(placeOf(workflow.file, step.node, step.start, 'with', 'verdicts'), nowhere);
    return;
  }
  const at = (owner: Step, key: string) => placeOf(workflow.file, owner.node, owner.start, 'with', key);
  const verdicts = withOf(step, 'verdicts');
  const folders = downloads.map((each) => withOf(each, 'path'));
  if (inputs.get('verdicts') !== null && verdicts !== null && !folders.some((each) => meets(each, verdicts)))
    findings.add(at(step, 'verdicts'), elsewhere);
  const uploads = workflow.jobs
    .filter(({ id }) => merge.needs.includes(id))
    .flatMap(({ steps }) => steps.filter((each) => isUse(each, 'actions/upload-artifact')));
  const names = uploads.map((each) => withOf(each, 'name'));
  // What is no archive bears the name of its file.
  const bare = uploads.some((each) => withOf(each, 'archive') === 'false');
  const one = withOf(first, 'name');
  const isFound = one === null || one.includes('${{') || names.some((each) => isNamed(each, one));
  if (downloads.length === 1 && names.length > 0 && !bare && !isFound)
    findings.add(at(first, 'name'), unnamed);
  for (const download of downloads) {
    const pattern = withOf(download, 'pattern');
    if (pattern === null || bare || names.length === 0 || names.some((name) => fits(name, pattern))) continue;
    findings.add(at(download, 'pattern'), unmatched);
  }
}

/** Whether a step is known to bring no artifacts. */
function bringsNothing(step: Step): boolean {
  return isUse(step, 'actions/checkout') || (textAt(step.node, 'uses') ?? '').startsWith('actions/setup-');
}

/** Whether one folder is the other or lies in it, or nobody can say; the root of the checkout holds all. */
function meets(download: string | null, verdicts: string): boolean {
  const [one, other] = [plain(download ?? ''), plain(verdicts)];
  if ([one, other].some((each) => each.replace(TEMP, '').includes('${{'))) return true;
  return one === '' || one === other || other.startsWith(`${one}/`) || one.startsWith(`${other}/`);
}

function plain(folder: string): string {
  return folder
    .replace(
      /\$\{\{((?:(?!\$\{\{|\}\}).)*)\}\}/gu,
      (_, inner: string) => `\${{${inner.trim().toLowerCase()}}}`,
    )
    .replace(/^\$\{\{github\.workspace\}\}\/?/u, '')
    .replace(/^(?:\.\/+)+|(?<!\/)\/+$/gu, '')
    .replace(/^\.$/u, '');
}

/** Whether a name and a pattern may begin alike: before the first expression, and the first wildcard. */
function fits(name: string | null, pattern: string): boolean {
  const [one = ''] = (name ?? 'artifact').split('${{');
  const [other = ''] = pattern.split(/[*?[{!(]|\$\{\{/u);
  return one.startsWith(other) || other.startsWith(one);
}

/** Whether a name may come to be this one. */
function isNamed(name: string | null, wanted: string): boolean {
  const [start = '', ...others] = (name ?? 'artifact').split('${{');
  return others.length === 0 ? start === wanted : wanted.startsWith(start);
}

const elsewhere = doubtful(
  'merge-folder',
  'No step before this one downloads into this folder, so that the merge finds nothing (52).',
  'Give actions/download-artifact the same path.',
);

const nowhere = doubtful(
  'merge-folder',
  'No step before this one downloads anything, so that the merge finds no verdict (52).',
  'Download the artifacts of the legs with actions/download-artifact before it.',
);

const unnamed = doubtful(
  'merge-pattern',
  'No artifact of the jobs that this one needs has this name, so that nothing is downloaded.',
  'Give a pattern that the names of the uploads begin with.',
);

const unmatched = doubtful(
  'merge-pattern',
  'No artifact of the jobs that this one needs begins like this pattern, so that nothing is downloaded.',
  'Correct the pattern, or the name of the upload.',
);
