/** Places the change that a run is about: as context files for the agent, and as files and hunks for its evidence. */
import { InputError } from '../errors.ts';
import type { Change, FileChange } from '../evidence/change.ts';
import { mergeBinaries, parseDiff, parsePatches } from '../evidence/parse-diff.ts';
import { findMarkedFiles } from '../git/attributes.ts';
import { type GitDiff, readGitDiff } from '../git/diff.ts';
import type { ChangeContext, LoadedContext } from '../github/change-context.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import { GITHUB } from '../text/limits.ts';
import type { ContextStatus } from '../types.ts';
import { markBinaryFiles } from './binary-files.ts';
import { quoteRef } from './change.ts';

/** What is known of the change, once its context files have been written. */
export interface PlacedChange {
  readonly status: ContextStatus;
  readonly change: Change | null;
  /** One sentence for people: why the change is not known; empty if it is. */
  readonly unknown: string;
}

/** What of a sandbox is needed to place a change. */
export type ContextSandbox = Pick<
  OpenedSandbox,
  'workingDirectory' | 'shellOffered' | 'ready' | 'read' | 'runScript' | 'addContext'
>;

type Files = Pick<Change, 'files' | 'incomplete'>;

/**
 * Writes the context files before the agent can ask for them, and reads the change from what GitHub listed or git made.
 * @param root of the repository, as the tools see it.
 * @throws InputError if there is nothing like `base`, or its history has nothing in common with the checkout's.
 */
export async function placeContext(
  context: ChangeContext,
  sandbox: ContextSandbox,
  signal: AbortSignal,
  warn: (text: string) => void,
  root = sandbox.workingDirectory,
): Promise<PlacedChange> {
  const loaded = await context.load();
  await sandbox.ready();
  const fromGit = await readDiff(loaded, sandbox, signal);
  const { about } = context.subject;
  const notes = fromGit === null ? loaded.notes : [];
  for (const text of notes) warn(`${about[0]?.toUpperCase()}${about.slice(1)}: ${text}`);
  for (const [name, text] of loaded.files(fromGit !== null))
    await sandbox.addContext(name, Buffer.from(text));
  if (fromGit !== null) await addDiff(fromGit, sandbox);
  const status = fromGit?.status ?? loaded.diff;
  const files = fromGit === null ? await readListed(loaded.listed, sandbox, root) : readFiles(fromGit);
  if (files === null) return { status, change: null, unknown: loaded.notes[0] ?? 'The diff is missing.' };
  const marked = await findMarked(loaded, files.files, sandbox, signal);
  return { status, change: { ...files, marked }, unknown: '' };
}

/**
 * Returns the diff as git makes it; null if there is none, or GitHub's is no worse.
 * @throws InputError if a ref cannot be compared with
 */
async function readDiff(
  { range, diff }: LoadedContext,
  { runScript, shellOffered }: ContextSandbox,
  signal: AbortSignal,
): Promise<GitDiff | null> {
  // Without a shell there is no isolation backend to run git in.
  if (range === null || !shellOffered) return null;
  const result = await readGitDiff(runScript, range, signal);
  if (result === 'missing') return null;
  if (result !== 'no_ref' && result !== 'no_merge_base')
    return result.status === 'complete' || diff === 'missing' ? result : null;
  const ref = 'ref' in range ? range.ref : range.base;
  const problem =
    result === 'no_ref'
      ? 'is not a branch, tag or commit that git knows in this checkout. Fetch it, or name another one'
      : 'has no commit in common with the history that is checked out. In a shallow clone, fetch the rest first (git fetch --unshallow)';
  throw new InputError('base', `${quoteRef(ref)} ${problem}.`);
}

async function addDiff({ names, diff, asText }: GitDiff, sandbox: ContextSandbox): Promise<void> {
  await sandbox.addContext('changed-files.txt', names);
  await sandbox.addContext('diff.patch', diff);
  if (asText !== null) await sandbox.addContext('diff-as-text.patch', asText);
}

function readFiles({ status, diff, asText }: GitDiff): Files {
  const read = (bytes: Buffer) => parseDiff(bytes.toString('utf8'), bytes.length >= GITHUB.diff);
  const files = read(diff);
  return {
    files: mergeBinaries(files, asText === null ? files : read(asText)),
    incomplete:
      status === 'complete'
        ? null
        : `The diff is longer than ${GITHUB.diff / 1_000_000} MB, or git cannot show all of it, so a part of the change is not known.`,
  };
}

/** Reads the patches that GitHub listed, up to the size of the diff in the context files. */
async function readListed(
  listed: LoadedContext['listed'],
  sandbox: ContextSandbox,
  root: string,
): Promise<Files | null> {
  if (listed === null) return null;
  let left: number = GITHUB.diff;
  let isCut = false;
  const rows = listed.files.map((row) => {
    left -= row.patch?.length ?? 0;
    if (left >= 0 || row.patch === null) return row;
    isCut = true;
    return { ...row, patch: null, additions: Math.max(row.additions, 1) };
  });
  const reasons = [
    ...(listed.more === null ? [] : [listed.more]),
    ...(isCut ? [`Of the diff, ${GITHUB.diff / 1_000_000} MB are known.`] : []),
  ];
  const files = await markBinaryFiles(parsePatches(rows), rows, sandbox, root);
  return { files, incomplete: reasons.length === 0 ? null : reasons.join(' ') };
}

/** Returns the files that the base marks as generated or vendored; none if that is not known. */
async function findMarked(
  { base, readBaseAttributes }: LoadedContext,
  files: readonly FileChange[],
  sandbox: ContextSandbox,
  signal: AbortSignal,
): Promise<Change['marked']> {
  if (base === null || !sandbox.shellOffered) return new Map();
  const paths = files.flatMap(({ path, previous }) => (previous === null ? [path] : [path, previous]));
  const marked = await findMarkedFiles(sandbox.runScript, { commit: base }, paths, signal);
  if (marked !== 'missing') return marked ?? new Map();
  const text = await readBaseAttributes();
  if (text === null) return new Map();
  const byText = await findMarkedFiles(sandbox.runScript, { text }, paths, signal);
  return byText === 'missing' || byText === null ? new Map() : byText;
}
