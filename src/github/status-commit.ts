/** The status of a commit, as used by branch protection: finds the head commit and sets the status on it. */
import { ReportError } from '../errors.ts';
import type { StatusText } from '../reporters/report-types.ts';
import type { GitHub } from './api.ts';
import { type EventFacts, headOfEvent, textAt } from './event.ts';

/** A commit, and whether the verdict on the judged files applies to it. */
export interface StatusCommit {
  readonly sha: string;
  /**
   * Why the files of this commit may differ from the judged ones, in one or two sentences; null if they are the same.
   */
  readonly problem: string | null;
}

interface PullRequestHead {
  readonly head: { readonly sha: string };
}

/** What `findStatusCommit` decides by. */
interface StatusCommitOptions {
  readonly event: EventFacts;
  /** The commit checked out in the judged folder; null if unknown. */
  readonly checkedOut: string | null;
  /** Finds the pull request; null if the event names none. */
  readonly findPullRequest: (() => Promise<PullRequestHead | null>) | null;
}

/**
 * Returns the head commit, which a status is set on. The verdict applies to it only if it is the judged commit, or if
 * that is the merge commit for which GitHub started the run of a pull request.
 * @param judged the judged commit, null if unknown; defaults to the checked-out commit.
 * @throws GitHubError
 */
export async function findStatusCommit(
  { event, checkedOut, findPullRequest }: StatusCommitOptions,
  judged: string | null | undefined,
): Promise<StatusCommit> {
  const commit = judged === undefined ? checkedOut : judged;
  const eventHead = headOfEvent(event);
  const pull = eventHead === '' && findPullRequest !== null ? await findPullRequest() : null;
  const sha = eventHead || (pull?.head.sha ?? event.sha);
  if (commit === null) return { sha, problem: judged === null ? UNLIKE : UNKNOWN };
  const isTestMerge = event.name.startsWith('pull_request') && /^refs\/pull\/\d+\/merge$/u.test(event.ref);
  const isHead = commit === sha || (isTestMerge && commit === event.sha);
  return { sha, problem: isHead ? null : otherCommit(commit, sha) };
}

const UNKNOWN =
  'It is not known which commit was judged: in the workspace there is no checkout that git made, or there are several. Check out the commit with actions/checkout before this step, and where there are several checkouts name the folder of the judged one in working-directory.';
const UNLIKE =
  'It is not known which commit was judged: the legs checked out different ones, or do not say which. Let every leg check out the same commit before its step.';

function otherCommit(commit: string, head: string): string {
  return `The checkout is at ${commit.slice(0, 12)}, and the status is about ${head.slice(0, 12)}. Check that commit out before this step: actions/checkout with it as ref.`;
}

export interface CommitStatusWorld {
  readonly github: GitHub;
  /** `owner/name`. */
  readonly repository: string;
  /** The context name that branch protection refers to. */
  readonly name: string;
  /** The URL that the status links to; null for none. */
  readonly targetUrl: string | null;
  /** Returns the head commit. Rejects with a GitHubError. */
  readonly findCommit: (judged?: string | null) => Promise<StatusCommit>;
}

/** Description used instead of a success if the commit is not known to have been judged. */
const REFUSED =
  'The verdict is a success, but it is not known to be one on this commit. See the log of the run.';

/**
 * Creates a function that sets the status of the head commit; it resolves to false if there is no commit. Success is
 * set only if the files of that commit were judged; otherwise the state is an error. Any other state can at most remove
 * a success. The last status set applies, so setting it twice is harmless.
 * Rejects with a GitHubError, or with a ReportError if a success was refused.
 */
export function createStatusSetter({ github, repository, name, targetUrl, findCommit }: CommitStatusWorld) {
  const [owner = '', repo = ''] = repository.split('/');
  const link = targetUrl === null ? {} : { target_url: targetUrl };
  return async (status: StatusText, judged?: string | null): Promise<boolean> => {
    const { sha, problem } = await findCommit(judged);
    if (sha === '') return false;
    if (status.ifPresent === true) {
      const { items } = await github.paginate('/repos/{owner}/{repo}/commits/{ref}/statuses', {
        owner,
        repo,
        ref: sha,
      });
      if (!items.some((each) => textAt(each, 'context') === name)) return true;
    }
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
