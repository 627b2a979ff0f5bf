/** Whether a job's token may do what is asked of it, and no more. */
import { doubtful, type Fault, type Findings, wrong } from './finding.ts';
import type { MergeStepInputs } from './merge-job.ts';
import type { StepInputs } from './step-inputs.ts';
import { type Job, mergeSteps, placeOf, type Workflow } from './workflow.ts';
import { textAt } from './yaml-file.ts';

/** Events of a pull request: the agent is given its title, files and diff. */
const ABOUT_PULL_REQUESTS = new Set([
  'pull_request',
  'pull_request_target',
  'pull_request_review',
  'merge_group',
  'workflow_run',
  'issue_comment',
]);

/** Rights to write that an agent's job has a use for. */
const USEFUL = new Set(['pull-requests', 'statuses', 'security-events', 'checks', 'issues', 'actions']);

/** Looks at the permissions of a job with a step of the action. */
export function checkRights(workflow: Workflow, job: Job, inputs: StepInputs, findings: Findings): void {
  addTo(findings, workflow, job, faultsOf(workflow, job, inputs));
}

/** Looks at the permissions of a job that merges verdicts: it reads files, and needs rights only to tell. */
export function checkMergeRights(
  workflow: Workflow,
  job: Job,
  inputs: MergeStepInputs,
  findings: Findings,
): void {
  const asked = askedFor(inputs);
  const wanted = [
    ...(asked.comments ? ['pull-requests: write'] : []),
    ...(asked.sets ? ['statuses: write'] : []),
  ];
  const faults =
    job.permissions === null
      ? [unnamed(wanted.length === 0 ? '{}' : wanted.join(', '))]
      : [...writeFaults(job, asked), ...spareFaults(job)];
  addTo(findings, workflow, job, faults);
}

function addTo(findings: Findings, workflow: Workflow, job: Job, faults: readonly Fault[]): void {
  const key = job.node.entries.some((entry) => entry.key === 'permissions') ? 'permissions' : null;
  const place =
    key === null
      ? placeOf(workflow.file, workflow.root, job.start, ...(job.permissions === null ? [] : ['permissions']))
      : placeOf(workflow.file, job.node, job.start, key);
  const ownPlace = job.permissions === null ? workflow.file.place(job.start) : place;
  for (const fault of faults) findings.add(ownPlace, fault);
}

/** What a step wants to write, and whether with a token of its own. */
interface Asked {
  readonly comments: boolean;
  readonly sets: boolean;
  readonly isOther: boolean;
}

function askedFor({
  get,
}: {
  readonly get: (name: 'comment' | 'commit-status' | 'github-token') => string | null | undefined;
}): Asked {
  return {
    comments: (get('comment') ?? 'never') !== 'never',
    sets: get('commit-status') !== null,
    // Another token has rights of its own.
    isOther: get('github-token') !== null,
  };
}

function writeFaults(job: Job, { comments, sets, isOther }: Asked): readonly Fault[] {
  if (isOther) return [];
  return [
    ...(comments && !isGranted(job, 'pull-requests', 'write')
      ? [missing('comment', 'pull-requests: write')]
      : []),
    ...(sets && !isGranted(job, 'statuses', 'write') ? [missing('commit-status', 'statuses: write')] : []),
  ];
}

function faultsOf(workflow: Workflow, job: Job, inputs: StepInputs): readonly Fault[] {
  const asked = askedFor(inputs);
  if (job.permissions === null) return [unnamed(wanted(workflow, asked.comments, asked.sets))];
  const faults: Fault[] = [...writeFaults(job, asked)];
  const has = (name: string, least: 'read' | 'write') => isGranted(job, name, least);
  const reads =
    inputs.get('context') !== 'none' && workflow.events.some((each) => ABOUT_PULL_REQUESTS.has(each));
  if (!asked.isOther && reads && !asked.comments && !has('pull-requests', 'read')) {
    const message =
      'In a private repository the agent is not given title, files and diff of the pull request.';
    faults.push(doubtful('missing-permission', message, 'Add pull-requests: read, or set context: none.'));
  }
  if (!has('contents', 'read')) {
    const message = 'In a private repository neither a checkout nor a file of the base can be read.';
    faults.push(doubtful('missing-permission', message, 'Add contents: read.'));
  }
  return [...faults, ...spareFaults(job)];
}

function spareFaults(job: Job): readonly Fault[] {
  const spare = spareRights(job);
  if (spare.length === 0) return [];
  const message = `The ${mergeSteps(job).length > 0 ? 'merge' : 'agent'}'s job holds rights that it has no use for: ${spare.join(', ')}.`;
  return [doubtful('spare-permission', message, 'Move what needs them into a job of its own.')];
}

function wanted(workflow: Workflow, comments: boolean, sets: boolean): string {
  const reads = workflow.events.some((each) => ABOUT_PULL_REQUESTS.has(each));
  return [
    'contents: read',
    ...(comments || reads ? [`pull-requests: ${comments ? 'write' : 'read'}`] : []),
    ...(sets ? ['statuses: write'] : []),
  ].join(', ');
}

function unnamed(rights: string): Fault {
  const message =
    "No permissions are named, so the repository's settings decide what the token of this job may do.";
  return doubtful('no-permissions', message, `Set permissions: ${rights}.`);
}

function missing(input: string, right: string): Fault {
  const message = `${input} is asked for, and the job's token may not do it.`;
  return wrong('missing-permission', message, `Add ${right} to permissions.`);
}

function isGranted({ permissions }: Job, name: string, least: 'read' | 'write'): boolean {
  if (permissions?.kind === 'scalar') {
    return permissions.text === 'write-all' || (permissions.text === 'read-all' && least === 'read');
  }
  const granted = textAt(permissions, name);
  return granted === 'write' || granted === least;
}

function spareRights({ permissions }: Job): readonly string[] {
  if (permissions?.kind === 'scalar') return permissions.text === 'write-all' ? ['write-all'] : [];
  if (permissions?.kind !== 'map') return [];
  return permissions.entries
    .filter(({ key, value }) => !USEFUL.has(key) && value.kind === 'scalar' && value.text === 'write')
    .map(({ key }) => `${key}: write`);
}
