/** The diff of the judged change, made by git in the sandbox, whatever the repository's attributes and drivers are. */
import { GITHUB, WAIT } from '../../text/limits.ts';
import { quote } from '../exec/shell-line.ts';
import type { OpenedSandbox } from '../sandbox.ts';

const LIMITS = { timeoutMs: WAIT.git, maxOutputBytes: 4_000 };

/** A folder that the change made to look like a repository would have its own history, and thus another diff. */
export const GIT = 'git -c safe.bareRepository=explicit';

/**
 * Begins a script whose result decides what has to be seen. Programs of the system come first: a folder on PATH may be in
 * the workspace (`node_modules/.bin`), with a `git` that finds no changes. Commits count as they were made: replacements
 * and grafts can make a change look like a part of its own base.
 */
export const SETTINGS = `PATH="/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin:$PATH"
export GIT_NO_REPLACE_OBJECTS=1 GIT_GRAFT_FILE=/nonexistent
`;

/**
 * Defines a shell function `plain`, which is git with the objects of the repository and a separate bare, empty
 * repository without config. `.gitattributes` (`*.js -diff`, `binary`), `.gitmodules` (`ignore = all`) and other files
 * that a change can write do not affect its diffs. Call `init_plain` first, with a folder for that repository. It finds
 * the objects by GIT_OBJECT_DIRECTORY and GIT_ALTERNATE_OBJECT_DIRECTORIES.
 */
export const PLAIN_GIT = `
init_plain() {
  plain_dir="$1"
  plain_format="$(git -c safe.bareRepository=explicit rev-parse --show-object-format)"
  env -u GIT_OBJECT_DIRECTORY -u GIT_INDEX_FILE git init -q --bare --template= --object-format="$plain_format" "$plain_dir" >/dev/null
  mkdir -p "$plain_dir/info"
  # Above all other attributes, should a version of git read some in a bare repository.
  printf '* !diff\\n' > "$plain_dir/info/attributes"
}
plain() {
  env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$plain_dir" HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent GIT_CONFIG_GLOBAL=/dev/null \\
    GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1 GIT_NO_REPLACE_OBJECTS=1 git "$@"
}
`;

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

export type GitDiffResult = 'complete' | 'truncated' | 'missing';

/** Exit codes of the scripts. `cut`: usually the end of the diff is missing, or a file that git cannot show. */
const EXIT = { cut: 10, noRef: 11, noMergeBase: 12 } as const;

/**
 * Writes `context/changed-files.txt`, `context/diff.patch` and, if git treats a file as binary,
 * `context/diff-as-text.patch` to the private /tmp, and returns whether they cover the whole change. Returns `missing`
 * if nothing is written: the base commit is not in the checkout (a shallow clone), the checkout does not contain the
 * change, nothing was changed, or git failed; and `no_ref` or `no_merge_base` if that is what is wrong with a ref. Diff
 * drivers and text conversions of the repository do not run, and its attributes hide nothing.
 * @param partial whether an incomplete diff is written; otherwise it counts as missing.
 */
export async function writeGitDiff(
  sandbox: Pick<OpenedSandbox, 'exec'>,
  range: DiffRange,
  partial: 'write' | 'drop',
  signal: AbortSignal,
): Promise<GitDiffResult | 'no_ref' | 'no_merge_base'> {
  const isCommit = (text: string) => /^[0-9a-f]{40,64}$/u.test(text);
  if ('base' in range && !(isCommit(range.base) && (range.head === '' || isCommit(range.head))))
    return 'missing';
  const script = [
    'set -e',
    SETTINGS,
    PLAIN_GIT,
    'work="$(mktemp -d)"',
    'trap \'rm -rf "$work"\' EXIT',
    'mkdir "$work/objects"',
    ...('base' in range ? findCommits(range) : findCheckout(range.ref)),
    'init_plain "$work/git"',
    'export GIT_OBJECT_DIRECTORY="$objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$work/objects"',
    'mkdir "$work/context"',
    'cd "$work/context"',
    `diff() {
  plain diff --no-color --no-ext-diff --no-textconv --ignore-submodules=none --find-renames "$@" "$from" "$to"
}
is_whole() { [ "$(wc -c < "$1")" -lt ${GITHUB.diff} ]; }
# Fails where git does; that it cannot write on behind the limit is no failure.
write_diff() {
  { diff "$@" || : > ../failed; } | head -c ${GITHUB.diff} > new.patch
  if [ -e ../failed ] && is_whole new.patch; then return 1; fi
}`,
    'diff --name-status > changed-files.txt',
    ...('base' in range && range.mayBeEmpty !== true ? ['[ -s changed-files.txt ]'] : []),
    'write_diff',
    'mv new.patch diff.patch',
    'result=0',
    'if is_whole diff.patch; then',
    // A single byte can make git treat a text file as binary and omit it from the diff; git never shows a file of
    // several gigabytes.
    '  if write_diff --text; then mv new.patch diff-as-text.patch; else cp diff.patch diff-as-text.patch; fi',
    `  if ! is_whole diff-as-text.patch || grep -aq '^Binary files ' diff-as-text.patch; then result=${EXIT.cut}; fi`,
    '  if cmp -s diff.patch diff-as-text.patch; then rm diff-as-text.patch; fi',
    `else result=${EXIT.cut}; fi`,
    'rm -f new.patch',
    ...(partial === 'drop' ? ['[ "$result" = 0 ]'] : []),
    'mkdir -p "$TMPDIR/context"',
    'mv ./* "$TMPDIR/context/"',
    'exit "$result"',
  ].join('\n');
  const { exitCode } = await sandbox.exec(script, { ...LIMITS, signal });
  if (exitCode === EXIT.noRef) return 'no_ref';
  if (exitCode === EXIT.noMergeBase) return 'no_merge_base';
  if (exitCode === EXIT.cut) return 'truncated';
  return exitCode === 0 ? 'complete' : 'missing';
}

const FIND_OBJECTS = `objects="$(${GIT} rev-parse --path-format=absolute --git-path objects)"`;

/** Returns the lines that set `from`, `to` and `objects` for the commits since the base. */
function findCommits({ base, head, mayBeEmpty = false }: Extract<DiffRange, { readonly base: string }>) {
  return [
    `${GIT} cat-file -e '${base}^{commit}'`,
    `from="$(${GIT} merge-base '${base}' HEAD)"`,
    `to="$(${GIT} rev-parse --verify 'HEAD^{commit}')"`,
    // If the checkout is the base, as on pull_request_target, the diff is empty.
    ...(mayBeEmpty ? [] : ['[ "$from" != "$to" ]']),
    ...(head === '' ? [] : [`${GIT} merge-base --is-ancestor '${head}' "$to"`]),
    FIND_OBJECTS,
  ];
}

/**
 * Returns the same lines for everything since the merge base with a ref, as `git diff --merge-base` shows it: commits and
 * what is uncommitted in tracked files. What is in the files becomes a tree by a copy of the index, with objects of its
 * own, so that nothing is written to the repository.
 */
const findCheckout = (ref: string): readonly string[] => [
  'command -v git > /dev/null',
  `commit="$(${GIT} rev-parse --verify --quiet --end-of-options ${quote(`${ref}^{commit}`)})" || exit ${EXIT.noRef}`,
  `head="$(${GIT} rev-parse --verify --quiet 'HEAD^{commit}')" || exit ${EXIT.noMergeBase}`,
  `from="$(${GIT} merge-base "$commit" "$head")" || exit ${EXIT.noMergeBase}`,
  FIND_OBJECTS,
  `index="$(${GIT} rev-parse --path-format=absolute --git-path index)"
top="$(${GIT} rev-parse --show-toplevel)"
# With its own time: by it git knows which files may have changed in the moment that it was written.
if [ -e "$index" ]; then cp -p "$index" "$work/index"; fi
files() {
  GIT_INDEX_FILE="$work/index" GIT_OBJECT_DIRECTORY="$work/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects" \\
    ${GIT} -C "$top" -c core.fsmonitor=false -c core.safecrlf=false -c core.hooksPath=/dev/null "$@" 2> /dev/null
}
files add -u -- :/
to="$(files write-tree)"`,
];
