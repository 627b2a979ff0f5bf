/** Finds the pull request of a run, from the event or else from the API. */
import type { GitHub } from './api.ts';
import { type EventFacts, headOfEvent, member, pullRequestNumber, textAt } from './event.ts';
import { findStatusCommit, type StatusCommit } from './status-commit.ts';

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

/**
 * Creates the finder of a run's pull request.
 * @param github null if there is no token; then only the event is read.
 * @param checkedOut the commit checked out in the judged folder; null if unknown.
 */
export function createPullRequestFinder(
  event: EventFacts,
  github: GitHub | null,
  checkedOut: string | null = null,
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
    findStatusCommit: (judged) =>
      findStatusCommit({ event, checkedOut, findPullRequest: number === null ? null : find }, judged),
  };
}

const PULLS = '/repos/{owner}/{repo}/pulls';
const COMMIT_PULLS = '/repos/{owner}/{repo}/commits/{commit_sha}/pulls';

async function look(
  event: EventFacts,
  number: number | null,
  github: GitHub | null,
): Promise<PullRequest | null> {
  const fromEvent = readPullRequest(member(event.payload, 'pull_request'));
  if (fromEvent !== null) return fromEvent;
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
