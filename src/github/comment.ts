/**
 * One comment on a pull request, updated in place: identified by a marker and its author, never by the marker alone.
 */
import { createHash } from 'node:crypto';
import type { CommentText, WrittenComment } from '../reporters/report-types.ts';
import { repositoryOf } from './event.ts';
import type { Octokit } from './octokit.ts';
import type { Hub } from './pull-request.ts';

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

interface Comments {
  readonly nodes: readonly {
    readonly fullDatabaseId: string;
    readonly body: string;
    readonly viewerDidAuthor: boolean;
  }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}
type Answer = { readonly repository: { readonly pullRequest: { readonly comments: Comments } } };

/**
 * Creates a function that writes the comment of a key: it updates the oldest one, or creates one if there is none. What
 * a newer run has written stays as it is. The function rejects with a GitHubError.
 */
export function createCommentWriter({ github, event, findNumber }: Hub) {
  const place = repositoryOf(event);
  return async (text: CommentText): Promise<WrittenComment> => {
    const number = await findNumber();
    if (number === null) return 'no_pull_request';
    return github('pull-requests: write', async ({ graphql, rest }) => {
      const own = await listOwn(graphql, { ...place, number }, text);
      if (own.some(({ age }) => age > 0)) return 'superseded';
      const body = `${marker(text)}\n${text.body}`;
      const [kept, ...others] = own;
      if (kept === undefined) {
        if (!text.create) return 'none';
        // Sent once: without an answer it may be there all the same, and each one sends a mail to everybody.
        await rest.issues.createComment({ ...place, issue_number: number, body, request: { retries: 0 } });
        return 'created';
      }
      await rest.issues.updateComment({ ...place, comment_id: kept.id, body });
      // Two jobs that ran at once may each have created one. One that cannot be removed is not reported.
      for (const { id } of others)
        await rest.issues.deleteComment({ ...place, comment_id: id }).catch(() => undefined);
      return 'updated';
    });
  };
}

/** Lists the comments of the key that this token's user has written on a pull request, the oldest first. */
async function listOwn(
  graphql: Octokit['graphql'],
  place: { owner: string; repo: string; number: number },
  text: CommentText,
) {
  const found: { readonly id: number; readonly age: number }[] = [];
  for (let after: string | null = null, hasMore = true; hasMore; ) {
    const answer: Answer = await graphql<Answer>(QUERY, { ...place, after });
    const { nodes, pageInfo } = answer.repository.pullRequest.comments;
    for (const { fullDatabaseId, body, viewerDidAuthor } of nodes) {
      const age = viewerDidAuthor ? ageOf(body, text) : null;
      if (age !== null) found.push({ id: Number(fullDatabaseId), age });
    }
    after = pageInfo.endCursor;
    hasMore = pageInfo.hasNextPage;
  }
  return found;
}

/** The first line of the comment. The key is hashed, so that its content cannot end the marker. */
function marker({ key, commit, runId, attempt }: CommentText): string {
  return `<!-- structured-agent:${hashOf(key)} commit=${commit} run=${runId} attempt=${attempt} -->`;
}

/** Returns how much newer than this run the one is that wrote a comment; null without the marker of this key. */
function ageOf(body: string, { key, runId, attempt }: CommentText): number | null {
  const [, hash, run, tries] =
    /^<!-- structured-agent:([0-9a-f]{32}) commit=\w+ run=(\d+) attempt=(\d+) -->\r?\n/u.exec(body) ?? [];
  return hash === hashOf(key) ? Number(run) - Number(runId) || Number(tries) - attempt : null;
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}
