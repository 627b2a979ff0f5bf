/**
 * What the agent changed in the workspace, as a count and a patch. Git is asked inside the wall, by the same door as the
 * agent's own commands: a nested repository, a filter or a `git` on PATH that the workspace brings along can make git
 * run whatever it likes, and there that gains nothing.
 */
import type { Sandbox } from './sandbox.ts';

/** The state of a workspace at one moment, to be compared with a later one. */
export interface Changes {
  /**
   * Compares the workspace with the moment this was made: untracked files count, ignored ones do not, nested
   * repositories are left out. Null where git cannot tell.
   */
  compare(
    signal: AbortSignal,
  ): Promise<{ readonly changedFiles: number; readonly patch: Buffer | null } | null>;
}

/** The longest that the first and the last look may take, in milliseconds: the last one comes after the run's clock. */
const FIRST_LOOK_MS = 30_000;
const LAST_LOOK_MS = 10_000;
/** The largest patch that is kept, in bytes. */
const MAX_PATCH_BYTES = 32 * 1024 * 1024;
const MAX_REPORT_BYTES = 4_096;

/**
 * A tree of the workspace as it is, written to an object folder of its own: the repository is not written to. The index
 * is a fresh copy of the repository's own each time, whose file times spare git from reading every file (a scratch copy
 * has the times, and other inodes); nested repositories are taken out of it, because their files are not this one's.
 */
const TREE = `
set -e
# Not the agent's own settings: ignore rules, attributes and filters of its home would hide what it did.
export HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1
cd "$(git rev-parse --show-toplevel)"
work="$TMPDIR/.changes"
mkdir -p "$work/objects"
export GIT_INDEX_FILE="$work/index" GIT_OBJECT_DIRECTORY="$work/objects"
GIT_ALTERNATE_OBJECT_DIRECTORIES="$(unset GIT_OBJECT_DIRECTORY; git rev-parse --path-format=absolute --git-path objects)"
export GIT_ALTERNATE_OBJECT_DIRECTORIES
rm -f "$work/index"
# With its own time: by it git knows which files may have changed in the moment that it was written.
cp -p "$(unset GIT_INDEX_FILE; git rev-parse --path-format=absolute --git-path index)" "$work/index" 2>/dev/null || true
safe() { git -c core.fsmonitor=false -c core.checkStat=minimal -c core.trustctime=false -c core.autocrlf=false -c core.safecrlf=false -c core.hooksPath=/dev/null "$@"; }
swap() { tr '\\n\\0' '\\0\\n'; }
drop_nested() { safe ls-files --stage -z | swap | sed -n 's/^160000 [^\t]*\t//p' | swap | safe update-index --force-remove -z --stdin; }
# A nested repository without a commit makes git add nothing at all; those that are left out have a slash at their end.
# A folder of which files are known already is none of them, whatever was made in it.
outer() { printf ':/\\0'; safe ls-files --others --exclude-standard -z | swap | sed -n 's|^\\(.*\\)/$|:(top,exclude,literal)\\1|p' | swap; }
add_all() { safe add --all -- :/ || outer | safe add --all --pathspec-from-file=- --pathspec-file-nul; }
drop_nested
add_all >/dev/null 2>&1
drop_nested
tree="$(safe write-tree)"
`;

/** Remembers the workspace. Null where it is no git repository, or there is no git. */
export async function rememberWorkspace(sandbox: Sandbox, signal: AbortSignal): Promise<Changes | null> {
  const before = treeOf(await look(sandbox, `${TREE}printf 'tree %s\n' "$tree"`, FIRST_LOOK_MS, signal));
  if (before === null) return null;
  return {
    async compare(later) {
      const diff = `safe diff-tree -r --no-ext-diff --no-textconv --no-renames ${before} "$tree"`;
      const script = `${TREE}
${diff} --name-only -z | tr -dc '\\0' | wc -c | sed 's/^ */files /'
${diff} --binary --full-index -p | head -c ${MAX_PATCH_BYTES + 1} > "$work/patch"
printf 'at %s\n' "$work/patch"`;
      const report = await look(sandbox, script, LAST_LOOK_MS, later);
      const files = /^files (\d+)$/mu.exec(report ?? '')?.[1];
      const at = /^at (.+)$/mu.exec(report ?? '')?.[1];
      if (files === undefined || at === undefined) return null;
      const changedFiles = Number(files);
      return { changedFiles, patch: changedFiles === 0 ? null : await readPatch(sandbox, at) };
    },
  };
}

/** What a script printed; null where it failed or took too long. */
async function look(
  sandbox: Sandbox,
  script: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  const limits = { timeoutMs, maxOutputBytes: MAX_REPORT_BYTES, signal };
  const { exitCode, output } = await sandbox.exec(script, limits);
  return exitCode === 0 ? output : null;
}

function treeOf(report: string | null): string | null {
  return /^tree ([0-9a-f]{40,64})$/mu.exec(report ?? '')?.[1] ?? null;
}

/** The patch, whole; null where it is larger than what is kept. */
async function readPatch(sandbox: Sandbox, at: string): Promise<Buffer | null> {
  const view = await sandbox.read(at, MAX_PATCH_BYTES + 1);
  return view.kind === 'file' && view.bytes.length <= MAX_PATCH_BYTES ? view.bytes : null;
}
