/** GitHub's API, and what its refusals mean. The client is loaded with the first request. */
import { causeCode, GitHubError, NetworkError } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';
import { singleLine } from '../text/sanitize.ts';
import type { GitHubOptions, Octokit } from './octokit.ts';

/**
 * Makes requests with GitHub's client, whose types of answers are believed, and resolves to what `work` makes of them.
 * Rejects with a GitHubError if GitHub refuses a request or does not answer, after all retries.
 * @param needs the workflow permission that the requests need, such as `pull-requests: write`.
 */
export type GitHub = <T>(needs: string, work: (octokit: Octokit) => Promise<T>) => Promise<T>;

/** Creates a client. Nothing is loaded or sent before the first request. */
export function createGitHub(options: GitHubOptions): GitHub {
  let loading: Promise<Octokit> | null = null;
  return async (needs, work) => {
    loading ??= import('./octokit.ts').then(({ createOctokit }) => createOctokit(options));
    const octokit = await loading;
    return work(octokit).catch((error: unknown) => {
      const isRefusal = error instanceof Error && ('request' in error || 'response' in error);
      throw isRefusal ? toGitHubError(error as Refusal, needs) : error;
    });
  };
}

/** What the client throws if a request fails. */
interface Refusal extends Error {
  readonly request?: { readonly method?: string; readonly url?: string };
  /** Absent if there was no answer. */
  readonly response?: { readonly status?: number; readonly headers?: Readonly<Record<string, unknown>> };
  /** Those of an answer to a GraphQL query. */
  readonly errors?: readonly { readonly type?: string }[];
}

/** What can be done about each status. NEEDS stands for the permission. */
const FIXES: Readonly<Record<number, string>> = {
  401: 'The token is missing, wrong or no longer valid: see the input github-token.',
  403: 'Give the job `permissions: NEEDS`; the token of a pull request from a fork can only read, whatever the workflow gives.',
  404: 'It is not there, or the token may not see it: the job needs `permissions: NEEDS`.',
  423: 'Unlock the conversation of the pull request, or set comment: off.',
  429: "The token's rate limit is used up for now. Run the job again later.",
};
const UNAVAILABLE = 'See https://www.githubstatus.com, and run the job again.';

/** GraphQL's word for a status. */
const GRAPHQL_STATUSES = new Map([
  ['NOT_FOUND', 404],
  ['FORBIDDEN', 403],
  ['RATE_LIMITED', 429],
]);

function toGitHubError(error: Refusal, needs: string): GitHubError {
  const { message, cause, request = {} } = error;
  if (cause instanceof NetworkError) return new GitHubError(cause.message, { cause });
  const { pathname } = new URL(request.url ?? '/graphql', 'https://api.github.com');
  const operation = `${request.method ?? 'POST'} ${pathname.slice(0, DISPLAY.path)}`;
  const status = statusOf(error);
  if (status === null) {
    // The message is not repeated: it may quote the token.
    const why = causeCode(cause) ?? (cause instanceof Error ? cause.name : 'no answer');
    return new GitHubError(`GitHub could not be reached for ${operation} (${why}).`, { cause });
  }
  const fix = FIXES[status] ?? (status < 500 ? '' : UNAVAILABLE);
  const said = singleLine(message, DISPLAY.sentence);
  const sentence = `GitHub answered ${status} (${said}) to ${operation}. ${fix.replace('NEEDS', needs)}`;
  return new GitHubError(sentence.trim());
}

/** Returns the status that says what is wrong: GitHub uses 403 for several things, and 200 for all of GraphQL. */
function statusOf({ message, response, errors }: Refusal): number | null {
  if (errors !== undefined) return GRAPHQL_STATUSES.get(errors[0]?.type ?? '') ?? 422;
  // So the plugin for rate limits ends a query.
  if (response?.status === 200) return 429;
  if (response?.status !== 403) return response?.status ?? null;
  if (/\bis locked\b/iu.test(message)) return 423;
  const isLimit = response.headers?.['x-ratelimit-remaining'] === '0' || /\bsecondary rate\b/iu.test(message);
  return isLimit ? 429 : 403;
}
