/**
 * Determines what the agent changed in the workspace, as a count and a patch. git runs in the sandbox, like the agent's
 * own commands: a nested repository, a filter or a `git` on PATH that the workspace contains can make git run anything,
 * which gains nothing there.
 */
import { randomBytes } from 'node:crypto';
import { READ, WAIT } from '../../text/limits.ts';
import type { Sandbox } from '../sandbox.ts';
import { PLAIN_GIT } from './git-diff.ts';
import { filterPatch, type LeftOut } from './patch.ts';

/** The state of a workspace at one moment, for comparison with a later one. */
export interface Changes {
  /**
   * Compares the workspace with that moment. Includes untracked files, but neither ignored files nor nested
   * repositories. Null if git cannot tell, for example inside a folder that the agent closed.
   */
  compare(signal: AbortSignal): Promise<Comparison | null>;
}

export interface Comparison {
  /** Includes files that the patch leaves out. */
  readonly changedFiles: number;
  /** null if the patch would be empty or is too large. */
  readonly patch: Buffer | null;
  /** Files that `git apply` must not bring in unread, and files that contain a secret. */
  readonly leftOut: readonly LeftOut[];
}

const MAX_REPORT_BYTES = 4_096;

/**
 * Messages of git about a folder or a file that it skips. A name that contains these words can only make the result
 * less certain.
 */
const PASSED_OVER =
  'could not open directory|: (Permission denied|Operation not permitted|File ?name too long|Input/output error|Cannot allocate memory|Too many open files)';

/**
 * Returns a script that writes a tree of the current workspace to a separate object folder; the repository is not
 * written to. Each index is a new copy of the repository's own, whose file times save git from reading every file (a
 * scratch copy preserves the times, but has other inodes). Nested repositories are removed from it, because their files
 * do not belong to this one.
 */
const tree = (folder: string, stat: string, prepare = '', complete = '') => `
set -e
# Git's complaints hold names as they are, line ends and all: one could tell another number, or another patch.
exec 2>/dev/null
# Git's complaints are searched for words, and paths are bytes.
export LC_ALL=C LANGUAGE=
# Not the agent's own settings: ignore rules, attributes and filters of its home would hide what it did.
export HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1
# A folder that the change made look like a repository would bring its own index and excludes.
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_1=safe.bareRepository GIT_CONFIG_VALUE_1=explicit
cd "$(git rev-parse --show-toplevel)"
work="$TMPDIR/${folder}"
mkdir -p "$work/objects"
export GIT_INDEX_FILE="$work/index" GIT_OBJECT_DIRECTORY="$work/objects"
GIT_ALTERNATE_OBJECT_DIRECTORIES="$(unset GIT_OBJECT_DIRECTORY; git rev-parse --path-format=absolute --git-path objects)"
export GIT_ALTERNATE_OBJECT_DIRECTORIES
rm -f "$work/index" "$work/complaints"
# With its own time: by it git knows which files may have changed in the moment that it was written.
cp -p "$(unset GIT_INDEX_FILE; git rev-parse --path-format=absolute --git-path index)" "$work/index" 2>/dev/null || true
safe() { git -c core.fsmonitor=false ${stat} -c core.autocrlf=false -c core.safecrlf=false -c core.hooksPath=/dev/null "$@"; }
swap() { tr '\\n\\0' '\\0\\n'; }
drop_nested() { safe ls-files --stage -z | swap | sed -n 's/^160000 [^\t]*\t//p' | swap | safe update-index --force-remove -z --stdin; }
# A nested repository without a commit makes git add nothing at all; those that are left out have a slash at their end.
# A folder of which files are known already is none of them, whatever was made in it.
outer() { printf ':/\\0'; safe ls-files --others --exclude-standard -z | swap | sed -n 's|^\\(.*\\)/$|:(top,exclude,literal)\\1|p' | swap; }
add() { safe add --all "$@" >/dev/null 2>>"$work/complaints"; }
add_all() { add -- :/ || outer | add --pathspec-from-file=- --pathspec-file-nul; }
${prepare}drop_nested
add_all
# What it cannot look into (a closed folder, a path too long) git warns of and passes over, as if it were as before.
found=0
grep -Eaq '${PASSED_OVER}' "$work/complaints" || found=$?
[ "$found" -eq 1 ]
drop_nested
${complete}tree="$(safe write-tree)"
`;

/**
 * Returns a script that sets a new time on files of a copy whose inode changed after `since`, so that git reads them:
 * an edit may have preserved the size and reset the time, and for a copy the index knows only sizes and times. Commands
 * cannot reset the ctime of the kernel. If find does not support it, every file gets a new time.
 */
const refreshChanged = (since: number) => `
renew() { find . -name .git -prune -o "$@" '(' -type f -o -type l ')' -exec touch -h -c -- '{}' +; }
# What is mounted read-only cannot be given a time, and cannot have been changed.
if find . -prune -newerct '@${since}' >/dev/null; then renew -newerct '@${since}' || true; else renew || true; fi
`;

/**
 * Returns a script that restores the ignore rules and attributes that were changed in a copy after `since`. Otherwise
 * those of the agent could hide its files, including themselves, and its changes to others (`ident`, `text=auto`). The
 * agent's versions are then added to the index, so that the patch contains them. Those of nested repositories do not
 * belong to this one.
 */
const restoreRules = (since: number, before: string) => `
export work
find . -name .git -prune -o '(' -name .gitignore -o -name .gitattributes ')' -type f -newerct '@${since}' -exec sh -c 'set -e
for file; do
  nested= folder="$file"
  while folder="\${folder%/*}"; [ "$folder" != . ]; do [ ! -e "$folder/.git" ] || nested=1; done
  [ -z "$nested" ] || continue
  name="\${file#./}"
  printf "100644 %s\\t%s\\000" "$(git hash-object -w --no-filters -- "$file")" "$name" >> "$work/rules"
  if git cat-file blob "${before}:$name" > "$work/rule"; then cat "$work/rule" > "$file"; else rm -f "$file"; fi
done' sh '{}' + || [ ! -s "$work/rules" ]
`;
const KEEP_RULES = `
if [ -s "$work/rules" ]; then safe update-index -z --index-info < "$work/rules"; fi
`;

/** Folder with the objects of the first snapshot. Commands can write to it. */
const FIRST = '.changes';

/**
 * Takes over the objects of the first snapshot and names each by its actual hash: git trusts the name of a loose
 * object, and a command may have put other bytes there. If an object is then missing, the comparison fails, and this is
 * reported.
 */
const TAKE_OVER = `
old="$TMPDIR/${FIRST}/objects"
(cd "$old" && printf '%s\n' ??/*) | tr -d / | grep -E '^[0-9a-f]{40,64}$' | GIT_OBJECT_DIRECTORY="$old" git pack-objects -q --stdout > "$work/before" || true
[ ! -s "$work/before" ] || git unpack-objects -q < "$work/before"
`;

/**
 * Takes the first snapshot of the workspace. Null if it is not a git repository, or git is missing.
 * @param isCopy whether the files have only the times of the checkout and may be given new ones; otherwise the index
 * knows their ctime, which no command can reset.
 * @param holdsSecret returns whether a text contains a known secret; a file that does is left out of the patch.
 */
export async function rememberWorkspace(
  sandbox: Sandbox,
  signal: AbortSignal,
  isCopy = false,
  holdsSecret: (text: string) => boolean = () => false,
): Promise<Changes | null> {
  const stat = isCopy
    ? '-c core.checkStat=minimal -c core.trustctime=false'
    : '-c core.checkStat=default -c core.trustctime=true';
  // The kernel takes file times from a clock that lags by a few milliseconds.
  const since = (Date.now() - 100) / 1_000;
  const first = `${tree(FIRST, stat)}printf 'tree %s\n' "$tree"`;
  const taken = await look(sandbox, first, WAIT.firstSnapshot, signal);
  const before = /^tree ([0-9a-f]{40,64})$/mu.exec(taken ?? '')?.[1];
  if (before === undefined) return null;
  return {
    async compare(later) {
      // An unpredictable name, so that no command can have created it.
      const fresh = `${FIRST}-${randomBytes(8).toString('hex')}`;
      const diff = `plain diff-tree -r --no-ext-diff --no-textconv --no-renames ${before} "$tree"`;
      const prepare = isCopy ? refreshChanged(since) + TAKE_OVER + restoreRules(since, before) : TAKE_OVER;
      const script = `${tree(fresh, stat, prepare, isCopy ? KEEP_RULES : '')}${PLAIN_GIT}
init_plain "$work/plain"
${diff} --name-only -z | tr -dc '\\0' | wc -c | sed 's/^ */files /'
${diff} --binary --full-index -p | head -c ${READ.patch + 1} > "$work/patch"
# Compressed, a binary file cannot be searched.
: > "$work/text"
if grep -aq '^GIT binary patch$' "$work/patch"; then ${diff} --text -p | head -c ${READ.patch + 1} > "$work/text"; fi
printf 'at %s\n' "$work"`;
      const report = await look(sandbox, script, WAIT.lastSnapshot, later);
      const files = /^files (\d+)$/mu.exec(report ?? '')?.[1];
      const at = /^at (.+)$/mu.exec(report ?? '')?.[1];
      if (files === undefined || at === undefined) return null;
      const changedFiles = Number(files);
      const patch = changedFiles === 0 ? null : await readPatch(sandbox, `${at}/patch`);
      if (patch === null) return { changedFiles, patch, leftOut: [] };
      const asText = await readPatch(sandbox, `${at}/text`);
      return { changedFiles, ...(await filterPatch(patch, { holdsSecret, asText }, later)) };
    },
  };
}

/** Returns the output of a script; null if it failed or timed out. */
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

/** Reads the whole patch; null if it exceeds the maximum size. */
async function readPatch(sandbox: Sandbox, at: string): Promise<Buffer | null> {
  const view = await sandbox.read(at, READ.patch + 1);
  return view.kind === 'file' && view.bytes.length <= READ.patch ? view.bytes : null;
}
