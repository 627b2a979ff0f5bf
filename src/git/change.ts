/**
 * What git says about the judged change, in the sandbox: its diff, whatever the repository's attributes and drivers are,
 * and which files the `.gitattributes` of its base mark as generated or vendored. Neither the attributes of the change nor
 * those of the repository's info folder or of the user count: a change must not take its own files out of a review.
 */
import { type RunScript, shellWord } from '../sandbox/sandbox.ts';
import { BINARY_SUFFIXES } from '../text/file-names.ts';
import { GITHUB } from '../text/limits.ts';
import { MAX_FILE_LIST, PRELUDE, readParts } from './script.ts';

/** The two sides of a diff: commits, or a branch, tag or commit and the files of the checkout. */
export type DiffRange =
  | {
      /** The commit on which the change is based; the diff is made from its merge base with the checkout. */
      readonly base: string;
      /** A commit that the checkout must contain, so that its diff is that of the change; empty if unknown. */
      readonly head: string;
      /** Whether a change without a changed file is one; otherwise the checkout is taken for that of the base. */
      readonly mayBeEmpty?: boolean;
    }
  | { readonly ref: string };

/** Each text has at most GITHUB.diff bytes. */
export interface GitDiff {
  /** `truncated`: the end is missing. */
  readonly status: 'complete' | 'truncated';
  /** The changed files, as `git diff --name-status` lists them. */
  readonly names: Buffer;
  /** All files as text but those that have both the name of a binary file and a NUL at their start. */
  readonly diff: Buffer;
}

/** Patterns of .gitattributes for the names of binary files: git looks for a NUL in those only. */
const BINARY_PATTERNS = BINARY_SUFFIXES.map((suffix) => {
  const letters = suffix.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
  return `'*.${letters} !diff'`;
}).join(' ');

/** Exit codes of the scripts. */
const EXIT = { noRef: 10, noMergeBase: 11 } as const;

/**
 * Returns the diff of a change; `missing` if the base commit is not in the checkout (a shallow clone), the checkout does
 * not contain the change, nothing was changed, or git failed; `no_ref` or `no_merge_base` if that is what is wrong with
 * a ref. No diff driver and no text conversion of the repository runs, and its attributes hide nothing.
 */
export async function readGitDiff(
  runScript: RunScript,
  range: DiffRange,
  signal: AbortSignal,
): Promise<GitDiff | 'missing' | 'no_ref' | 'no_merge_base'> {
  const isCommit = (text: string) => /^[0-9a-f]{40,64}$/u.test(text);
  if ('base' in range && !(isCommit(range.base) && (range.head === '' || isCommit(range.head))))
    return 'missing';
  const script = `${PRELUDE}
${'base' in range ? findCommits(range) : findCheckout(range.ref)}
diff() {
  plain diff --no-color --no-ext-diff --no-textconv --ignore-submodules=none --find-renames "$@" "$from" "$to"
}
keep names ${GITHUB.diff} diff --name-status
# A single byte can make git treat a text file as binary and omit it from the diff.
printf '%s\\n' '* diff' ${BINARY_PATTERNS} > "$work/plain/info/attributes"
keep diff ${GITHUB.diff} diff
: > "$work/text"
emit`;
  const limits = { maxBytes: 2 * GITHUB.diff + 1_000, timeoutMs: 60_000, signal };
  const { exitCode, stdout } = await runScript(script, limits);
  if (exitCode === EXIT.noRef) return 'no_ref';
  if (exitCode === EXIT.noMergeBase) return 'no_merge_base';
  const parts = exitCode === 0 ? readParts(stdout) : null;
  if (parts === null) return 'missing';
  const [names, diff] = parts;
  // As on pull_request_target, if the checkout is the base.
  if ('base' in range && range.mayBeEmpty !== true && names.length === 0) return 'missing';
  const isTruncated = [names, diff].some((part) => part.length === GITHUB.diff);
  return { status: isTruncated ? 'truncated' : 'complete', names, diff };
}

/** Returns the lines that set `from` and `to` for the commits since the base. */
function findCommits({ base, head }: Extract<DiffRange, { readonly base: string }>): string {
  return `from="$(git merge-base '${base}' HEAD)"
to="$(git rev-parse HEAD)"
${head === '' ? '' : `git merge-base --is-ancestor '${head}' "$to"`}
prepare`;
}

/** Returns the same lines for all since the merge base with a ref: commits, and what is uncommitted in known files. */
function findCheckout(ref: string): string {
  return `git version > /dev/null
commit="$(git rev-parse --verify --quiet --end-of-options ${shellWord(`${ref}^{commit}`)})" || exit ${EXIT.noRef}
from="$(git merge-base "$commit" HEAD)" || exit ${EXIT.noMergeBase}
prepare
git add -u -- :/
to="$(git write-tree)"`;
}

export type FileMark = 'generated' | 'vendored';

/** The source of the attributes: a commit or ref of the checkout, or the text of the root's `.gitattributes`. */
export type BaseAttributes = { readonly commit: string } | { readonly text: string };

/** The exit code of the script if the commit is not in the checkout. */
const NO_COMMIT = 10;

/**
 * Returns the marked files among the paths, which are relative to the repository root. Nested `.gitattributes` of a
 * commit count as well. Returns `missing` if the commit is not in the checkout, and null if git failed.
 */
export async function findMarkedFiles(
  runScript: RunScript,
  base: BaseAttributes,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FileMark> | 'missing' | null> {
  if (paths.length === 0) return new Map();
  const text = Buffer.from('text' in base ? base.text : '');
  const input = Buffer.concat([text, ...paths.map((path) => Buffer.from(`${path}\0`))]);
  // git reads them from an index of its own: `check-attr --source` needs git 2.40.
  const script = `${PRELUDE}
prepare
${'commit' in base ? readCommit(base.commit) : readText(text.length)}
tail -c +${text.length + 1} "$INPUT" |
  plain check-attr --cached -z --stdin linguist-generated linguist-vendored`;
  const limits = { input, maxBytes: MAX_FILE_LIST, timeoutMs: 60_000, signal };
  const { exitCode, stdout, isCut } = await runScript(script, limits);
  if (exitCode === NO_COMMIT) return 'missing';
  return exitCode === 0 && !isCut ? readMarks(stdout.toString('utf8')) : null;
}

const readCommit = (commit: string) => `
tree="$(git rev-parse --verify --quiet --end-of-options ${shellWord(`${commit}^{tree}`)})" || exit ${NO_COMMIT}
plain read-tree "$tree"`;

const readText = (length: number) => `
blob="$(head -c ${length} "$INPUT" | plain hash-object -w --stdin)"
plain update-index --add --cacheinfo "100644,$blob,.gitattributes"`;

/** Reads path, attribute and value, each followed by a NUL. */
function readMarks(output: string): ReadonlyMap<string, FileMark> {
  const marks = new Map<string, FileMark>();
  const fields = output.split('\0');
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', attribute, value = ''] = fields.slice(at, at + 3);
    if (value !== 'set' && value !== 'true') continue;
    if (attribute === 'linguist-generated') marks.set(path, 'generated');
    else if (!marks.has(path)) marks.set(path, 'vendored');
  }
  return marks;
}
