/**
 * One comment on a pull request, updated in place: identified by a marker and its author, never by the marker alone.
 */
import { createHash } from 'node:crypto';
import { GitHubError, type GitHubFailure } from '../errors.ts';
import type { CommentText, WrittenComment } from '../reporters/report-types.ts';
import { repositoryOf } from './event.ts';
import type { Octokit } from './octokit.ts';
import type { Hub } from './pull-request.ts';

/** How often the comments are listed while other jobs keep writing. */
const MAX_LOOKS = 4;

/** Every token may query `viewerDidAuthor`; a job's own token may not query who the viewer is. */
const QUERY = `query($owner: String!, $repo: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      comments(first: 100, after: $after) {
        nodes { fullDatabaseId body viewerDidAuthor }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`;

interface Comment {
  readonly fullDatabaseId: string;
  readonly body: string;
  readonly viewerDidAuthor: boolean;
}

interface Answer {
  readonly repository: {
    readonly pullRequest: {
      readonly comments: {
        readonly nodes: readonly Comment[];
        readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      };
    };
  };
}

/**
 * Creates a function that writes the comment of a key: it updates the oldest one, or creates one if there is none. What
 * a newer run has written stays as it is. The comments are listed again after each write, since other jobs write too: one
 * comment is kept, and what an older run wrote in between is overwritten. The function rejects with a GitHubError.
 */
export function createCommentWriter({ github, event, findNumber }: Hub) {
  const place = repositoryOf(event);
  const ask = <T>(work: (octokit: Octokit) => Promise<T>) => github('pull-requests: write', work);

  return async (text: CommentText): Promise<WrittenComment> => {
    const number = await findNumber();
    if (number === null) return 'no_pull_request';
    const body = `${marker(text)}\n${text.body}`;
    let outcome: 'created' | 'updated' | 'unchanged' = 'unchanged';
    let isCreated = false;
    for (let looks = 1; looks <= MAX_LOOKS; looks += 1) {
      const all = await ask((octokit) => listComments(octokit, { ...place, number }));
      const own = all.filter((each) => each.viewerDidAuthor && age(each, text) !== null);
      const newer = own.find((each) => (age(each, text) ?? 0) > 0);
      const [oldest] = own;
      // GitHub changes line endings and surrounding whitespace, and maybe more.
      const isWritten =
        oldest?.body.replaceAll('\r\n', '\n').trim() === body.trim() ||
        (outcome !== 'unchanged' && oldest !== undefined && age(oldest, text) === 0);
      if (oldest === undefined) {
        if (!text.create) return 'none';
        // It may take a moment until it is listed.
        if (isCreated) return 'created';
        // Sent once: without an answer it may be there all the same, and each one sends a mail to everybody.
        const target = { ...place, issue_number: number, body, request: { retries: 0 } };
        const creating = ask(({ rest }) => rest.issues.createComment(target));
        isCreated = (await unless(looks < MAX_LOOKS ? 'unavailable' : null, creating)) !== null;
        outcome = 'created';
      } else if (newer === undefined && !isWritten) {
        const target = { ...place, comment_id: Number(oldest.fullDatabaseId), body };
        // It may have been deleted since it was listed.
        await unless(
          'not_found',
          ask(({ rest }) => rest.issues.updateComment(target)),
        );
        outcome = 'updated';
      } else {
        const kept = newer ?? oldest;
        const stale = own.filter((each) => each !== kept && (age(each, text) ?? 0) <= 0);
        for (const { fullDatabaseId } of stale) {
          const target = { ...place, comment_id: Number(fullDatabaseId) };
          // A comment that cannot be removed is no reason to report a failure.
          await ask(({ rest }) => rest.issues.deleteComment(target)).catch(() => undefined);
        }
        return newer === undefined ? outcome : 'superseded';
      }
    }
    throw new GitHubError('unavailable', 'Other jobs kept writing the same comment.');
  };
}

/** Resolves to null if the request fails in that way. */
async function unless<T>(kind: GitHubFailure | null, request: Promise<T>): Promise<T | null> {
  return request.catch((error: unknown) => {
    if (error instanceof GitHubError && error.kind === kind) return null;
    throw error;
  });
}

/** Lists all comments of a pull request, the oldest first. */
async function listComments({ graphql }: Octokit, place: { owner: string; repo: string; number: number }) {
  const found: Comment[] = [];
  for (let after: string | null = null, hasMore = true; hasMore; ) {
    const answer: Answer = await graphql<Answer>(QUERY, { ...place, after });
    const { nodes, pageInfo } = answer.repository.pullRequest.comments;
    found.push(...nodes);
    after = pageInfo.endCursor;
    hasMore = pageInfo.hasNextPage;
  }
  return found;
}

/** The first line of the comment. The key is hashed, so that its content cannot end the marker. */
function marker({ key, commit, runId, attempt }: CommentText): string {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 32);
  return `<!-- structured-agent:${hash} commit=${commit} run=${runId} attempt=${attempt} -->`;
}

const NUMBERS = /^<!-- structured-agent:[0-9a-f]{32} commit=\w+ run=(\d+) attempt=(\d+) -->\r?\n/u;

/**
 * Returns how much newer the run that wrote a comment is: positive for a later run, or a later attempt of the same run; 0
 * for the same attempt; null for a comment without the marker of this key.
 */
function age({ body }: Comment, text: CommentText): number | null {
  const [, run, attempt] = NUMBERS.exec(body) ?? [];
  const [key] = marker(text).split(' commit=');
  if (run === undefined || !body.startsWith(`${key} `)) return null;
  return Number(run) - Number(text.runId) || Number(attempt) - text.attempt;
}
