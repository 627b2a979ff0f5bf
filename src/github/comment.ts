/**
 * One comment on a pull request, updated in place: identified by a marker and its author, never by the marker alone.
 */
import { createHash } from 'node:crypto';
import { GitHubError } from '../errors.ts';
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

interface Comments {
  readonly nodes: readonly {
    readonly fullDatabaseId: string;
    readonly body: string;
    readonly viewerDidAuthor: boolean;
  }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}
type Answer = { readonly repository: { readonly pullRequest: { readonly comments: Comments } } };

/** A comment of the same key and author. */
interface OwnComment {
  readonly id: number;
  /** How much newer the run that wrote it is: 0 for this attempt of this run, negative for an older one. */
  readonly age: number;
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
    let outcome: 'created' | 'updated' | null = null;
    for (let looks = 1; looks <= MAX_LOOKS; looks += 1) {
      const own = await ask((octokit) => listOwn(octokit, { ...place, number }, text));
      const kept = own.find(({ age }) => age > 0) ?? own[0];
      if (kept === undefined) {
        if (!text.create) return 'none';
        // It may take a moment until it is listed.
        if (outcome === 'created') return outcome;
        // Sent once: without an answer it may be there all the same, and each one sends a mail to everybody.
        const target = { ...place, issue_number: number, body, request: { retries: 0 } };
        const creating = ask(({ rest }) => rest.issues.createComment(target));
        const isUnknown = (status: number) => status >= 500 && looks < MAX_LOOKS;
        outcome = (await unless(isUnknown, creating)) === null ? null : 'created';
      } else if (kept.age < 0 || (kept.age === 0 && outcome === null)) {
        const target = { ...place, comment_id: kept.id, body };
        const updating = ask(({ rest }) => rest.issues.updateComment(target));
        // It may have been deleted since it was listed.
        await unless((status) => status === 404, updating);
        outcome = 'updated';
      } else {
        for (const { id } of own.filter((each) => each !== kept && each.age <= 0)) {
          const removing = ask(({ rest }) => rest.issues.deleteComment({ ...place, comment_id: id }));
          // A comment that cannot be removed is no reason to report a failure.
          await removing.catch(() => undefined);
        }
        return kept.age > 0 ? 'superseded' : (outcome ?? 'updated');
      }
    }
    throw new GitHubError('Other jobs kept writing the same comment.');
  };
}

/** Resolves to null if the request fails with such a status; 500 stands for no answer. */
async function unless<T>(is: (status: number) => boolean, request: Promise<T>): Promise<T | null> {
  return request.catch((error: unknown) => {
    if (error instanceof GitHubError && is(error.status ?? 500)) return null;
    throw error;
  });
}

/** Lists the comments of the key that this token's user has written on a pull request, the oldest first. */
async function listOwn(
  { graphql }: Octokit,
  place: { owner: string; repo: string; number: number },
  text: CommentText,
): Promise<readonly OwnComment[]> {
  const found: OwnComment[] = [];
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

/** Returns the age of a comment; null without the marker of this key. */
function ageOf(body: string, { key, runId, attempt }: CommentText): number | null {
  const [, hash, run, tries] =
    /^<!-- structured-agent:([0-9a-f]{32}) commit=\w+ run=(\d+) attempt=(\d+) -->\r?\n/u.exec(body) ?? [];
  return hash === hashOf(key) ? Number(run) - Number(runId) || Number(tries) - attempt : null;
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}
