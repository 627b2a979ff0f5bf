/** Places the change that a run is about: as context files for the agent, and as files and hunks for its evidence. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { InputError } from '../errors.ts';
import { type Change, type FileChange, parseDiff, parsePatches, wholeFile } from '../evidence/change.ts';
import { createExemptions } from '../evidence/not-required.ts';
import { findMarkedFiles, readGitDiff } from '../git/change.ts';
import { type ChangeContext, contextFiles, quotedPath } from '../github/context.ts';
import { type OpenedSandbox, type RunScript, shellWord } from '../sandbox/sandbox.ts';
import { BINARY_LOOK, isBinaryName } from '../text/file-names.ts';
import { DISPLAY, GITHUB } from '../text/limits.ts';
import { quote } from '../text/messages.ts';
import { showControls } from '../text/sanitize.ts';
import { race } from '../text/wait.ts';
import type { ChangedFile, ContextStatus } from '../types.ts';

export type ContextSandbox = Pick<
  OpenedSandbox,
  'workingDirectory' | 'contextFolder' | 'shellOffered' | 'ready' | 'read' | 'runScript' | 'addContext'
>;

const TOO_LARGE = `The diff has more than ${GITHUB.changedFiles} files or ${GITHUB.diff / 1_000_000} MB, so a part of the change is not known.`;

/**
 * Writes the context files before the agent can ask for them, and reads the change from what GitHub listed or git made.
 * @param root of the repository, as the tools see it.
 * @throws InputError if there is nothing like `base`, or its history has nothing in common with the checkout's.
 */
export async function placeContext(
  { subject, load }: ChangeContext,
  sandbox: ContextSandbox,
  signal: AbortSignal,
  warn: (text: string) => void,
  root: string,
) {
  const loaded = await race(load(), signal);
  const { listed, notes } = loaded;
  const rows = parsePatches(listed?.files ?? []);
  const isPart = listed?.more !== null || rows.some(({ kind }) => kind === 'unknown');
  const known: ContextStatus = listed === null ? 'missing' : isPart ? 'truncated' : 'complete';
  await sandbox.ready();
  // With `path` of actions/checkout the repository is below the working directory.
  const runScript: RunScript = (script, options) =>
    sandbox.runScript(`cd ${shellWord(root)} || exit\n${script}`, options);
  // Without a shell there is no isolation backend to run git in.
  const range = sandbox.shellOffered ? loaded.range : null;
  const base = range === null ? '' : 'ref' in range ? range.ref : range.base;
  const isEnough = known === 'complete' && !loaded.prefersGit;
  const made = range === null || isEnough ? 'missing' : await readGitDiff(runScript, range, signal);
  if (made === 'no_ref' || made === 'no_merge_base')
    throw new InputError('base', `${quote(base, DISPLAY.name)} ${REF_PROBLEMS[made]}.`);
  const fromGit = made !== 'missing' && (made.status === 'complete' || known === 'missing') ? made : null;

  const texts = new Map(contextFiles(subject, loaded, fromGit !== null));
  if (fromGit !== null)
    texts.set('changed-files.txt', String(fromGit.names)).set('diff.patch', String(fromGit.diff));
  const patch = texts.get('diff.patch');
  const diff =
    patch === undefined ? null : { path: `${sandbox.contextFolder}/diff.patch`, text: showControls(patch) };
  if (diff !== null) texts.set('diff.patch', diff.text);
  for (const [name, text] of texts) await sandbox.addContext(name, Buffer.from(text));

  let files = rows;
  let why: string | null;
  if (fromGit !== null) {
    files = parseDiff(String(fromGit.diff));
    why = fromGit.status !== 'complete' || files.length > GITHUB.changedFiles ? TOO_LARGE : null;
  } else {
    const { about } = subject;
    for (const text of notes) warn(`${about[0]?.toUpperCase()}${about.slice(1)}: ${text}`);
    files = await readHeads(rows, listed?.files ?? [], sandbox, root);
    why = listed === null ? (notes[0] ?? 'The diff is missing.') : listed.more;
  }
  const paths = files.flatMap(({ path, previous }) => (previous === null ? [path] : [path, previous]));
  let marked = range === null ? null : await findMarkedFiles(runScript, { commit: base }, paths, signal);
  if (marked === 'missing') {
    const text = await race(loaded.readBaseAttributes(), signal);
    marked = text === null ? null : await findMarkedFiles(runScript, { text }, paths, signal);
  }
  const change: Change = {
    files,
    status: why === null ? 'measured' : 'partial',
    why,
    marked: marked instanceof Map ? marked : new Map(),
  };
  return { context: fromGit?.status ?? known, change, diff };
}

const REF_PROBLEMS = {
  no_ref: 'is not a branch, tag or commit that git knows in this checkout. Fetch it, or name another one',
  no_merge_base:
    'has no commit in common with the history that is checked out. In a shallow clone, fetch the rest first (git fetch --unshallow)',
};

/** Bytes of all files that are read. */
const MAX_BYTES = 64 * 1024 ** 2;

/**
 * Completes the files that GitHub lists without a patch. It gives none for a file with a NUL, and lists such a one as only
 * renamed if it was edited as well.
 * @param rows the files as GitHub lists them, in the same order.
 * @param root of the repository, as the tools see it.
 */
async function readHeads(
  files: readonly FileChange[],
  rows: readonly ChangedFile[],
  { read }: Pick<OpenedSandbox, 'read'>,
  root: string,
): Promise<readonly FileChange[]> {
  let left: number = MAX_BYTES;
  const completed: FileChange[] = [];
  for (const [at, file] of files.entries()) {
    const { patch = '', blob = '' } = rows[at] ?? {};
    const isOpen = patch === null && !file.isRemoved;
    const view = isOpen ? await read(path.posix.join(root, file.path), left).catch(() => null) : null;
    const bytes = view?.kind === 'file' && !view.truncated ? view.bytes : null;
    left -= bytes?.length ?? 0;
    completed.push(bytes === null ? file : describeHead(file, bytes, blob));
  }
  return completed;
}

function describeHead(file: FileChange, bytes: Buffer, blob: string): FileChange {
  const hasNul = bytes.subarray(0, BINARY_LOOK).includes(0);
  if (file.kind === 'unit' && !hasNul) return file;
  // Whatever is checked out, it has to be the very file that GitHub lists.
  const hash = createHash(blob.length === 64 ? 'sha256' : 'sha1');
  const id = hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  if (id !== blob) return { ...file, kind: 'unknown' };
  const isBinary = hasNul && isBinaryName(file.path);
  return isBinary ? { ...file, kind: 'binary' } : wholeFile(file, bytes.toString('utf8'));
}

/** Characters of a diff in the first message. */
const MAX_INLINED = 60_000;

/**
 * Returns the part of a change that has to be seen; null if not all of it is known, if it is too long, or empty.
 * @param diff of the whole change, with control characters as visible escapes.
 * @param subject the judged folder, relative to the repository root; empty for the root itself.
 */
export function inlineDiff(change: Change, diff: string, subject: string): string | null {
  const exempt = createExemptions(change, subject);
  const required = change.files.filter((file) => exempt(file) === null);
  const isWhole = change.status === 'measured' && required.every(({ kind }) => kind !== 'unknown');
  if (!isWhole || required.length === 0) return null;
  const names = required.map(
    ({ path, isRemoved }) => `${isRemoved ? 'removed' : 'changed'}\t${quotedPath(path)}\n`,
  );
  const paths = new Set(required.map(({ path }) => path));
  // No line of a hunk or of binary data starts like this.
  const sections = diff
    .split(/(?<![^\n])(?=diff --git )/u)
    .filter((section) => parseDiff(section).some(({ path }) => paths.has(path)));
  const text = `${names.join('')}\n${sections.join('')}`;
  // No text inside can hold the hash of the whole, so none can end it; and a replay has the same bytes.
  const mark = createHash('sha256').update(text).digest('hex');
  return text.length > MAX_INLINED ? null : `<diff sha256="${mark}">\n${text}</diff sha256="${mark}">`;
}
