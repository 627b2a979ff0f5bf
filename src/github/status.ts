/** A status on a commit, as branch protection reads it. */
import type { GitHub } from './api.ts';

/** Which status it is, and the way to it. */
export interface CommitStatusWorld {
  readonly github: GitHub;
  /** `owner/name`. */
  readonly repository: string;
  /** The name that branch protection knows it by. */
  readonly name: string;
  /** The page that it links to; null for none. */
  readonly targetUrl: string | null;
  /** Where checks of the judged commit are shown; null where there is none. Rejects with a GitHubError. */
  readonly headSha: (judged: string | null) => Promise<string | null>;
}

/** What it says; `description` of at most 140 characters. */
export interface CommitStatus {
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  readonly description: string;
}

/**
 * Sets the status of the judged commit, and says whether there is one. The last one set counts, so that setting it twice
 * does no harm. Rejects with a GitHubError.
 */
export function createStatusSetter({ github, repository, name, targetUrl, headSha }: CommitStatusWorld) {
  const [owner = '', repo = ''] = repository.split('/');
  const link = targetUrl === null ? {} : { target_url: targetUrl };
  return async ({ state, description }: CommitStatus, judged: string | null = null): Promise<boolean> => {
    const sha = await headSha(judged);
    if (sha === null || sha === '') return false;
    await github.request(
      'POST',
      '/repos/{owner}/{repo}/statuses/{sha}',
      { owner, repo, sha, state, description, context: name, ...link },
      { repeatable: true, needs: 'statuses: write' },
    );
    return true;
  };
}
