/** The files that a pull request changes, as GitHub lists them. */
import type { GitHub } from './api.ts';
import { type EventFacts, member, textAt } from './event.ts';
import type { PullRequestFinder } from './pull-request.ts';

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
}

/** GitHub lists no more files of a pull request than this. */
export const MAX_CHANGED_FILES = 3_000;

/** Lists the files once, however often it is asked. @throws GitHubError; null where there is no pull request. */
export type ListChangedFiles = () => Promise<readonly ChangedFile[] | null>;

/** Makes the list of a run's pull request. */
export function createChangedFiles(
  event: EventFacts,
  finder: PullRequestFinder,
  github: GitHub,
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
    return items.map(readFile).filter(({ path }) => path !== '');
  };
  return () => {
    listed ??= list();
    return listed;
  };
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
    patch: typeof patch === 'string' ? patch : null,
  };
}
