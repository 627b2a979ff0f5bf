/** The diff of a pull request from the checkout's own history, where GitHub cannot be asked: by git, behind the wall. */
import type { OpenedSandbox } from './sandbox.ts';

const LIMITS = { timeoutMs: 60_000, maxOutputBytes: 4_000 };
const MAX_DIFF = 4_000_000;

/** A folder that the change made look like a repository would bring its own history, and with it another diff. */
const GIT = 'git -c safe.bareRepository=explicit';

/**
 * A shell function `plain` that is git over the repository's objects, and a repository of its own beside: bare, empty, with
 * no config. `.gitattributes` (`*.js -diff`, `binary`), `.gitmodules` (`ignore = all`) and the rest of what a change can write
 * have no say in a diff that it makes. `init_plain` has to be called before, with a folder for that repository. Which objects
 * there are is told by GIT_OBJECT_DIRECTORY and GIT_ALTERNATE_OBJECT_DIRECTORIES.
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

/** The exit code of the script where the diff is as long as it may be, so that its end is most likely missing. */
const CUT = 10;

/**
 * Writes `context/changed-files.txt` and `context/diff.patch` into the private /tmp, and says whether the diff is whole;
 * `missing` where the base commit is not in the checkout (a shallow one), or git failed. Neither diff drivers nor text conversions of the
 * repository run, and its attributes hide nothing.
 */
export async function writeGitDiff(
  sandbox: Pick<OpenedSandbox, 'exec'>,
  base: string,
  signal: AbortSignal,
): Promise<'complete' | 'truncated' | 'missing'> {
  if (!/^[0-9a-f]{40,64}$/u.test(base)) return 'missing';
  const diff =
    'plain diff --no-color --no-ext-diff --no-textconv --ignore-submodules=none --find-renames "$from" "$to"';
  const script = [
    'set -e',
    PLAIN_GIT,
    `${GIT} cat-file -e '${base}^{commit}'`,
    `from="$(${GIT} merge-base '${base}' HEAD)"`,
    `to="$(${GIT} rev-parse --verify 'HEAD^{commit}')"`,
    `objects="$(${GIT} rev-parse --path-format=absolute --git-path objects)"`,
    'work="$(mktemp -d)"',
    'trap \'rm -rf "$work"\' EXIT',
    'init_plain "$work/git"',
    'export GIT_OBJECT_DIRECTORY="$objects"',
    'mkdir -p "$TMPDIR/context"',
    `${diff} --name-status > "$TMPDIR/context/changed-files.txt"`,
    `${diff} | head -c ${MAX_DIFF} > "$TMPDIR/context/diff.patch"`,
    `[ "$(wc -c < "$TMPDIR/context/diff.patch")" -lt ${MAX_DIFF} ] || exit ${CUT}`,
  ].join('\n');
  const { exitCode } = await sandbox.exec(script, { ...LIMITS, signal });
  if (exitCode === CUT) return 'truncated';
  return exitCode === 0 ? 'complete' : 'missing';
}
