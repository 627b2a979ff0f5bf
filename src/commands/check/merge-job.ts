/** The job that merges verdicts: it is the check that is required, so it must run whatever became of the legs. */
import { evaluate, isTruthy } from './evaluate.ts';
import { type Expression, embedded, nodesOf, parseExpression, pathOf } from './expression.ts';
import { doubtful, type Fault, type Findings, wrong } from './finding.ts';
import { type Job, judgeSteps, placeOf, type Step, type Workflow } from './workflow.ts';
import { textAt, valueAt } from './yaml-file.ts';

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
export function callsIn(root: Expression | null): readonly string[] {
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
  if (expected === null || root?.kind !== 'binary' || root.operator !== '!=') return false;
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
