/** The files that a pull request changes, as GitHub lists them, and the policy files among them. */
import { readlinkSync } from 'node:fs';
import nodePath from 'node:path';
import { GITHUB } from '../text/limits.ts';
import type { PolicyChange } from '../types.ts';
import type { GitHub } from './api.ts';
import { type EventFacts, headOfEvent, member, textAt } from './event.ts';
import type { PullRequestFinder } from './pull-request.ts';
import { repositoryPath } from './trusted-files.ts';

/** Links that are followed to a file, as in Linux. */
const MAX_LINKS = 40;

/** A changed file; its names are chosen by the author and hostile. */
export interface ChangedFile {
  /** Relative to the repository root. */
  readonly path: string;
  /** Previous path of a renamed file; empty otherwise. */
  readonly previous: string;
  /** GitHub's status: added, removed, modified, renamed, copied, changed or unchanged. */
  readonly status: string;
  readonly additions: number;
  readonly deletions: number;
  /** The hunks of its unified diff; null if GitHub provides none (binary, too large, only renamed). */
  readonly patch: string | null;
  /** The blob id of its content, or of its former content if removed; empty if GitHub does not provide it. */
  readonly blob: string;
}

/** GitHub lists the files of the current head, which is not the judged commit: it was pushed later, for example. */
export class LaterPushError extends Error {}

/**
 * Lists the files; the request is made once and its result is cached. Resolves to null if there is no pull request.
 * @throws GitHubError
 * @throws LaterPushError
 */
export type ListChangedFiles = () => Promise<readonly ChangedFile[] | null>;

/**
 * Creates the function that lists the changed files of a run's pull request.
 * @param checkedOut the commit checked out in the judged folder; null if unknown.
 */
export function createChangedFiles(
  event: EventFacts,
  finder: PullRequestFinder,
  github: GitHub,
  checkedOut: string | null = null,
): ListChangedFiles {
  let listed: Promise<readonly ChangedFile[] | null> | null = null;
  const list = async () => {
    const number = finder.number ?? (await finder.find())?.number;
    if (number === undefined) return null;
    const [owner = '', repo = ''] = event.repository.split('/');
    const { items } = await github.paginate(
      '/repos/{owner}/{repo}/pulls/{pull_number}/files',
      { owner, repo, pull_number: number },
      GITHUB.changedFiles / 100,
    );
    const heads = new Set(items.map(headOf).filter((head) => head !== ''));
    // A later push may leave only deletions, which do not name a head.
    if (heads.size === 0 && event.name !== 'merge_group') {
      const { data } = await github.request('GET', '/repos/{owner}/{repo}/pulls/{pull_number}', {
        owner,
        repo,
        pull_number: number,
      });
      heads.add(textAt(data, 'head', 'sha'));
    }
    for (const head of heads) requireJudged(head, event, checkedOut);
    return items.map(readFile).filter(({ path }) => path !== '');
  };
  return () => {
    listed ??= list();
    return listed;
  };
}

/**
 * Returns the head commit of an entry, from the URL of its contents; empty if there is none, or the file is deleted.
 */
function headOf(value: unknown): string {
  if (textAt(value, 'status') === 'removed') return '';
  return /[?&]ref=([0-9a-f]{40}|[0-9a-f]{64})(?:&|$)/u.exec(textAt(value, 'contents_url'))?.[1] ?? '';
}

/**
 * Requires the listed head to be the event's head or, if the event names none, the checked-out commit. Nothing is
 * required for a merge group, or for a checkout of the base, where only the diff is judged.
 */
function requireJudged(head: string, event: EventFacts, checkedOut: string | null): void {
  if (event.name === 'merge_group') return;
  const named = headOfEvent(event);
  if (named === '' && (checkedOut === null || checkedOut === event.sha)) return;
  const judged = named || checkedOut;
  if (judged === head) return;
  const why = named === '' ? 'which is not checked out' : 'which was pushed later';
  throw new LaterPushError(
    `GitHub lists the files of ${head.slice(0, 12)}, ${why}, and not of ${judged?.slice(0, 12)}.`,
  );
}

function readFile(value: unknown): ChangedFile {
  const patch = member(value, 'patch');
  const count = (key: string) => Number(member(value, key)) || 0;
  return {
    path: textAt(value, 'filename'),
    previous: textAt(value, 'previous_filename'),
    status: textAt(value, 'status'),
    additions: count('additions'),
    deletions: count('deletions'),
    patch: typeof patch === 'string' && patch !== '' ? patch : null,
    blob: textAt(value, 'sha'),
  };
}

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

/** The change as it was read for the run: from git, if GitHub does not list all of it. */
export interface ReadChange {
  readonly files: readonly { readonly path: string; readonly previous: string | null }[];
  /** null if it is complete. */
  readonly incomplete: string | null;
}

/**
 * Returns the policy files among the changed files, which GitHub or else git knows; empty if neither does. If the lists
 * are not complete, or belong to a later push, a file missing from them may have changed as well, and is returned as
 * `unlisted`. Never rejects.
 */
export async function findPolicyChanges(
  files: readonly PolicyFile[],
  options: PolicyChangesOptions,
  read: Promise<ReadChange | null> = Promise.resolve(null),
): Promise<readonly PolicyChange[]> {
  const known = await findPaths(options, read);
  if (known === null) return [];
  const { paths, isWhole } = known;
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

/** Returns the paths of the changed files, and whether these are all; null if there is no pull request, or none is known. */
async function findPaths(
  { event, changed }: PolicyChangesOptions,
  read: Promise<ReadChange | null>,
): Promise<{ readonly paths: ReadonlySet<string>; readonly isWhole: boolean } | null> {
  let isLater = false;
  const listed = await changed?.().catch((error: unknown) => {
    isLater = error instanceof LaterPushError;
    return isLater ? [] : undefined;
  });
  if (listed === null) return null;
  const paths = new Set((listed ?? []).flatMap(({ path, previous }) => [path, previous]));
  if (listed !== undefined && !isLater && listed.length < GITHUB.changedFiles)
    return { paths, isWhole: true };
  // The change of a push is a part of what its pull request changes, if there is one.
  const own = event.name === 'push' ? null : await read;
  if (own === null) return listed === undefined ? null : { paths, isWhole: false };
  for (const { path, previous } of own.files) paths.add(path).add(previous ?? path);
  return { paths, isWhole: own.incomplete === null };
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
    const target = links < MAX_LINKS ? readLink(at) : null;
    if (target === null) continue;
    links += 1;
    pending.unshift(...target.split(nodePath.sep));
    at = nodePath.isAbsolute(target) ? nodePath.sep : nodePath.dirname(at);
  }
  return [...new Set([...names].flatMap((each) => repositoryPath(each, workspace) ?? []))];
}

/** Returns the target of a link; null if the path is not a link. */
function readLink(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch {
    return null;
  }
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
