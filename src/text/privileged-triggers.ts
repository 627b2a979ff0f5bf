/** Decides which workflow triggers run untrusted content with the repository's rights. */

/** Only users with write access start these with the rights of the repository; any others may run untrusted content. */
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
