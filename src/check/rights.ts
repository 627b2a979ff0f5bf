/** Whether a job's token may do what is asked of it, and no more. */
import { doubtful, type Fault, type Findings, wrong } from './finding.ts';
import type { StepInputs } from './step-inputs.ts';
import { type Job, placeOf, type Workflow } from './workflow.ts';
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
  const key = job.node.entries.some((entry) => entry.key === 'permissions') ? 'permissions' : null;
  const place =
    key === null
      ? placeOf(workflow.file, workflow.root, job.start, ...(job.permissions === null ? [] : ['permissions']))
      : placeOf(workflow.file, job.node, job.start, key);
  const ownPlace = job.permissions === null ? workflow.file.place(job.start) : place;
  for (const fault of faultsOf(workflow, job, inputs)) findings.add(ownPlace, fault);
}

function faultsOf(workflow: Workflow, job: Job, inputs: StepInputs): readonly Fault[] {
  const token = inputs.get('github-token');
  // Another token has rights of its own.
  const isOther = token !== null;
  const comment = inputs.get('comment') ?? 'never';
  const status = inputs.get('commit-status');
  if (job.permissions === null) return [unnamed(wanted(workflow, comment !== 'never', status !== null))];
  const faults: Fault[] = [];
  const has = (name: string, least: 'read' | 'write') => isGranted(job, name, least);
  if (!isOther && comment !== 'never' && !has('pull-requests', 'write')) {
    faults.push(missing('comment', 'pull-requests: write'));
  }
  if (!isOther && status !== null && !has('statuses', 'write')) {
    faults.push(missing('commit-status', 'statuses: write'));
  }
  const reads =
    inputs.get('context') !== 'none' && workflow.events.some((each) => ABOUT_PULL_REQUESTS.has(each));
  if (!isOther && reads && comment === 'never' && !has('pull-requests', 'read')) {
    const message =
      'In a private repository the agent is not given title, files and diff of the pull request.';
    faults.push(doubtful('missing-permission', message, 'Add pull-requests: read, or set context: none.'));
  }
  if (!has('contents', 'read')) {
    const message = 'In a private repository neither a checkout nor a file of the base can be read.';
    faults.push(doubtful('missing-permission', message, 'Add contents: read.'));
  }
  const spare = spareRights(job);
  if (spare.length > 0) {
    const message = `The agent's job holds rights that it has no use for: ${spare.join(', ')}.`;
    faults.push(doubtful('spare-permission', message, 'Move what needs them into a job of its own.'));
  }
  return faults;
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
