/** Checks whether a run can know the coverage that a step requires. */
import type { Findings } from './finding.ts';
import { STEP } from './rules.ts';
import type { StepInputs } from './step-inputs.ts';
import { isUse, type Job, mentions, type Step, type Workflow, withOf } from './workflow.ts';
import { textAt } from './yaml-file.ts';

/** Triggers that are about no change. Others may be about one, as `issue_comment` is on a pull request. */
const WITHOUT_CHANGE: ReadonlySet<string> = new Set([
  'schedule',
  'workflow_dispatch',
  'repository_dispatch',
  'issues',
  'release',
  'create',
  'delete',
  'discussion',
  'discussion_comment',
  'fork',
  'gollum',
  'label',
  'milestone',
  'page_build',
  'public',
  'registry_package',
  'watch',
]);

/** Triggers whose change git makes from the commits of the checkout. */
const FROM_GIT: readonly string[] = ['push', 'merge_group'];

/** Checks a share in `min-coverage`. With `auto` a run decides by what it knows, and an expression is not known here. */
export function checkCoverage(
  { events, isComposite }: Workflow,
  job: Job,
  step: Step,
  inputs: StepInputs,
  findings: Findings,
): void {
  const share = inputs.get('min-coverage');
  if (typeof share !== 'string' || /^(?:auto|off)$/iu.test(share)) return;
  if (inputs.get('context') === 'none') {
    findings.report(step, ['with', 'context'], STEP.coverageWithoutContext);
    return;
  }
  // The triggers of a composite action are its callers'.
  if (isComposite || isForSomeEvents(job) || isForSomeEvents(step)) return;
  const unknown = events.find((event) => WITHOUT_CHANGE.has(event));
  findings.report(step, ['with', 'min-coverage'], unknown !== undefined && STEP.coverageUnknown(unknown));
  const event = events.find((each) => FROM_GIT.includes(each));
  const shallow = event === undefined ? null : shallowCheckout(job, step);
  if (event !== undefined && shallow !== null)
    findings.report(shallow, ['with', 'fetch-depth'], STEP.coverageShallow(event));
}

/** Whether a condition chooses by the event, so that the job or the step may not run on every trigger. */
function isForSomeEvents({ node }: Job | Step): boolean {
  return (textAt(node, 'if') ?? '').includes('github.event');
}

/** Returns the last checkout before a step if nothing but a single commit is surely there; null otherwise. */
function shallowCheckout(job: Job, step: Step): Step | null {
  const before = job.steps.filter(({ index }) => index < step.index);
  const checkouts = before.filter((each) => isUse(each, 'actions/checkout'));
  const isShallow = (each: Step) => ['', '1'].includes(withOf(each, 'fetch-depth')?.trim() ?? '');
  const fetches = before.some(({ node }) => mentions(node, 'git fetch'));
  return fetches || !checkouts.every(isShallow) ? null : (checkouts.at(-1) ?? null);
}
