/** Which of a workflow's triggers run with the repository's rights on what a stranger wrote. */

/**
 * Triggers on which nobody but those who may write to the repository has its rights. All others, later ones too, may run with
 * them on what a stranger wrote: a comment, a discussion, a check on a fork's commit.
 */
const ORDINARY: ReadonlySet<string> = new Set([
  'push',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'merge_group',
  'schedule',
  'workflow_dispatch',
  'repository_dispatch',
  'release',
  'create',
  'delete',
]);

/** Whether an event, by its name in a workflow, gives a stranger's text the rights of the repository. */
export function isPrivilegedTrigger(event: string): boolean {
  return !ORDINARY.has(event);
}
