/** The files that a pull request changes, as GitHub lists them. */
import { GITHUB } from '../text/limits.ts';
import type { ListedChange } from '../types.ts';
import type { GitHub } from './client.ts';
import { type EventFacts, headOfEvent, repositoryOf } from './event.ts';

/** GitHub lists the files of the current head, which is not the judged commit: it was pushed later, for example. */
export class LaterPushError extends Error {}

/**
 * Lists the changed files of a pull request. Rejects with a GitHubError or a LaterPushError.
 * @param checkedOut the commit checked out in the judged folder; null if unknown.
 */
export async function listChangedFiles(
  number: number,
  event: EventFacts,
  github: GitHub,
  checkedOut: string | null,
): Promise<ListedChange> {
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
 * Requires the listed head to be the event's head or, if the event names none, the checked-out commit. Nothing is
 * required for a merge group, or for a checkout of the base, where only the diff is judged.
 */
function requireJudged(head: string, event: EventFacts, checkedOut: string | null): void {
  const named = headOfEvent(event);
  const judged = named || (checkedOut ?? event.sha);
  if (event.name === 'merge_group' || judged === head || (named === '' && judged === event.sha)) return;
  const why = named === '' ? 'which is not checked out' : 'which was pushed later';
  throw new LaterPushError(
    `GitHub lists the files of ${head.slice(0, 12)}, ${why}, and not of ${judged.slice(0, 12)}.`,
  );
}
