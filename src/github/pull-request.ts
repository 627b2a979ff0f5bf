/** What GitHub knows of a run and its pull request. Each thing is requested once, when it is first needed. */
import { GitHubError } from '../errors.ts';
import type { ListedChange } from '../types.ts';
import { listChangedFiles } from './changed-files.ts';
import type { GitHub } from './client.ts';
import { type EventFacts, headOfEvent, type PullRequest, pullRequestNumber, repositoryOf } from './event.ts';

export interface Hub {
  readonly event: EventFacts;
  /** Rejects without a token. */
  readonly github: GitHub;
  /** The commit checked out in the judged folder; null if unknown. */
  readonly checkedOut: string | null;
  /** Resolves to null if the run has no pull request. Rejects with a GitHubError. */
  findPullRequest(): Promise<PullRequest | null>;
  /** Returns its number, which most events contain. */
  findNumber(): Promise<number | null>;
  /** Resolves to null if the run has no pull request. Rejects with a GitHubError or a LaterPushError. */
  listChangedFiles(): Promise<ListedChange | null>;
}

/** @param github null if there is no token. */
export function createHub(event: EventFacts, github: GitHub | null, checkedOut: string | null): Hub {
  const known = { event, github: github ?? refuse, checkedOut };
  const find = once(() => findPullRequest(known.event, known.github));
  const findNumber = async () => pullRequestNumber(event) ?? (await find())?.number ?? null;
  const list = once(async () => {
    const number = await findNumber();
    return number === null ? null : listChangedFiles(number, event, known.github, checkedOut);
  });
  return { ...known, findPullRequest: find, findNumber, listChangedFiles: list };
}

const refuse: GitHub = () => Promise.reject(new GitHubError('GitHub was not asked: github-token is empty.'));

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** Returns the pull request of an event; null if it has none, or if it is ambiguous which one is meant. */
async function findPullRequest(event: EventFacts, github: GitHub): Promise<PullRequest | null> {
  const { number, base, head, title = '', body = null, user = null } = event.payload.pull_request ?? {};
  if (number && base && head) return { number, base, head, title, body, user };
  const asked = pullRequestNumber(event);
  if (asked !== null) return request(asked, event, github);
  const sha = headOfEvent(event) || (event.name === 'push' ? event.sha : '');
  if (sha === '') return null;
  const candidates = await listCandidates(sha, event, github);
  const [found, ...others] = candidates.filter(
    (each) => each.state === 'open' && each.head.sha === sha && each.base.repo.full_name === event.repository,
  );
  return found === undefined || others.length > 0 ? null : found;
}

/** Requests a pull request; in a merge queue its commits are those of the merge group. */
async function request(number: number, event: EventFacts, github: GitHub): Promise<PullRequest> {
  const place = { ...repositoryOf(event), pull_number: number };
  const { data } = await github('pull-requests: read', ({ rest }) => rest.pulls.get(place));
  const { head_sha, base_sha } = event.payload.merge_group ?? {};
  if (head_sha === undefined || base_sha === undefined) return data;
  return { ...data, base: { ...data.base, sha: base_sha }, head: { ...data.head, sha: head_sha } };
}

/**
 * Returns pull requests whose head may be the commit. A fork's commit does not appear in lists of the base repository's
 * commits, and `workflow_run.pull_requests` is empty for forks, so the open pull requests of the branch are listed.
 */
function listCandidates(sha: string, event: EventFacts, github: GitHub) {
  const { head_branch, head_repository } = event.payload.workflow_run ?? {};
  const author = head_repository?.owner?.login;
  const place = { ...repositoryOf(event), per_page: 100 };
  return github('pull-requests: read', async ({ rest }) => {
    if (author === undefined || !head_branch)
      return (await rest.repos.listPullRequestsAssociatedWithCommit({ ...place, commit_sha: sha })).data;
    return (await rest.pulls.list({ ...place, head: `${author}:${head_branch}`, state: 'open' })).data;
  });
}
