/** Finds the policy files that a pull request changes. */
import nodePath from 'node:path';
import { readLink } from '../files/unsafe-links.ts';
import { GITHUB, SEARCH } from '../text/limits.ts';
import type { PolicyChange } from '../types.ts';
import { LaterPushError, type ListChangedFiles } from './changed-files.ts';
import type { EventFacts } from './event.ts';
import { repositoryPath } from './trusted-files.ts';

/** A policy file, with its path as typed. */
export interface PolicyFile {
  readonly what: Exclude<PolicyChange['what'], 'workflow'>;
  readonly path: string;
}

export interface PolicyChangesOptions {
  readonly event: EventFacts;
  /** null if there is no token. */
  readonly changed: ListChangedFiles | null;
  readonly workspace: string;
  readonly trusted: 'workspace' | 'base';
  /** GITHUB_WORKFLOW_REF: `owner/name/path@ref`; empty if not set by the runner. */
  readonly workflowRef: string;
}

/**
 * Returns the policy files among the changed files; empty if GitHub lists none. If the list has GitHub's maximum length
 * or belongs to a later push, a file missing from it may have changed as well, and is returned as `unlisted`. Never
 * rejects.
 */
export async function findPolicyChanges(
  files: readonly PolicyFile[],
  options: PolicyChangesOptions,
): Promise<readonly PolicyChange[]> {
  let isLater = false;
  const changed = await options.changed?.().catch((error: unknown) => {
    isLater = error instanceof LaterPushError;
    return isLater ? [] : null;
  });
  if (changed === null || changed === undefined) return [];
  const paths = new Set(changed.flatMap(({ path, previous }) => [path, previous]));
  const isWhole = !isLater && changed.length < GITHUB.changedFiles;
  const applied = options.trusted === 'workspace';
  const found: PolicyChange[] = [];
  const add = (change: PolicyChange, names: readonly string[]) => {
    const listed = names.filter((name) => paths.has(name));
    for (const path of listed) found.push({ ...change, path });
    if (listed.length === 0 && !isWhole) found.push({ ...change, unlisted: true });
  };
  for (const { what, path } of files) {
    const names = namesOf(path, options.workspace);
    const [name] = names;
    if (name !== undefined) add({ what, path: name, applied }, names);
  }
  const workflow = workflowPath(options);
  if (workflow !== null) add({ what: 'workflow', path: workflow, applied: true }, [workflow]);
  return found;
}

/**
 * Returns the paths of a file, the targets of its symbolic links, and every folder on the way: a changed link changes
 * the policy, also in the middle of the path. GitHub lists a folder only if it is a link or a submodule.
 */
function namesOf(file: string, workspace: string): readonly string[] {
  const names = new Set<string>();
  const pending = nodePath.resolve(workspace, file).split(nodePath.sep);
  let at: string = nodePath.sep;
  for (let links = 0; pending.length > 0; ) {
    at = nodePath.join(at, pending.shift() ?? '');
    names.add(nodePath.join(at, ...pending)).add(at);
    // null for a missing file, too: either the base's policy applies, or the run has already failed because of it.
    const target = links < SEARCH.symlinks ? readLink(at) : null;
    if (target === null) continue;
    links += 1;
    pending.unshift(...target.split(nodePath.sep));
    at = nodePath.isAbsolute(target) ? nodePath.sep : nodePath.dirname(at);
  }
  return [...new Set([...names].flatMap((each) => repositoryPath(each, workspace) ?? []))];
}

/** Events that run the workflow of the change: from the pull request merged with its base, or from the merge group. */
const BRINGS_WORKFLOW = new Set([
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'merge_group',
]);

/** Returns the path of the workflow if the event runs the pull request's version; other events run the base's. */
function workflowPath({ event, workflowRef }: PolicyChangesOptions): string | null {
  const prefix = `${event.repository}/`;
  if (!BRINGS_WORKFLOW.has(event.name)) return null;
  if (event.repository === '' || !workflowRef.startsWith(prefix)) return null;
  return workflowRef.slice(prefix.length).replace(/@[^@]*$/u, '');
}
