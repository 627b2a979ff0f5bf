/** Checks whether a job's token has the permissions it needs, and no others. */
import { type Fault, type Findings, locate } from './finding.ts';
import type { MergeStep } from './merge-job.ts';
import { STEP } from './rules.ts';
import type { StepInputs } from './step-inputs.ts';
import { actionSteps, type Job, type Workflow } from './workflow.ts';
import { entryAt, textAt } from './yaml-file.ts';

/** Pull request events: the agent is given the title, files and diff. */
const ABOUT_PULL_REQUESTS = new Set([
  'pull_request',
  'pull_request_target',
  'pull_request_review',
  'merge_group',
  'workflow_run',
  'issue_comment',
]);

/** Write permissions that are useful in a job that runs the agent. */
const USEFUL = new Set(['pull-requests', 'statuses', 'security-events', 'checks', 'issues', 'actions']);

export function checkPermissions(workflow: Workflow, job: Job, inputs: StepInputs, findings: Findings): void {
  const isAboutPull = workflow.events.some((each) => ABOUT_PULL_REQUESTS.has(each));
  const asked = askedFor(inputs);
  const read = asked.comments || !isAboutPull ? [] : ['pull-requests: read'];
  const needed = ['contents: read', ...read, ...asked.rights];
  const getsContext = inputs.get('context') !== 'none' && isAboutPull && !asked.isOther && !asked.comments;
  const faults = [
    ...(getsContext && !isGranted(job, 'pull-requests', 'read') ? [STEP.readPullRequest] : []),
    ...(isGranted(job, 'contents', 'read') ? [] : [STEP.readContents]),
  ];
  report(workflow, job, asked, needed.join(', '), faults, findings);
}

/** Checks the permissions of a job that merges verdicts: it reads files, and needs permissions only for reporting. */
export function checkMergePermissions(
  workflow: Workflow,
  { job, inputs }: MergeStep,
  findings: Findings,
): void {
  const asked = askedFor(inputs);
  report(workflow, job, asked, asked.rights.length === 0 ? '{}' : asked.rights.join(', '), [], findings);
}

interface Asked {
  readonly comments: boolean;
  readonly sets: boolean;
  /** Whether another token is used, which has its own permissions. */
  readonly isOther: boolean;
  readonly rights: readonly string[];
}

function askedFor(inputs: {
  readonly get: (name: 'comment' | 'commit-status' | 'github-token') => string | null | undefined;
}): Asked {
  const comments = (inputs.get('comment') ?? 'never') !== 'never';
  const sets = inputs.get('commit-status') !== null;
  const rights = [...(comments ? ['pull-requests: write'] : []), ...(sets ? ['statuses: write'] : [])];
  return { comments, sets, isOther: inputs.get('github-token') !== null, rights };
}

/** @param needed the permissions to grant when none are declared */
function report(
  workflow: Workflow,
  job: Job,
  { comments, sets, isOther }: Asked,
  needed: string,
  others: readonly Fault[],
  findings: Findings,
): void {
  if (job.permissions === null) {
    findings.add(job.file.locate(job.start), STEP.noPermissions(needed));
    return;
  }
  const missing = (input: string, right: string) =>
    isOther || isGranted(job, right, 'write') ? [] : [STEP.permission(input, `${right}: write`)];
  const spare = spareRights(job);
  const who = actionSteps(job, 'merge').length > 0 ? 'merge' : 'agent';
  const isOwn = entryAt(job.node, 'permissions') !== null;
  for (const fault of [
    ...(comments ? missing('comment', 'pull-requests') : []),
    ...(sets ? missing('commit-status', 'statuses') : []),
    ...others,
    ...(spare.length === 0 ? [] : [STEP.sparePermissions(who, spare)]),
  ]) {
    findings.add(locate(isOwn ? job : workflow, 'permissions'), fault);
  }
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
