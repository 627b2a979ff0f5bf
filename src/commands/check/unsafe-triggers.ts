/** Checks what makes a job around the action dangerous: untrusted code next to secrets, credentials, timeouts. */
import { pathHere } from '../../contract/source.ts';
import { isPrivilegedTrigger } from '../../text/triggers.ts';
import type { Findings } from './finding.ts';
import { STEP } from './rules.ts';
import type { StepInputs } from './step-inputs.ts';
import { isUse, type Job, type Step, type Workflow, withOf } from './workflow.ts';
import { textAt } from './yaml-file.ts';

export function checkSurroundings(
  workflow: Workflow,
  job: Job,
  step: Step,
  inputs: StepInputs,
  findings: Findings,
): void {
  const before = job.steps.filter((each) => each.index < step.index);
  for (const checkout of before.filter((each) => isUse(each, 'actions/checkout'))) {
    const isKept = withOf(checkout, 'persist-credentials') !== 'false';
    findings.report(checkout, ['uses'], isKept && STEP.credentials);
  }
  checkTrigger(workflow, step, before, inputs, findings);
  checkTimeout(job, step, inputs, findings);
  const isNeverRun =
    inputs.get('on-missing-key') === 'skip' &&
    inputs.get('api-key') === null &&
    inputs.get('provider') !== 'openai-compatible' &&
    inputs.get('headers') === null;
  findings.report(step, ['with', 'on-missing-key'], isNeverRun && STEP.neverRun);
}

/** Checks what an outsider can bring into a job that has the rights and secrets of the repository. */
function checkTrigger(
  { events }: Workflow,
  step: Step,
  before: readonly Step[],
  inputs: StepInputs,
  findings: Findings,
): void {
  // A called workflow has its caller's event.
  const event = events.find((each) => each !== 'workflow_call' && isPrivilegedTrigger(each));
  if (event === undefined) return;
  const change = before.find(takesStrangersCode);
  const isOpen = inputs.get('sandbox') === 'off';
  findings.report(step, ['with', 'sandbox'], isOpen && STEP.unsandboxed(event, change !== undefined));
  if (change === undefined) return;
  for (const each of before.filter(({ index }) => index > change.index)) {
    findings.report(each, ['run'], textAt(each.node, 'run') !== null && STEP.strangersCode(event));
  }
  const trusted = inputs.get('trusted-files');
  if (trusted === 'base' || trusted === undefined) return;
  for (const name of ['schema', 'gate', 'prompt-file'] as const) {
    const value = inputs.get(name);
    const isFile = typeof value === 'string' && (name === 'prompt-file' || pathHere(value) !== null);
    findings.report(step, ['with', name], isFile && STEP.policyInChange(name));
  }
}

/** Starts from the last checkout or fetch in a line: matching from each of them to the end would be quadratic. */
const TAKES_HEAD =
  /\bgh\s+pr\s+checkout\b|\bgit\s+(?:checkout|fetch)\b(?:(?!\bgit\s+(?:checkout|fetch)\b).)*(?:pull\/|FETCH_HEAD|head)/iu;

/** Whether a step checks out anything other than the trigger's default ref, which is the repository's own code. */
function takesStrangersCode(step: Step): boolean {
  if (TAKES_HEAD.test(textAt(step.node, 'run') ?? '')) return true;
  if (!isUse(step, 'actions/checkout')) return false;
  const ref = `${withOf(step, 'ref') ?? ''} ${withOf(step, 'repository') ?? ''}`;
  return /head|merge|pull|outputs\.|inputs\.|\.sha\b/iu.test(ref.replaceAll('github.sha', ''));
}

/** Reports the step, or else the job, whose timeout ends it before the action can report how it ended. */
function checkTimeout(job: Job, step: Step, inputs: StepInputs, findings: Findings): void {
  const given = inputs.get('timeout-minutes');
  const own = given === null ? 10 : Number(given);
  for (const owner of [step, job]) {
    const limit = Number(textAt(owner.node, 'timeout-minutes') ?? Number.NaN);
    if (!(limit <= own)) continue;
    findings.report(owner, ['timeout-minutes'], STEP.timeout(limit, own));
    return;
  }
}
