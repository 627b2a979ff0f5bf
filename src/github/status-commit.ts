/** The status of a commit, as used by branch protection: finds the judged commit and sets the status on it. */
import { GitHubError, ReportError } from '../errors.ts';
import type { StatusText } from '../reporters/report-types.ts';
import type { GitHub } from './api.ts';
import type { JudgedCommit } from './checked-out.ts';
import { type EventFacts, headOfEvent, member, textAt } from './event.ts';

/** A commit, and whether the verdict on the judged files applies to it. */
export interface StatusCommit {
  readonly sha: string;
  /**
   * Why the files of this commit may differ from the judged ones, in one or two sentences; null if they are the same.
   */
  readonly problem: string | null;
}

/** The commits of a pull request. */
interface PullRequestCommits {
  readonly base: { readonly sha: string };
  readonly head: { readonly sha: string };
}

/** What `findStatusCommit` decides by. */
interface StatusCommitOptions {
  readonly event: EventFacts;
  /** null if there is no token; then only the event and the checkout are read. */
  readonly github: GitHub | null;
  /** The commit checked out in the judged folder; null if unknown. */
  readonly checkedOut: JudgedCommit | null;
  /** Finds the pull request; null if the event names none. */
  readonly findPullRequest: (() => Promise<PullRequestCommits | null>) | null;
}

/**
 * Returns the commit that a status is set on.
 * @param judged the judged commit, null if unknown; defaults to the checked-out commit.
 * @throws GitHubError
 */
export async function findStatusCommit(
  { event, github, checkedOut, findPullRequest }: StatusCommitOptions,
  judged?: string | null,
): Promise<StatusCommit> {
  const eventHead = headOfEvent(event);
  const pull = eventHead === '' && findPullRequest !== null ? await findPullRequest() : null;
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
}

const UNKNOWN =
  'It is not known which commit was judged: in the workspace there is no checkout that git made, or there are several. Check out the commit with actions/checkout before this step, and where there are several checkouts name the folder of the judged one in working-directory.';
const UNLIKE =
  'It is not known which commit was judged: the legs checked out different ones, or do not say which. Let every leg check out the same commit before its step.';

function otherCommit(commit: string, head: string): string {
  return `The checkout is at ${commit.slice(0, 12)}, and not at the head ${head.slice(0, 12)} of the pull request, nor at a merge of it. Check out the head before this step: actions/checkout with its commit as ref.`;
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

export interface CommitStatusWorld {
  readonly github: GitHub;
  /** `owner/name`. */
  readonly repository: string;
  /** The context name that branch protection refers to. */
  readonly name: string;
  /** The URL that the status links to; null for none. */
  readonly targetUrl: string | null;
  /** Returns the commit to set the status on. Rejects with a GitHubError. */
  readonly findCommit: (judged?: string | null) => Promise<StatusCommit>;
}

/** Description used instead of a success if the commit is not known to have been judged. */
const REFUSED =
  'The verdict is a success, but it is not known to be one on this commit. See the log of the run.';

/**
 * Creates a function that sets the status of the judged commit; it resolves to false if there is no commit. Success is
 * set only if the files of that commit were judged; otherwise the state is an error. Any other state can at most remove
 * a success, and is set wherever a success could exist. The last status set applies, so setting it twice is harmless.
 * Rejects with a GitHubError, or with a ReportError if a success was refused.
 */
export function createStatusSetter({ github, repository, name, targetUrl, findCommit }: CommitStatusWorld) {
  const [owner = '', repo = ''] = repository.split('/');
  const link = targetUrl === null ? {} : { target_url: targetUrl };
  return async (status: StatusText, judged?: string | null): Promise<boolean> => {
    const { sha, problem } = await findCommit(judged);
    if (sha === '') return false;
    const isRefused = status.state === 'success' && problem !== null;
    const { state, description } = isRefused ? { state: 'error', description: REFUSED } : status;
    await github.request(
      'POST',
      '/repos/{owner}/{repo}/statuses/{sha}',
      { owner, repo, sha, state, description, context: name, ...link },
      { repeatable: true, needs: 'statuses: write' },
    );
    if (isRefused) throw new ReportError(`The commit status is an error instead of a success. ${problem}`);
    return true;
  };
}
