/** The diff of the judged change, made by git in the sandbox, whatever the repository's attributes and drivers are. */
import { type RunScript, shellWord } from '../sandbox/sandbox.ts';
import { GITHUB, WAIT } from '../text/limits.ts';
import { PRELUDE, readParts } from './script.ts';

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
  /** `truncated`: usually the end is missing, or a file that git cannot show. */
  readonly status: 'complete' | 'truncated';
  /** The changed files, as `git diff --name-status` lists them. */
  readonly names: Buffer;
  readonly diff: Buffer;
  /** The same with what git takes for binary files as text; null if there is no such file. */
  readonly asText: Buffer | null;
}

/** Exit codes of the scripts. */
const EXIT = { noRef: 10, noMergeBase: 11 } as const;

/**
 * Returns the diff of a change. Returns `missing` if the base commit is not in the checkout (a shallow clone), the
 * checkout does not contain the change, nothing was changed, or git failed; and `no_ref` or `no_merge_base` if that is
 * what is wrong with a ref. Diff drivers and text conversions of the repository do not run, and its attributes hide
 * nothing.
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
keep diff ${GITHUB.diff} diff
# A single byte can make git treat a text file as binary and omit it from the diff; git never shows a file of several
# gigabytes.
keep text ${GITHUB.diff} diff --text || cp "$work/diff" "$work/text"
emit`;
  const limits = { maxBytes: 3 * GITHUB.diff + 1_000, timeoutMs: WAIT.git, signal };
  const { exitCode, stdout } = await runScript(script, limits);
  if (exitCode === EXIT.noRef) return 'no_ref';
  if (exitCode === EXIT.noMergeBase) return 'no_merge_base';
  const parts = exitCode === 0 ? readParts(stdout) : null;
  if (parts === null) return 'missing';
  const [names, diff, text] = parts;
  // As on pull_request_target, if the checkout is the base.
  if ('base' in range && range.mayBeEmpty !== true && names.length === 0) return 'missing';
  const isFull = (part: Buffer) => part.length === GITHUB.diff;
  const isTruncated = parts.some(isFull) || text.includes('\nBinary files ');
  return {
    status: isTruncated ? 'truncated' : 'complete',
    names,
    diff,
    asText: isFull(diff) || text.equals(diff) ? null : text,
  };
}

/** Returns the lines that set `from` and `to` for the commits since the base. */
function findCommits({ base, head }: Extract<DiffRange, { readonly base: string }>): string {
  return `from="$(git merge-base '${base}' HEAD)"
to="$(git rev-parse HEAD)"
${head === '' ? '' : `git merge-base --is-ancestor '${head}' "$to"`}
prepare`;
}

/**
 * Returns the same lines for everything since the merge base with a ref, as `git diff --merge-base` shows it: commits and
 * what is uncommitted in tracked files.
 */
function findCheckout(ref: string): string {
  return `git version > /dev/null
commit="$(git rev-parse --verify --quiet --end-of-options ${shellWord(`${ref}^{commit}`)})" || exit ${EXIT.noRef}
from="$(git merge-base "$commit" HEAD)" || exit ${EXIT.noMergeBase}
prepare
git add -u -- :/
to="$(git write-tree)"`;
}
