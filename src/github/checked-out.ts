/** Which commit lies in the workspace, as git's own files tell it: no program is run in what a stranger wrote. */
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';

const MAX_BYTES = 1_000;

/** The commit of the checkout at a folder; null where there is none, or its files do not say it plainly. */
export function checkedOutCommit(folder: string): string | null {
  const git = path.join(folder, '.git');
  const head = readShort(path.join(git, 'HEAD'));
  const branch = /^ref: (refs\/heads\/[\w./-]+)$/u.exec(head)?.[1] ?? '';
  const commit = branch === '' || branch.includes('..') ? head : readShort(path.join(git, branch));
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(commit) ? commit : null;
}

/** The text of a small regular file on one line; empty for anything else. */
function readShort(file: string): string {
  return readBoundedText(file, MAX_BYTES)?.trim() ?? '';
}
