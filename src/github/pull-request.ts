/** The pull request that a run is about, from the event or, where that does not tell, from the API. */
import type { GitHub } from './api.ts';
import { type EventFacts, member, pullRequestNumber, textAt } from './event.ts';

/** A pull request. Title, body, author and the names of branches are whatever its author wrote. */
export interface PullRequest {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly base: { readonly ref: string; readonly sha: string };
  /** `repository` is `owner/name`; empty where the fork is gone. */
  readonly head: { readonly ref: string; readonly sha: string; readonly repository: string };
}

/** Finds the pull request of a run and its commits; the API is asked once at most. */
export interface PullRequestFinder {
  /** The number where the event tells it, without asking anybody. */
  readonly number: number | null;
  /** @throws GitHubError when the API had to be asked and did not answer. null where the run is about none. */
  find(): Promise<PullRequest | null>;
  /**
   * The commit that checks are shown on.
   * @param judged the commit that was judged; the one that is checked out where it is null or left out.
   * @throws GitHubError
   */
  headSha(judged?: string | null): Promise<string>;
}

/**
 * @param github null where there is no token: then the event alone tells.
 * @param checkedOut the commit of the checkout; null where that is not known.
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
    async headSha(judged) {
      const told = toldHead(event);
      if (told !== '') return told;
      const pull = number === null ? null : await find();
      if (pull === null) return event.sha;
      const { head } = pull;
      const commit = judged ?? checkedOut;
      if (github === null || commit === null || commit === event.sha) return head.sha;
      // GitHub told the head of now, which nobody may have looked at: somebody can push after the checkout.
      return judgedCommit(commit, head.sha, event, github);
    },
  };
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
  const sha = toldHead(event) || (event.name === 'push' ? event.sha : '');
  if (sha === '') return null;
  const candidates = await candidatesOf(sha, event, github);
  const open = candidates.filter(
    (each) =>
      textAt(each, 'state') === 'open' &&
      textAt(each, 'head', 'sha') === sha &&
      textAt(each, 'base', 'repo', 'full_name') === event.repository,
  );
  // Two of them: nobody can say which one is meant.
  return open.length === 1 ? readPullRequest(open[0]) : null;
}

/**
 * The pull requests that the commit may be the head of. A fork's commit is in no list of the base repository's commits, and
 * `workflow_run.pull_requests` is empty for one: there the open ones of its branch are asked for.
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

/** The head where it is checked out, alone or merged with the base; else what is checked out. */
async function judgedCommit(
  checkedOut: string,
  head: string,
  event: EventFacts,
  github: GitHub,
): Promise<string> {
  if (checkedOut === head) return head;
  const [owner = '', repo = ''] = event.repository.split('/');
  const route = '/repos/{owner}/{repo}/commits/{ref}';
  const { data } = await github.request('GET', route, { owner, repo, ref: checkedOut });
  const parents = member(data, 'parents');
  const isMerge = Array.isArray(parents) && parents.some((parent) => textAt(parent, 'sha') === head);
  return isMerge ? head : checkedOut;
}

/** The commit that the event itself names as the one to be checked; empty where it names none. */
function toldHead({ payload }: EventFacts): string {
  return (
    textAt(payload, 'pull_request', 'head', 'sha') ||
    textAt(payload, 'merge_group', 'head_sha') ||
    textAt(payload, 'workflow_run', 'head_sha')
  );
}

/** In a merge queue the commits are the group's. */
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
  };
}
