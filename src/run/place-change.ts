/** Places the change that a run is about: as context files for the agent, and as files and hunks for its evidence. */
import { InputError } from '../errors.ts';
import { type Change, type FileChange, parseDiff, parsePatches } from '../evidence/change.ts';
import { type DiffRange, findMarkedFiles, type GitDiff, readGitDiff } from '../git/change.ts';
import { type ChangeContext, contextFiles, type LoadedContext } from '../github/context.ts';
import { type OpenedSandbox, type RunScript, shellWord } from '../sandbox/sandbox.ts';
import { GITHUB } from '../text/limits.ts';
import { showControls } from '../text/sanitize.ts';
import type { ContextStatus } from '../types.ts';
import { readHeads } from './binary-files.ts';
import { quoteRef } from './change.ts';

/** What is known of the change, once its context files have been written. */
export interface PlacedChange {
  readonly status: ContextStatus;
  readonly change: Change | null;
  /** One sentence for people: why the change is not known; empty if it is. */
  readonly unknown: string;
  /** The diffs in the context folder, by their path. */
  readonly diffs: ReadonlyMap<string, string>;
}

/** What of a sandbox is needed to place a change. */
export type ContextSandbox = Pick<
  OpenedSandbox,
  'workingDirectory' | 'contextFolder' | 'shellOffered' | 'ready' | 'read' | 'runScript' | 'addContext'
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
  const { listed, notes } = loaded;
  const rows = listed === null ? null : parsePatches(listed.files);
  const isPart = listed?.more !== null || rows?.some(({ kind }) => kind === 'unknown') === true;
  const known = rows === null ? 'missing' : isPart ? 'truncated' : 'complete';
  await sandbox.ready();
  // With `path` of actions/checkout the repository is below the working directory.
  const runScript: RunScript = (script, options) =>
    sandbox.runScript(`cd ${shellWord(root)} || exit\n${script}`, options);
  // Without a shell there is no isolation backend to run git in.
  const range = sandbox.shellOffered ? loaded.range : null;
  const isEnough = known === 'complete' && !loaded.prefersGit;
  const made = range === null || isEnough ? 'missing' : await readGitDiff(runScript, range, signal);
  if (made === 'no_ref' || made === 'no_merge_base') throw refError(range, made);
  const isBetter = made !== 'missing' && (made.status === 'complete' || known === 'missing');
  const fromGit = isBetter ? made : null;
  const { about } = context.subject;
  if (fromGit === null)
    for (const text of notes) warn(`${about[0]?.toUpperCase()}${about.slice(1)}: ${text}`);
  const texts = new Map(contextFiles(context.subject, loaded, fromGit !== null));
  if (fromGit !== null)
    texts.set('changed-files.txt', String(fromGit.names)).set('diff.patch', String(fromGit.diff));
  const diffs = new Map<string, string>();
  for (const [name, written] of texts) {
    const isDiff = name === 'diff.patch';
    const text = isDiff ? showControls(written) : written;
    await sandbox.addContext(name, Buffer.from(text));
    if (isDiff) diffs.set(`${sandbox.contextFolder}/${name}`, text);
  }
  const status = fromGit?.status ?? known;
  let files: Files | null = null;
  if (fromGit !== null) files = readFiles(fromGit);
  else if (listed !== null && rows !== null)
    files = { files: await readHeads(rows, listed.files, sandbox, root), incomplete: listed.more };
  if (files === null) return { status, change: null, unknown: notes[0] ?? 'The diff is missing.', diffs };
  const marked = range === null ? new Map() : await findMarked(range, loaded, files.files, runScript, signal);
  return { status, change: { ...files, marked }, unknown: '', diffs };
}

function refError(range: DiffRange | null, problem: 'no_ref' | 'no_merge_base'): InputError {
  const what =
    problem === 'no_ref'
      ? 'is not a branch, tag or commit that git knows in this checkout. Fetch it, or name another one'
      : 'has no commit in common with the history that is checked out. In a shallow clone, fetch the rest first (git fetch --unshallow)';
  return new InputError('base', `${quoteRef(baseOf(range))} ${what}.`);
}

const baseOf = (range: DiffRange | null) => (range === null ? '' : 'ref' in range ? range.ref : range.base);

function readFiles({ status, diff }: GitDiff): Files {
  const files = parseDiff(String(diff), status !== 'complete');
  const isCut = status !== 'complete' || files.length > GITHUB.changedFiles;
  return { files, incomplete: isCut ? TOO_LARGE : null };
}

const TOO_LARGE = `The diff has more than ${GITHUB.changedFiles} files or ${GITHUB.diff / 1_000_000} MB, so a part of the change is not known.`;

/** Returns the files that the base marks as generated or vendored; none if that is not known. */
async function findMarked(
  range: DiffRange,
  { readBaseAttributes }: LoadedContext,
  files: readonly FileChange[],
  runScript: RunScript,
  signal: AbortSignal,
): Promise<Change['marked']> {
  const paths = files.flatMap(({ path, previous }) => (previous === null ? [path] : [path, previous]));
  let marked = await findMarkedFiles(runScript, { commit: baseOf(range) }, paths, signal);
  if (marked === 'missing') {
    const text = await readBaseAttributes();
    marked = text === null ? null : await findMarkedFiles(runScript, { text }, paths, signal);
  }
  return marked === 'missing' || marked === null ? new Map() : marked;
}
