/** A status on a commit, as branch protection reads it. */
import { ReportError } from '../errors.ts';
import type { GitHub } from './api.ts';
import type { StatusCommit } from './pull-request.ts';

/** Which status it is, and the way to it. */
export interface CommitStatusWorld {
  readonly github: GitHub;
  /** `owner/name`. */
  readonly repository: string;
  /** The name that branch protection knows it by. */
  readonly name: string;
  /** The page that it links to; null for none. */
  readonly targetUrl: string | null;
  /** Where the status of the judged commit is set. Rejects with a GitHubError. */
  readonly findCommit: (judged?: string | null) => Promise<StatusCommit>;
}

/** What it says; `description` of at most 140 characters. */
export interface CommitStatus {
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  readonly description: string;
}

/** Instead of what a success says, where its commit is not known to have been judged. */
const REFUSED =
  'The verdict is a success, but it is not known to be one on this commit. See the log of the run.';

/**
 * Sets the status of the judged commit, and says whether there is one. Success is set only where the files of that commit
 * were judged, and is an error elsewhere; any other state takes a success away at most, and is set wherever one could
 * stand. The last one set counts, so that setting it twice does no harm.
 * Rejects with a GitHubError, or with a ReportError where a success was refused.
 */
export function createStatusSetter({ github, repository, name, targetUrl, findCommit }: CommitStatusWorld) {
  const [owner = '', repo = ''] = repository.split('/');
  const link = targetUrl === null ? {} : { target_url: targetUrl };
  return async (status: CommitStatus, judged?: string | null): Promise<boolean> => {
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
