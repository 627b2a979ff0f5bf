/** Decides which workflow triggers run untrusted content with the repository's rights. */

/**
 * The triggers that only give the repository's rights to users with write access. All others, including future ones,
 * may run with those rights on untrusted content: a comment, a discussion, a check on a fork's commit.
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

/** Whether an event, by its name in a workflow, runs untrusted content with the repository's rights. */
export function isPrivilegedTrigger(event: string): boolean {
  return !ORDINARY.has(event);
}
