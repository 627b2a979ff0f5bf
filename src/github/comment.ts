/** One comment on a pull request, updated in place: found by a marker and its author, never by a marker alone. */
import { createHash } from 'node:crypto';
import { GitHubError } from '../errors.ts';
import type { GitHub } from './api.ts';
import { member, textAt } from './event.ts';

/** Where a comment goes. */
export interface CommentPlace {
  /** `owner/name`. */
  readonly repository: string;
  /** The number of the pull request. */
  readonly number: number;
}

/** A comment to write. */
export interface CommentText {
  /** Comments of one key are one comment; any text. */
  readonly key: string;
  /** The judged commit, in hex. */
  readonly commit: string;
  /** GITHUB_RUN_ID, in decimal: a later run has a larger one. */
  readonly runId: string;
  readonly attempt: number;
  /** At most 65,000 characters of Markdown. */
  readonly body: string;
  /** Whether one is made where there is none. */
  readonly create: boolean;
}

/** What became of it; `superseded` where a newer run had spoken, `none` where none stood and none was to be made. */
export type WrittenComment =
  | { readonly outcome: 'created' | 'updated' | 'unchanged' | 'superseded'; readonly url: string }
  | { readonly outcome: 'none' | 'no_pull_request'; readonly url: null };

/** The world of a comment writer. */
export interface CommentWriterOptions {
  readonly github: GitHub;
  /** null where the run is about no pull request. Rejects with a GitHubError. */
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
/** GitHub allows 2,500 comments on a pull request. */
const MAX_PAGES = 50;
/** Looks at the comments, where others keep on writing. */
const MAX_LOOKS = 4;

/** Every token may ask for `viewerDidAuthor`; who the viewer is, a job's own token may not ask. */
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
 * Writes the one comment of a key: the one that is there, unless a newer run wrote it, else a new one. Looks again after
 * each write, since other jobs write too: of two that create at the same time the older comment stays, and an older run
 * that wrote in between is overwritten. Rejects with a GitHubError.
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
      // Somebody may have deleted it since it was listed.
      if (await comments.update(oldest)) outcome = 'updated';
      else gone.add(oldest.id);
    }
    return { outcome, url };
  };
}

/** A comment just made may not be listed yet. */
function withMade(listed: readonly Standing[], made: Standing | null): readonly Standing[] {
  const all = made === null || listed.some(({ id }) => id === made.id) ? listed : [...listed, made];
  return all.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** The comments of one key, with the text that they shall have. */
function createComments(github: GitHub, place: CommentPlace, text: CommentText) {
  const body = `${marker(text)}\n${text.body}`;
  const [owner = '', repo = ''] = place.repository.split('/');
  let locked = false;

  /** All of ours. */
  const list = async (): Promise<readonly Standing[]> => {
    const found: Standing[] = [];
    let after: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
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
    throw new GitHubError('too_large', `There are more than ${MAX_PAGES * 100} comments to look through.`);
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

  /** False where it is no longer there. */
  const update = async ({ id }: Standing): Promise<boolean> => {
    try {
      await github.request('PATCH', COMMENT, { owner, repo, comment_id: String(id), body }, NEEDS);
      return true;
    } catch (error) {
      if (error instanceof GitHubError && error.kind === 'not_found') return false;
      throw locked ? explainLock(error) : error;
    }
  };

  /** What cannot be removed is a blemish, and no reason to call the comment failed. */
  const remove = async (comment: Standing): Promise<void> => {
    try {
      await github.request('DELETE', COMMENT, { owner, repo, comment_id: String(comment.id) }, NEEDS);
    } catch (error) {
      if (!(error instanceof GitHubError)) throw error;
    }
  };

  /** Whether it says what it shall; the marker too, or a run between the two could overwrite this one's word. */
  const isWritten = (comment: Standing) => comparable(comment.body) === comparable(body);

  /** A post without an answer may have arrived all the same, so that one looks before posting again. */
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

/** The first line of a comment of ours. The key is hashed: whatever it holds, it cannot end the marker. */
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

/** Above 0 where the comment is of a newer run than the text, or of a later attempt of the same; 0 for the same. */
function order(comment: Standing, text: CommentText): number {
  const run = runOf(text);
  if (comment.run !== run) return comment.run > run ? 1 : -1;
  return comment.attempt - text.attempt;
}

/** GitHub keeps a text as it was sent, but for its line ends and what is blank around it. */
function comparable(body: string): string {
  return body.replaceAll('\r\n', '\n').trim();
}

function explainLock(error: unknown): unknown {
  if (!(error instanceof GitHubError) || error.kind !== 'forbidden') return error;
  const message = 'The conversation of the pull request is locked. Unlock it, or set comment: never.';
  return new GitHubError('forbidden', message, { status: error.status, cause: error });
}
