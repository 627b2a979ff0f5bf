/** Finds the pull request of a run, from the event or else from the API. */
import { GitHubError } from '../errors.ts';
import type { GitHub } from './api.ts';
import type { JudgedCommit } from './checked-out.ts';
import { type EventFacts, member, pullRequestNumber, textAt } from './event.ts';

/** A pull request. Title, body, author and branch names are hostile text. */
export interface PullRequest {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly base: { readonly ref: string; readonly sha: string };
  /** `repository` is `owner/name`; empty if the fork was deleted. */
  readonly head: { readonly ref: string; readonly sha: string; readonly repository: string };
  /** Number of changed files; null if unknown. */
  readonly changedFiles: number | null;
}

/** Finds the pull request of a run and its commits; the API is called at most once. */
export interface PullRequestFinder {
  /** The number if the event contains it; no request is made. */
  readonly number: number | null;
  /**
   * Resolves to null if the run has no pull request.
   * @throws GitHubError if the API was needed and failed.
   */
  find(): Promise<PullRequest | null>;
  /**
   * Returns the commit that a status is set on.
   * @param judged the judged commit, null if unknown; defaults to the checked-out commit.
   * @throws GitHubError
   */
  findStatusCommit(judged?: string | null): Promise<StatusCommit>;
}

/** A commit, and whether the verdict on the judged files applies to it. */
export interface StatusCommit {
  readonly sha: string;
  /**
   * Why the files of this commit may differ from the judged ones, in one or two sentences; null if they are the same.
   */
  readonly problem: string | null;
}

/**
 * Creates the finder of a run's pull request.
 * @param github null if there is no token; then only the event is read.
 * @param checkedOut the commit checked out in the judged folder; null if unknown.
 */
export function createPullRequestFinder(
  event: EventFacts,
  github: GitHub | null,
  checkedOut: JudgedCommit | null = null,
): PullRequestFinder {
  let found: Promise<PullRequest | null> | null = null;
  const number = pullRequestNumber(event);
  const find = () => {
    found ??= look(event, number, github);
    return found;
  };
  return {
    number,
    find,
    async findStatusCommit(judged) {
      const eventHead = headOfEvent(event);
      const pull = eventHead === '' && number !== null ? await find() : null;
      const head = eventHead || (pull?.head.sha ?? event.sha);
      const commit = judged === undefined ? (checkedOut?.sha ?? null) : judged;
      if (commit === null) return { sha: head, problem: judged === null ? UNLIKE : UNKNOWN };
      const parents = commit === checkedOut?.sha ? checkedOut.parents : null;
      if (commit === head || (await isMergeOf(head, { sha: commit, parents }, event, github)))
        return { sha: head, problem: null };
      // The current head may have been pushed after the checkout; then the older commit was judged. The event's own
      // commit is the base branch's here, and a status on it would be useless.
      const base = textAt(event.payload, 'pull_request', 'base', 'sha') || pull?.base.sha;
      const isBase = commit === event.sha || commit === base;
      return isBase ? { sha: head, problem: otherCommit(commit, head) } : { sha: commit, problem: null };
    },
  };
}

const UNKNOWN =
  'It is not known which commit was judged: in the workspace there is no checkout that git made, or there are several. Check out the commit with actions/checkout before this step, and where there are several checkouts name the folder of the judged one in working-directory.';
const UNLIKE =
  'It is not known which commit was judged: the legs checked out different ones, or do not say which. Let every leg check out the same commit before its step.';

function otherCommit(commit: string, head: string): string {
  return `The checkout is at ${commit.slice(0, 12)}, and not at the head ${head.slice(0, 12)} of the pull request, nor at a merge of it. Check out the head before this step: actions/checkout with its commit as ref.`;
}

const PULLS = '/repos/{owner}/{repo}/pulls';
const COMMIT_PULLS = '/repos/{owner}/{repo}/commits/{commit_sha}/pulls';

async function look(
  event: EventFacts,
  number: number | null,
  github: GitHub | null,
): Promise<PullRequest | null> {
  const told = readPullRequest(member(event.payload, 'pull_request'));
  if (told !== null) return told;
  if (github === null) return null;
  const [owner = '', repo = ''] = event.repository.split('/');
  if (number !== null) {
    const { data } = await github.request('GET', '/repos/{owner}/{repo}/pulls/{pull_number}', {
      owner,
      repo,
      pull_number: number,
    });
    return queued(readPullRequest(data), event);
  }
  const sha = headOfEvent(event) || (event.name === 'push' ? event.sha : '');
  if (sha === '') return null;
  const candidates = await candidatesOf(sha, event, github);
  const open = candidates.filter(
    (each) =>
      textAt(each, 'state') === 'open' &&
      textAt(each, 'head', 'sha') === sha &&
      textAt(each, 'base', 'repo', 'full_name') === event.repository,
  );
  // If there are several, it is ambiguous which one is meant.
  return open.length === 1 ? readPullRequest(open[0]) : null;
}

/**
 * Returns pull requests whose head may be the commit. A fork's commit does not appear in lists of the base repository's
 * commits, and `workflow_run.pull_requests` is empty for forks, so the open pull requests of the branch are listed.
 */
async function candidatesOf(
  sha: string,
  { repository, payload }: EventFacts,
  github: GitHub,
): Promise<readonly unknown[]> {
  const [owner = '', repo = ''] = repository.split('/');
  const author = textAt(payload, 'workflow_run', 'head_repository', 'owner', 'login');
  const branch = textAt(payload, 'workflow_run', 'head_branch');
  const place = { owner, repo };
  const { data } =
    author === '' || branch === ''
      ? await github.request('GET', COMMIT_PULLS, { ...place, commit_sha: sha })
      : await github.request('GET', PULLS, {
          ...place,
          head: `${author}:${branch}`,
          state: 'open',
          per_page: 100,
        });
  return Array.isArray(data) ? data : [];
}

/**
 * Whether a commit merges the head with another commit, like GitHub's test merge of a pull request with its base. The
 * raw commit object is used if available; otherwise (a merge of verdicts without a checkout) the runner's variables or
 * the API.
 */
async function isMergeOf(
  head: string,
  { sha, parents }: JudgedCommit,
  event: EventFacts,
  github: GitHub | null,
): Promise<boolean> {
  const isMerge = (all: readonly string[]) => all.length > 1 && all.includes(head);
  if (parents !== null) return isMerge(parents);
  const isTestMerge = event.name.startsWith('pull_request') && /^refs\/pull\/\d+\/merge$/u.test(event.ref);
  if (isTestMerge && sha === event.sha) return true;
  if (github === null) return false;
  const [owner = '', repo = ''] = event.repository.split('/');
  try {
    const { data } = await github.request('GET', '/repos/{owner}/{repo}/commits/{ref}', {
      owner,
      repo,
      ref: sha,
    });
    const listed = member(data, 'parents');
    return Array.isArray(listed) && isMerge(listed.map((parent) => textAt(parent, 'sha')));
  } catch (error) {
    // GitHub does not know the commit: it was created on this machine.
    if (error instanceof GitHubError && (error.kind === 'not_found' || error.status === 422)) return false;
    throw error;
  }
}

/** Returns the commit that the event names as its head; empty if it names none. */
export function headOfEvent({ payload }: EventFacts): string {
  return (
    textAt(payload, 'pull_request', 'head', 'sha') ||
    textAt(payload, 'merge_group', 'head_sha') ||
    textAt(payload, 'workflow_run', 'head_sha')
  );
}

/** In a merge queue, replaces the commits with those of the merge group. */
function queued(pull: PullRequest | null, { payload }: EventFacts): PullRequest | null {
  const [head, base] = [
    textAt(payload, 'merge_group', 'head_sha'),
    textAt(payload, 'merge_group', 'base_sha'),
  ];
  if (pull === null || head === '' || base === '') return pull;
  return { ...pull, base: { ...pull.base, sha: base }, head: { ...pull.head, sha: head } };
}

function readPullRequest(value: unknown): PullRequest | null {
  const number = member(value, 'number');
  const [head, base] = [textAt(value, 'head', 'sha'), textAt(value, 'base', 'sha')];
  const changedFiles = member(value, 'changed_files');
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || head === '' || base === '') return null;
  return {
    number,
    title: textAt(value, 'title'),
    body: textAt(value, 'body'),
    author: textAt(value, 'user', 'login'),
    base: { ref: textAt(value, 'base', 'ref'), sha: base },
    head: {
      ref: textAt(value, 'head', 'ref'),
      sha: head,
      repository: textAt(value, 'head', 'repo', 'full_name'),
    },
    changedFiles: typeof changedFiles === 'number' ? changedFiles : null,
  };
}
