/** The files that a pull request changes, as GitHub lists them. */

import type { GitHub } from './api.ts';
import type { JudgedCommit } from './checked-out.ts';
import { type EventFacts, member, textAt } from './event.ts';
import { headOfEvent, type PullRequestFinder } from './pull-request.ts';

/** A changed file; its names are whatever the author chose. */
export interface ChangedFile {
  /** Relative to the repository's root. */
  readonly path: string;
  /** Where a renamed file was before; empty otherwise. */
  readonly previous: string;
  /** GitHub's word: added, removed, modified, renamed, copied, changed or unchanged. */
  readonly status: string;
  readonly additions: number;
  readonly deletions: number;
  /** The hunks of its unified diff; null where GitHub shows none (binary, too large, only renamed). */
  readonly patch: string | null;
  /** The id of its content, of a removed file that before; empty where GitHub does not say it. */
  readonly blob: string;
}

/** GitHub lists no more files of a pull request than this. */
export const MAX_CHANGED_FILES = 3_000;

/** GitHub lists the files of the head of now: after a later push, those of a commit that is not judged. */
export class LaterPushError extends Error {}

/** Lists the files once, however often it is asked. @throws GitHubError, LaterPushError; null where there is no pull request. */
export type ListChangedFiles = () => Promise<readonly ChangedFile[] | null>;

/**
 * Makes the list of a run's pull request.
 * @param checkedOut the commit in the judged folder; null where that is not known.
 */
export function createChangedFiles(
  event: EventFacts,
  finder: PullRequestFinder,
  github: GitHub,
  checkedOut: JudgedCommit | null = null,
): ListChangedFiles {
  let listed: Promise<readonly ChangedFile[] | null> | null = null;
  const list = async () => {
    const number = finder.number ?? (await finder.find())?.number;
    if (number === undefined) return null;
    const [owner = '', repo = ''] = event.repository.split('/');
    const { items } = await github.paginate(
      '/repos/{owner}/{repo}/pulls/{pull_number}/files',
      { owner, repo, pull_number: number },
      MAX_CHANGED_FILES / 100,
    );
    const heads = new Set(items.map(headOf).filter((head) => head !== ''));
    // A later push may leave nothing but deletions, and those name no head.
    if (heads.size === 0 && event.name !== 'merge_group') {
      const { data } = await github.request('GET', '/repos/{owner}/{repo}/pulls/{pull_number}', {
        owner,
        repo,
        pull_number: number,
      });
      heads.add(textAt(data, 'head', 'sha'));
    }
    for (const head of heads) requireJudged(head, event, checkedOut);
    return items.map(readFile).filter(({ path }) => path !== '');
  };
  return () => {
    listed ??= list();
    return listed;
  };
}

/** The head that an entry of the list is of, from the address of its contents; empty where it has none, or is a deleted file. */
function headOf(value: unknown): string {
  if (textAt(value, 'status') === 'removed') return '';
  return /[?&]ref=([0-9a-f]{40}|[0-9a-f]{64})(?:&|$)/u.exec(textAt(value, 'contents_url'))?.[1] ?? '';
}

/**
 * Requires the listed head to be that of the event or, where the event names none, the checked-out commit, or one that it merges.
 * Nothing is asked of a merge group, and of a checkout of the base, which is judged by the diff alone.
 */
function requireJudged(head: string, event: EventFacts, checkedOut: JudgedCommit | null): void {
  if (event.name === 'merge_group') return;
  const named = headOfEvent(event);
  if (named === '' && (checkedOut === null || checkedOut.sha === event.sha)) return;
  const parents = checkedOut?.parents ?? [];
  const judged = named === '' ? [checkedOut?.sha, ...(parents.length > 1 ? parents : [])] : [named];
  if (judged.includes(head)) return;
  throw new LaterPushError(
    `GitHub lists the files of ${head.slice(0, 12)}, which was pushed later, and not of ${judged[0]?.slice(0, 12)}.`,
  );
}

function readFile(value: unknown): ChangedFile {
  const patch = member(value, 'patch');
  const count = (key: string) => Number(member(value, key)) || 0;
  return {
    path: textAt(value, 'filename'),
    previous: textAt(value, 'previous_filename'),
    status: textAt(value, 'status'),
    additions: count('additions'),
    deletions: count('deletions'),
    patch: typeof patch === 'string' && patch !== '' ? patch : null,
    blob: textAt(value, 'sha'),
  };
}
