/** A commit status, as used by branch protection. */
import { ReportError } from '../errors.ts';
import type { GitHub } from './api.ts';
import type { StatusCommit } from './pull-request.ts';

/** Options of a status setter. */
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

/** The content of the status; `description` has at most 140 characters. */
export interface CommitStatus {
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  readonly description: string;
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
