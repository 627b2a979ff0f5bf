/**
 * One comment on a pull request, updated in place: identified by a marker and its author, never by the marker alone.
 */
import { createHash } from 'node:crypto';
import { GitHubError } from '../errors.ts';
import type { CommentText, WrittenComment } from '../reporters/report-types.ts';
import type { GitHub } from './api.ts';
import { member, textAt } from './event.ts';

/** Pages of comments that are read; GitHub allows 2,500 comments on a pull request. */
const MAX_COMMENT_PAGES = 50;

export interface CommentPlace {
  /** `owner/name`. */
  readonly repository: string;
  readonly number: number;
}

export interface CommentWriterOptions {
  readonly github: GitHub;
  /** Resolves to null if the run has no pull request. Rejects with a GitHubError. */
  readonly findPullRequest: () => Promise<CommentPlace | null>;
}

interface Standing {
  readonly id: bigint;
  readonly url: string;
  readonly body: string;
  readonly run: bigint;
  readonly attempt: number;
}

const COMMENT = '/repos/{owner}/{repo}/issues/comments/{comment_id}';
const COMMENTS = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
const NEEDS = { needs: 'pull-requests: write' };
/** Maximum number of times the comments are listed while other jobs keep writing. */
const MAX_LOOKS = 4;

/** Every token may query `viewerDidAuthor`; a job's own token may not query who the viewer is. */
const QUERY = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      locked
      comments(first: 100, after: $after) {
        nodes { fullDatabaseId url body viewerDidAuthor }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`;

/**
 * Creates a function that writes the comment of a key: it updates the existing one unless a newer run wrote it,
 * otherwise creates one. It lists the comments again after each write, since other jobs write too: if two jobs create a
 * comment at the same time the older comment is kept, and what an older run wrote in between is overwritten. Rejects
 * with a GitHubError.
 */
export function createCommentWriter({ github, findPullRequest }: CommentWriterOptions) {
  return async (text: CommentText): Promise<WrittenComment> => {
    const place = await findPullRequest();
    if (place === null) return { outcome: 'no_pull_request', url: null };
    const comments = createComments(github, place, text);
    const gone = new Set<bigint>();
    let made: Standing | null = null;
    let outcome: 'created' | 'updated' | 'unchanged' = 'unchanged';
    let url = '';
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const standing = withMade(await comments.list(), made).filter(({ id }) => !gone.has(id));
      const newer = standing.find((each) => order(each, text) > 0);
      if (newer !== undefined) {
        if (made !== null) await comments.remove(made);
        return { outcome: 'superseded', url: newer.url };
      }
      const [oldest, ...others] = standing;
      if (oldest === undefined) {
        if (!text.create) return { outcome: 'none', url: null };
        made = await comments.create();
        outcome = 'created';
        continue;
      }
      url = oldest.url;
      const wrote = outcome !== 'unchanged';
      if (comments.isWritten(oldest) || (wrote && order(oldest, text) === 0)) {
        for (const other of others) await comments.remove(other);
        return { outcome, url };
      }
      // It may have been deleted since it was listed.
      if (await comments.update(oldest)) outcome = 'updated';
      else gone.add(oldest.id);
    }
    return { outcome, url };
  };
}

/** A comment just created may not be listed yet. */
function withMade(listed: readonly Standing[], made: Standing | null): readonly Standing[] {
  const all = made === null || listed.some(({ id }) => id === made.id) ? listed : [...listed, made];
  return all.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** Operations on the comments of one key and their intended text. */
function createComments(github: GitHub, place: CommentPlace, text: CommentText) {
  const body = `${marker(text)}\n${text.body}`;
  const [owner = '', repo = ''] = place.repository.split('/');
  let locked = false;

  /** Lists the comments of this key that were written by the token's user. */
  const list = async (): Promise<readonly Standing[]> => {
    const found: Standing[] = [];
    let after: string | null = null;
    for (let page = 0; page < MAX_COMMENT_PAGES; page++) {
      const variables = { owner, name: repo, number: place.number, after };
      const pull = member(member(await github.graphql(QUERY, variables, NEEDS), 'repository'), 'pullRequest');
      const comments = member(pull, 'comments');
      const nodes = member(comments, 'nodes');
      if (!Array.isArray(nodes)) throw new GitHubError('unavailable', 'GitHub did not list the comments.');
      locked = member(pull, 'locked') === true;
      found.push(...nodes.flatMap((node) => readStanding(node, text.key) ?? []));
      after = textAt(comments, 'pageInfo', 'endCursor');
      if (member(member(comments, 'pageInfo'), 'hasNextPage') !== true || after === '') return found;
    }
    throw new GitHubError(
      'too_large',
      `There are more than ${MAX_COMMENT_PAGES * 100} comments to look through.`,
    );
  };

  const post = async (): Promise<Standing> => {
    try {
      const fill = { owner, repo, issue_number: place.number, body };
      const { data } = await github.request('POST', COMMENTS, fill, NEEDS);
      const id = BigInt(Number(member(data, 'id') ?? 0));
      return { id, url: textAt(data, 'html_url'), body, run: runOf(text), attempt: text.attempt };
    } catch (error) {
      throw locked ? explainLock(error) : error;
    }
  };

  /** Resolves to false if the comment no longer exists. */
  const update = async ({ id }: Standing): Promise<boolean> => {
    try {
      await github.request('PATCH', COMMENT, { owner, repo, comment_id: String(id), body }, NEEDS);
      return true;
    } catch (error) {
      if (error instanceof GitHubError && error.kind === 'not_found') return false;
      throw locked ? explainLock(error) : error;
    }
  };

  /** A comment that cannot be removed is ignored: it is no reason to report a failure. */
  const remove = async (comment: Standing): Promise<void> => {
    try {
      await github.request('DELETE', COMMENT, { owner, repo, comment_id: String(comment.id) }, NEEDS);
    } catch (error) {
      if (!(error instanceof GitHubError)) throw error;
    }
  };

  /**
   * Whether the comment has the intended text, including the marker: otherwise a run between the two could overwrite
   * it.
   */
  const isWritten = (comment: Standing) => comparable(comment.body) === comparable(body);

  /** A POST without a response may still have succeeded, so list the comments before posting again. */
  const create = async (): Promise<Standing> => {
    try {
      return await post();
    } catch (error) {
      if (!(error instanceof GitHubError) || error.kind !== 'unavailable') throw error;
      return (await list()).find(isWritten) ?? post();
    }
  };

  return { list, create, update, remove, isWritten };
}

/** The first line of the comment. The key is hashed, so that its content cannot end the marker. */
function marker(text: CommentText): string {
  const commit = /^[0-9a-f]{7,64}$/u.test(text.commit) ? text.commit : 'unknown';
  return `<!-- structured-agent:${hashOf(text.key)} commit=${commit} run=${runOf(text)} attempt=${text.attempt} -->`;
}

function runOf({ runId }: Pick<CommentText, 'runId'>): bigint {
  return /^\d{1,30}$/u.test(runId) ? BigInt(runId) : 0n;
}

const MARKER =
  /^<!-- structured-agent:([0-9a-f]{32}) commit=(?:[0-9a-f]{7,64}|unknown) run=(\d{1,30}) attempt=(\d{1,6}) -->\r?\n/u;

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

function readStanding(node: unknown, key: string): Standing | null {
  const [body, id] = [textAt(node, 'body'), textAt(node, 'fullDatabaseId')];
  const match = member(node, 'viewerDidAuthor') === true ? MARKER.exec(body) : null;
  if (match === null || match[1] !== hashOf(key) || !/^\d{1,20}$/u.test(id)) return null;
  return {
    id: BigInt(id),
    url: textAt(node, 'url'),
    body,
    run: BigInt(match[2] ?? '0'),
    attempt: Number(match[3]),
  };
}

/**
 * Positive if the comment is from a newer run than the text, or from a later attempt of the same run; 0 for the same
 * attempt.
 */
function order(comment: Standing, text: CommentText): number {
  const run = runOf(text);
  if (comment.run !== run) return comment.run > run ? 1 : -1;
  return comment.attempt - text.attempt;
}

/** GitHub preserves text except for line endings and surrounding whitespace. */
function comparable(body: string): string {
  return body.replaceAll('\r\n', '\n').trim();
}

function explainLock(error: unknown): unknown {
  if (!(error instanceof GitHubError) || error.kind !== 'forbidden') return error;
  const message = 'The conversation of the pull request is locked. Unlock it, or set comment: never.';
  return new GitHubError('forbidden', message, { status: error.status, cause: error });
}
