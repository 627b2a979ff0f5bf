/** The diff of the judged change, made by git in the sandbox, whatever the repository's attributes and drivers are. */
import { type RunScript, shellWord } from '../sandbox/sandbox.ts';
import { GITHUB, WAIT } from '../text/limits.ts';
import { PLAIN_GIT, PRELUDE, readParts } from './script.ts';

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
const EXIT = { cut: 10, noRef: 11, noMergeBase: 12 } as const;

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
  const mayBeEmpty = !('base' in range) || range.mayBeEmpty === true;
  const script = `${PRELUDE}
mkdir "$work/objects"
${'base' in range ? findCommits(range) : findCheckout(range.ref)}
${PLAIN_GIT}
export GIT_OBJECT_DIRECTORY="$objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$work/objects"
diff() {
  plain diff --no-color --no-ext-diff --no-textconv --ignore-submodules=none --find-renames "$@" "$from" "$to"
}
result=0
whole() { is_below ${GITHUB.diff} "$1" || result=${EXIT.cut}; }
keep names ${GITHUB.diff} diff --name-status
whole names
${mayBeEmpty ? '' : '[ -s "$work/names" ]'}
keep diff ${GITHUB.diff} diff
whole diff
: > "$work/text"
if is_below ${GITHUB.diff} diff; then
  # A single byte can make git treat a text file as binary and omit it from the diff; git never shows a file of several
  # gigabytes.
  keep text ${GITHUB.diff} diff --text || cp "$work/diff" "$work/text"
  whole text
  if grep -aq '^Binary files ' "$work/text"; then result=${EXIT.cut}; fi
  if cmp -s "$work/diff" "$work/text"; then : > "$work/text"; fi
fi
emit names diff text
exit "$result"`;
  const limits = { maxBytes: 3 * GITHUB.diff + 1_000, timeoutMs: WAIT.git, signal };
  const { exitCode, stdout } = await runScript(script, limits);
  if (exitCode === EXIT.noRef) return 'no_ref';
  if (exitCode === EXIT.noMergeBase) return 'no_merge_base';
  const [names, diff, text] = readParts(stdout, 3) ?? [];
  if (names === undefined || diff === undefined || text === undefined) return 'missing';
  if (exitCode !== 0 && exitCode !== EXIT.cut) return 'missing';
  const status = exitCode === 0 ? 'complete' : 'truncated';
  return { status, names, diff, asText: text.length === 0 ? null : text };
}

const FIND_OBJECTS = 'objects="$(git rev-parse --path-format=absolute --git-path objects)"';

/** Returns the lines that set `from`, `to` and `objects` for the commits since the base. */
function findCommits({ base, head, mayBeEmpty = false }: Extract<DiffRange, { readonly base: string }>) {
  return `git cat-file -e '${base}^{commit}'
from="$(git merge-base '${base}' HEAD)"
to="$(git rev-parse --verify 'HEAD^{commit}')"
# If the checkout is the base, as on pull_request_target, the diff is empty.
${mayBeEmpty ? '' : '[ "$from" != "$to" ]'}
${head === '' ? '' : `git merge-base --is-ancestor '${head}' "$to"`}
${FIND_OBJECTS}`;
}

/**
 * Returns the same lines for everything since the merge base with a ref, as `git diff --merge-base` shows it: commits and
 * what is uncommitted in tracked files. What is in the files becomes a tree by a copy of the index, with objects of its
 * own, so that nothing is written to the repository.
 */
function findCheckout(ref: string): string {
  return `git version > /dev/null
commit="$(git rev-parse --verify --quiet --end-of-options ${shellWord(`${ref}^{commit}`)})" || exit ${EXIT.noRef}
head="$(git rev-parse --verify --quiet 'HEAD^{commit}')" || exit ${EXIT.noMergeBase}
from="$(git merge-base "$commit" "$head")" || exit ${EXIT.noMergeBase}
${FIND_OBJECTS}
index="$(git rev-parse --path-format=absolute --git-path index)"
top="$(git rev-parse --show-toplevel)"
# With its own time: by it git knows which files may have changed in the moment that it was written.
if [ -e "$index" ]; then cp -p "$index" "$work/index"; fi
files() {
  (export GIT_INDEX_FILE="$work/index" GIT_OBJECT_DIRECTORY="$work/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"
  git -C "$top" "$@")
}
files add -u -- :/
to="$(files write-tree)"`;
}
