/** Places the change that a run is about: as context files for the agent, and as files and hunks for its evidence. */
import { InputError } from '../errors.ts';
import type { Change, FileChange } from '../evidence/change.ts';
import { mergeBinaries, parseDiff, parsePatches } from '../evidence/parse-diff.ts';
import type { ChangeContext, LoadedContext } from '../github/change-context.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import { findMarkedFiles } from '../sandbox/workspace/base-attributes.ts';
import { type GitDiffResult, writeGitDiff } from '../sandbox/workspace/git-diff.ts';
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

type Files = Pick<Change, 'files' | 'incomplete'>;

/**
 * Writes the context files before the agent can ask for them, and reads the change from what GitHub listed or git wrote.
 * @param root of the repository, as the tools see it.
 * @throws InputError if there is nothing like `base`, or its history has nothing in common with the checkout's.
 */
export async function placeContext(
  context: ChangeContext,
  sandbox: OpenedSandbox,
  signal: AbortSignal,
  warn: (text: string) => void,
  root = sandbox.workingDirectory,
): Promise<PlacedChange> {
  const loaded = await context.load();
  await sandbox.ready();
  const fromGit = await writeDiff(loaded, sandbox, signal);
  const byGit = fromGit !== 'missing';
  const { about } = context.subject;
  for (const text of byGit ? [] : loaded.notes) warn(`${about[0]?.toUpperCase()}${about.slice(1)}: ${text}`);
  for (const [name, text] of loaded.files(byGit))
    await sandbox.write(`/tmp/context/${name}`, Buffer.from(text));
  const status = byGit ? fromGit : loaded.diff;
  const files = byGit ? await readGitDiff(sandbox, fromGit) : await readListed(loaded.listed, sandbox, root);
  if (files === null) return { status, change: null, unknown: loaded.notes[0] ?? 'The diff is missing.' };
  const marked = await findMarked(loaded, files.files, sandbox, signal);
  return { status, change: { ...files, marked }, unknown: '' };
}

/** @throws InputError if a ref cannot be compared with */
async function writeDiff(
  { range, diff }: LoadedContext,
  sandbox: OpenedSandbox,
  signal: AbortSignal,
): Promise<GitDiffResult> {
  // Without a shell there is no isolation backend to run git in.
  if (range === null || !sandbox.shellOffered) return 'missing';
  const result = await writeGitDiff(sandbox, range, diff === 'missing' ? 'write' : 'drop', signal);
  if (result !== 'no_ref' && result !== 'no_merge_base') return result;
  const ref = 'ref' in range ? range.ref : range.base;
  const problem =
    result === 'no_ref'
      ? 'is not a branch, tag or commit that git knows in this checkout. Fetch it, or name another one'
      : 'has no commit in common with the history that is checked out. In a shallow clone, fetch the rest first (git fetch --unshallow)';
  throw new InputError('base', `${quoteRef(ref)} ${problem}.`);
}

/**
 * Reads the diff that git has just written, before any tool of the agent runs. The sandbox opens it like a file that the
 * agent names: inside its own /tmp, no link, and no more than the limit.
 */
async function readGitDiff(
  sandbox: OpenedSandbox,
  status: Exclude<GitDiffResult, 'missing'>,
): Promise<Files | null> {
  const read = async (name: string) => {
    const view = await sandbox.read(`/tmp/context/${name}`, GITHUB.diff).catch(() => null);
    if (view?.kind !== 'file') return null;
    return parseDiff(view.bytes.toString('utf8'), view.bytes.length >= GITHUB.diff);
  };
  const files = await read('diff.patch');
  if (files === null) return null;
  // Not written if it would be the same.
  const asText = (await read('diff-as-text.patch')) ?? files;
  return {
    files: mergeBinaries(files, asText),
    incomplete:
      status === 'complete'
        ? null
        : `The diff is longer than ${GITHUB.diff / 1_000_000} MB, or git cannot show all of it, so a part of the change is not known.`,
  };
}

/** Reads the patches that GitHub listed, up to the size of the diff in the context files. */
async function readListed(
  listed: LoadedContext['listed'],
  sandbox: OpenedSandbox,
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
  sandbox: OpenedSandbox,
  signal: AbortSignal,
): Promise<Change['marked']> {
  if (base === null || !sandbox.shellOffered) return new Map();
  const paths = files.flatMap(({ path, previous }) => (previous === null ? [path] : [path, previous]));
  const marked = await findMarkedFiles(sandbox, { commit: base }, paths, signal);
  if (marked !== 'missing') return marked ?? new Map();
  const text = await readBaseAttributes();
  if (text === null) return new Map();
  const byText = await findMarkedFiles(sandbox, { text }, paths, signal);
  return byText === 'missing' || byText === null ? new Map() : byText;
}
