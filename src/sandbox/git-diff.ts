/** The diff of a pull request from the checkout's own history, where GitHub cannot be asked: by git, behind the wall. */
import type { OpenedSandbox } from './sandbox.ts';

const LIMITS = { timeoutMs: 60_000, maxOutputBytes: 4_000 };
const MAX_DIFF = 4_000_000;

/** A folder that the change made look like a repository would bring its own history, and with it another diff. */
const GIT = 'git -c safe.bareRepository=explicit';

/** The exit code of the script where the diff is as long as it may be, so that its end is most likely missing. */
const CUT = 10;

/**
 * Writes `context/changed-files.txt` and `context/diff.patch` into the private /tmp, and says whether the diff is whole;
 * `missing` where the base commit is not in the checkout (a shallow one), or git failed. Neither diff drivers nor text conversions of the repository run.
 */
export async function writeGitDiff(
  sandbox: Pick<OpenedSandbox, 'exec'>,
  base: string,
  signal: AbortSignal,
): Promise<'complete' | 'truncated' | 'missing'> {
  if (!/^[0-9a-f]{40,64}$/u.test(base)) return 'missing';
  const diff = `${GIT} diff --no-color --no-ext-diff --no-textconv --find-renames`;
  const script = [
    'set -e',
    `${GIT} cat-file -e '${base}^{commit}'`,
    `${GIT} merge-base '${base}' HEAD > /dev/null`,
    'mkdir -p "$TMPDIR/context"',
    `${diff} --name-status '${base}...HEAD' > "$TMPDIR/context/changed-files.txt"`,
    `${diff} '${base}...HEAD' | head -c ${MAX_DIFF} > "$TMPDIR/context/diff.patch"`,
    `[ "$(wc -c < "$TMPDIR/context/diff.patch")" -lt ${MAX_DIFF} ] || exit ${CUT}`,
  ].join('\n');
  const { exitCode } = await sandbox.exec(script, { ...LIMITS, signal });
  if (exitCode === CUT) return 'truncated';
  return exitCode === 0 ? 'complete' : 'missing';
}
