/** What GitHub knows of a run and its pull request. Each thing is requested once, when it is first needed. */
import { GitHubError } from '../errors.ts';
import { GITHUB } from '../text/limits.ts';
import { once } from '../text/wait.ts';
import type { ListedChange } from '../types.ts';
import type { GitHub } from './client.ts';
import { type EventFacts, headOfEvent, type PullRequest, pullRequestNumber, repositoryOf } from './event.ts';

interface Known {
  readonly event: EventFacts;
  /** Rejects without a token. */
  readonly github: GitHub;
  /** The commit checked out in the judged folder; null if unknown. */
  readonly checkedOut: string | null;
}

export interface Hub extends Known {
  /** Resolves to null if the run has no pull request. Rejects with a GitHubError. */
  findPullRequest(): Promise<PullRequest | null>;
  /** Returns its number, which most events contain. */
  findNumber(): Promise<number | null>;
  /** Resolves to null if the run has no pull request. Rejects with a GitHubError. */
  listChangedFiles(): Promise<ListedChange | null>;
  /** The paths of those files; empty until they are listed. */
  readonly changed: ReadonlySet<string>;
}

/** @param github null if there is no token. */
export function createHub(event: EventFacts, github: GitHub | null, checkedOut: string | null): Hub {
  const known: Known = { event, github: github ?? refuse, checkedOut };
  const find = once(() => findPullRequest(known));
  const findNumber = async () => pullRequestNumber(event) ?? (await find())?.number ?? null;
  const changed = new Set<string>();
  const list = once(async () => {
    const number = await findNumber();
    const listed = number === null ? null : await listChangedFiles(number, known);
    for (const { path } of listed?.files ?? []) changed.add(path);
    return listed;
  });
  return { ...known, findPullRequest: find, findNumber, listChangedFiles: list, changed };
}

const refuse: GitHub = () => Promise.reject(new GitHubError('GitHub was not asked: github-token is empty.'));

/** Returns the pull request of an event; null if it has none, or if it is ambiguous which one is meant. */
async function findPullRequest(known: Known): Promise<PullRequest | null> {
  const { event } = known;
  const { number, base, head, title = '', body = null, user = null } = event.payload.pull_request ?? {};
  if (number && base && head) return { number, base, head, title, body, user };
  const asked = pullRequestNumber(event);
  if (asked !== null) return request(asked, known);
  const sha = headOfEvent(event) || (event.name === 'push' ? event.sha : '');
  if (sha === '') return null;
  const candidates = await listCandidates(sha, known);
  const [found, ...others] = candidates.filter(
    (each) => each.state === 'open' && each.head.sha === sha && each.base.repo.full_name === event.repository,
  );
  return found === undefined || others.length > 0 ? null : found;
}

/** Requests a pull request; in a merge queue its commits are those of the merge group. */
async function request(number: number, { event, github }: Known): Promise<PullRequest> {
  const place = { ...repositoryOf(event), pull_number: number };
  const { data } = await github('pull-requests: read', ({ rest }) => rest.pulls.get(place));
  const { head_sha, base_sha } = event.payload.merge_group ?? {};
  if (head_sha === undefined || base_sha === undefined) return data;
  return { ...data, base: { ...data.base, sha: base_sha }, head: { ...data.head, sha: head_sha } };
}

/**
 * Returns pull requests whose head may be the commit. A fork's commit does not appear in lists of the base repository's
 * commits, and `workflow_run.pull_requests` is empty for forks, so the open pull requests of the branch are listed.
 */
function listCandidates(sha: string, { event, github }: Known) {
  const { head_branch, head_repository } = event.payload.workflow_run ?? {};
  const author = head_repository?.owner?.login;
  const place = { ...repositoryOf(event), per_page: 100 };
  return github('pull-requests: read', async ({ rest }) => {
    if (author === undefined || !head_branch)
      return (await rest.repos.listPullRequestsAssociatedWithCommit({ ...place, commit_sha: sha })).data;
    return (await rest.pulls.list({ ...place, head: `${author}:${head_branch}`, state: 'open' })).data;
  });
}

async function listChangedFiles(number: number, { event, github, checkedOut }: Known): Promise<ListedChange> {
  const place = { ...repositoryOf(event), pull_number: number };
  const { rows, pull } = await github('pull-requests: read', async ({ paginate, rest }) => ({
    rows: await paginate(rest.pulls.listFiles, { ...place, per_page: 100 }),
    // After the list, so that a push in between is noticed.
    pull: (await rest.pulls.get(place)).data,
  }));
  requireJudged(pull.head.sha, event, checkedOut);
  let left: number = GITHUB.diff;
  const files = rows.map(({ status, additions, deletions, patch = '', ...row }) => {
    left -= patch.length;
    return {
      path: row.filename,
      previous: row.previous_filename ?? '',
      status,
      additions,
      deletions,
      patch: patch === '' || left < 0 ? null : patch,
      blob: row.sha ?? '',
    };
  });
  const isCut = files.length >= GITHUB.changedFiles || files.length < pull.changed_files;
  const list = isCut ? [`GitHub lists ${files.length} of ${pull.changed_files} changed files.`] : [];
  const diff = left < 0 ? [`Of the diff, ${GITHUB.diff / 1_000_000} MB are known.`] : [];
  return { files, more: [...list, ...diff].join(' ') || null };
}

/**
 * Requires the listed head, which may have been pushed later, to be the event's head or, if the event names none, the
 * checked-out commit. Nothing is required for a merge group, or for a checkout of the base, where only the diff is judged.
 */
function requireJudged(head: string, event: EventFacts, checkedOut: string | null): void {
  const named = headOfEvent(event);
  const judged = named || (checkedOut ?? event.sha);
  if (event.name === 'merge_group' || judged === head || (named === '' && judged === event.sha)) return;
  const why = named === '' ? 'which is not checked out' : 'which was pushed later';
  throw new GitHubError(
    `GitHub lists the files of ${head.slice(0, 12)}, ${why}, and not of ${judged.slice(0, 12)}.`,
  );
}
