/** What makes a job dangerous around the action: strangers' code beside secrets, credentials, time that runs out. */

import { pathHere } from '../../contract/source.ts';
import { isPrivilegedTrigger } from '../../text/triggers.ts';
import { doubtful, type Fault, type Findings, wrong } from './finding.ts';
import type { StepInputs } from './step-inputs.ts';
import { type Job, placeOf, type Step, type Workflow } from './workflow.ts';
import { entryAt, textAt, valueAt } from './yaml-file.ts';

/** Looks at a step of the action and at what stands around it. */
export function checkHazards(
  workflow: Workflow,
  job: Job,
  step: Step,
  inputs: StepInputs,
  findings: Findings,
): void {
  const at = (owner: Job | Step, ...keys: readonly string[]) =>
    placeOf(workflow.file, owner.node, owner.start, ...keys);
  const event = workflow.events.find(isPrivileged) ?? null;
  const before = job.steps.filter((each) => each.index < step.index);
  const strange = event === null ? null : (before.find(takesStrangersCode) ?? null);
  if (event !== null && inputs.get('sandbox') === 'off') {
    findings.add(at(step, 'with', 'sandbox'), openTo(event, strange !== null));
  }
  for (const checkout of before.filter(isCheckout)) {
    if (textAt(valueAt(checkout.node, 'with'), 'persist-credentials') === 'false') continue;
    findings.add(at(checkout, 'uses'), keepsToken);
  }
  if (strange !== null && event !== null) {
    for (const each of before.filter(({ index }) => index > strange.index)) {
      if (textAt(each.node, 'run') !== null) findings.add(at(each, 'run'), runsBefore(event));
    }
    const files = (['schema', 'gate', 'prompt-file'] as const).filter((name) => isFile(name, inputs));
    const isBase = inputs.get('trusted-files') === 'base' || inputs.get('trusted-files') === undefined;
    for (const name of isBase ? [] : files) findings.add(at(step, 'with', name), ownJudge(name));
  }
  const late = tooShort(job, step, inputs);
  if (late !== null) findings.add(at(late.owner, 'timeout-minutes'), late.fault);
  if (inputs.get('on-missing-key') === 'skip' && inputs.get('api-key') === null) {
    const provider = inputs.get('provider');
    if (provider !== 'openai-compatible' && inputs.get('headers') === null) {
      findings.add(at(step, 'with', 'on-missing-key'), nobodyJudges);
    }
  }
}

function isCheckout({ node }: Step): boolean {
  return (textAt(node, 'uses') ?? '').toLowerCase().startsWith('actions/checkout@');
}

/** From the last checkout or fetch of a line on: from each of them to the end would be quadratic. */
const TAKES_HEAD =
  /\bgh\s+pr\s+checkout\b|\bgit\s+(?:checkout|fetch)\b(?:(?!\bgit\s+(?:checkout|fetch)\b).)*(?:pull\/|FETCH_HEAD|head)/iu;

/** A checkout of anything but what the trigger itself stands for, which is the repository's own. */
function takesStrangersCode(step: Step): boolean {
  const script = textAt(step.node, 'run') ?? '';
  if (TAKES_HEAD.test(script)) return true;
  if (!isCheckout(step)) return false;
  const given = valueAt(step.node, 'with');
  const ref = `${textAt(given, 'ref') ?? ''} ${textAt(given, 'repository') ?? ''}`;
  return /head|merge|pull|outputs\.|inputs\.|\.sha\b/iu.test(ref.replaceAll('github.sha', ''));
}

function openTo(event: string, checksOut: boolean): Fault {
  const code = checksOut ? "and runs the change's code without a wall" : 'without a wall';
  const message = `On ${event} the agent works with the repository's secrets on what a stranger wrote, ${code}: the run is refused (52).`;
  return wrong('open-sandbox', message, 'Use sandbox: required.');
}

const keepsToken = doubtful(
  'persisted-credentials',
  "The checkout keeps the job's token in .git, where commands can read it.",
  'Set persist-credentials: false.',
);

function runsBefore(event: string): Fault {
  const message = `On ${event} this runs with the repository's secrets after a stranger's code was checked out, without a wall.`;
  return doubtful(
    'strangers-code',
    message,
    'Run nothing of the checkout; leave it to the agent, whose shell is walled in.',
  );
}

function ownJudge(input: string): Fault {
  const message = `${input} is read from the checkout, so the change that is judged brings its own judge.`;
  return doubtful('judge-in-change', message, 'Set trusted-files: base.');
}

const nobodyJudges = doubtful(
  'never-judged',
  'on-missing-key: skip is set and no api-key: unless the runner has one, nothing is ever judged, and the step is green.',
  'Set api-key to a secret.',
);

function isFile(name: 'schema' | 'gate' | 'prompt-file', inputs: StepInputs): boolean {
  const value = inputs.get(name);
  if (typeof value !== 'string') return false;
  return name === 'prompt-file' || pathHere(value) !== null;
}

/** The job, or the step, is killed before the action can say why it ends. */
function tooShort(job: Job, step: Step, inputs: StepInputs): { owner: Job | Step; fault: Fault } | null {
  const given = inputs.get('timeout-minutes');
  const own = given === null ? 10 : Number(given);
  for (const owner of [step, job]) {
    const limit = Number(textAt(owner.node, 'timeout-minutes') ?? Number.NaN);
    if (!(limit <= own) || entryAt(owner.node, 'timeout-minutes') === null) continue;
    const message = `The runner ends this after ${limit} minutes, and the action has ${own}: it cannot say how it ended.`;
    const fix = 'Give the runner a few minutes more than the action.';
    return { owner, fault: doubtful('timeout', message, fix) };
  }
  return null;
}

/** A called workflow has the event of its caller. */
function isPrivileged(event: string): boolean {
  return event !== 'workflow_call' && isPrivilegedTrigger(event);
}
