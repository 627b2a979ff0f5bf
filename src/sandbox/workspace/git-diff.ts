/** The diff of the judged change, made by git in the sandbox, whatever the repository's attributes and drivers are. */
import { GITHUB, WAIT } from '../../text/limits.ts';
import type { OpenedSandbox } from '../sandbox.ts';

const LIMITS = { timeoutMs: WAIT.git, maxOutputBytes: 4_000 };

/** A folder that the change made to look like a repository would have its own history, and thus another diff. */
const GIT = 'git -c safe.bareRepository=explicit';

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

interface GitDiffOptions {
  /** The commit on which the change is based. */
  readonly base: string;
  /** A commit that the checkout must contain, so that its diff is that of the change; empty if unknown. */
  readonly head: string;
  readonly partial: 'write' | 'drop';
}

/**
 * The exit code of the script if the diff is incomplete: usually its end is missing, or a file that git cannot show.
 */
const CUT = 10;

/**
 * Writes `context/changed-files.txt`, `context/diff.patch` and, if git treats a file as binary,
 * `context/diff-as-text.patch` to the private /tmp, and returns whether they cover the whole change. Returns `missing`
 * if nothing is written: the base commit is not in the checkout (a shallow clone), the checkout does not contain the
 * change, nothing was changed, or git failed. Diff drivers and text conversions of the repository do not run, and its
 * attributes hide nothing.
 */
export async function writeGitDiff(
  sandbox: Pick<OpenedSandbox, 'exec'>,
  { base, head, partial }: GitDiffOptions,
  signal: AbortSignal,
): Promise<'complete' | 'truncated' | 'missing'> {
  const isCommit = (text: string) => /^[0-9a-f]{40,64}$/u.test(text);
  if (!isCommit(base) || (head !== '' && !isCommit(head))) return 'missing';
  const script = [
    'set -e',
    PLAIN_GIT,
    `${GIT} cat-file -e '${base}^{commit}'`,
    `from="$(${GIT} merge-base '${base}' HEAD)"`,
    `to="$(${GIT} rev-parse --verify 'HEAD^{commit}')"`,
    // If the checkout is the base, as on pull_request_target, the diff is empty.
    '[ "$from" != "$to" ]',
    ...(head === '' ? [] : [`${GIT} merge-base --is-ancestor '${head}' "$to"`]),
    `objects="$(${GIT} rev-parse --path-format=absolute --git-path objects)"`,
    'work="$(mktemp -d)"',
    'trap \'rm -rf "$work"\' EXIT',
    'init_plain "$work/git"',
    'export GIT_OBJECT_DIRECTORY="$objects"',
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
    '[ -s changed-files.txt ]',
    'write_diff',
    'mv new.patch diff.patch',
    'result=0',
    'if is_whole diff.patch; then',
    // A single byte can make git treat a text file as binary and omit it from the diff; git never shows a file of
    // several gigabytes.
    '  if write_diff --text; then mv new.patch diff-as-text.patch; else cp diff.patch diff-as-text.patch; fi',
    `  if ! is_whole diff-as-text.patch || grep -aq '^Binary files ' diff-as-text.patch; then result=${CUT}; fi`,
    '  if cmp -s diff.patch diff-as-text.patch; then rm diff-as-text.patch; fi',
    `else result=${CUT}; fi`,
    'rm -f new.patch',
    ...(partial === 'drop' ? ['[ "$result" = 0 ]'] : []),
    'mkdir -p "$TMPDIR/context"',
    'mv ./* "$TMPDIR/context/"',
    'exit "$result"',
  ].join('\n');
  const { exitCode } = await sandbox.exec(script, { ...LIMITS, signal });
  if (exitCode === CUT) return 'truncated';
  return exitCode === 0 ? 'complete' : 'missing';
}
