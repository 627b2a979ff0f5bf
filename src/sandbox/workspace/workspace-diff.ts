/**
 * What the agent changed in the workspace, as a count and a patch. Git is asked in the sandbox, the same way as the
 * agent's own commands: a nested repository, a filter or a `git` on PATH that the workspace brings along can make git
 * run whatever it likes, and there that gains nothing.
 */
import { randomBytes } from 'node:crypto';
import type { Sandbox } from '../sandbox.ts';
import { filterPatch, type LeftOut, PLAIN_GIT } from './patch.ts';

/** The state of a workspace at one moment, to be compared with a later one. */
export interface Changes {
  /**
   * Compares the workspace with the moment this was made: untracked files count, ignored ones do not, nested
   * repositories are left out. Null where git cannot tell, such as below a folder that the agent closed.
   */
  compare(signal: AbortSignal): Promise<Comparison | null>;
}

/** What changed. */
export interface Comparison {
  /** Those that the patch leaves out are counted. */
  readonly changedFiles: number;
  /** null where nothing changed that it holds, and where it is too large to be kept. */
  readonly patch: Buffer | null;
  /** What `git apply` shall not bring unread, and what holds a secret. */
  readonly leftOut: readonly LeftOut[];
}

/** The longest that the first and the last look may take, in milliseconds: the last one comes after the run's clock. */
const FIRST_LOOK_MS = 30_000;
const LAST_LOOK_MS = 10_000;
/** The largest patch that is kept, in bytes. */
const MAX_PATCH_BYTES = 32 * 1024 * 1024;
const MAX_REPORT_BYTES = 4_096;

/** What git says of a folder or a file that it passes over. A name that holds these words makes less known, never more. */
const PASSED_OVER =
  'could not open directory|: (Permission denied|Operation not permitted|File ?name too long|Input/output error|Cannot allocate memory|Too many open files)';

/**
 * A tree of the workspace as it is, written to an object folder of its own: the repository is not written to. The index
 * is a fresh copy of the repository's own each time, whose file times spare git from reading every file (a scratch copy
 * has the times, and other inodes); nested repositories are taken out of it, because their files are not this one's.
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
 * Gives the files of a copy whose inode was changed since then a new time, so that git reads them: an edit may have kept the
 * size and set the time back, and the index knows nothing of the copy but sizes and times. No command can set back the
 * kernel's own time of a change. A find that does not know it gives every file a new time.
 */
const refreshChanged = (since: number) => `
renew() { find . -name .git -prune -o "$@" '(' -type f -o -type l ')' -exec touch -h -c -- '{}' +; }
# What is mounted read-only cannot be given a time, and cannot have been changed.
if find . -prune -newerct '@${since}' >/dev/null; then renew -newerct '@${since}' || true; else renew || true; fi
`;

/**
 * Puts the ignore rules and attributes of before in the place of those that were written in a copy since then, or the agent's
 * own would hide its files, themselves included, and what it changed in others (`ident`, `text=auto`); the agent's are
 * added to the index afterwards, so that they are in the patch. Those of nested repositories are not this one's.
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

/** Where the first look's objects lie. Commands can write there. */
const FIRST = '.changes';

/**
 * The first look's objects, each under the name that its bytes have: git believes the name of a loose object, and a command
 * may have put the bytes of another one there. One that is missing then makes the comparison fail, and that is said.
 */
const TAKE_OVER = `
old="$TMPDIR/${FIRST}/objects"
(cd "$old" && printf '%s\n' ??/*) | tr -d / | grep -E '^[0-9a-f]{40,64}$' | GIT_OBJECT_DIRECTORY="$old" git pack-objects -q --stdout > "$work/before" || true
[ ! -s "$work/before" ] || git unpack-objects -q < "$work/before"
`;

/**
 * Remembers the workspace. Null where it is no git repository, or there is no git.
 * @param isCopy whether its files have the checkout's times and no more of it, and may be given new ones: else the index
 *   knows the kernel's own time of a change, which no command can set back.
 * @param holdsSecret whether a text holds a known secret: a file that does is not in the patch.
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
  // The kernel takes its time from a clock that is a few milliseconds behind.
  const since = (Date.now() - 100) / 1_000;
  const first = `${tree(FIRST, stat)}printf 'tree %s\n' "$tree"`;
  const before = treeOf(await look(sandbox, first, FIRST_LOOK_MS, signal));
  if (before === null) return null;
  return {
    async compare(later) {
      // A name that no command can have guessed: nothing lies there.
      const fresh = `${FIRST}-${randomBytes(8).toString('hex')}`;
      const diff = `plain diff-tree -r --no-ext-diff --no-textconv --no-renames ${before} "$tree"`;
      const prepare = isCopy ? refreshChanged(since) + TAKE_OVER + restoreRules(since, before) : TAKE_OVER;
      const script = `${tree(fresh, stat, prepare, isCopy ? KEEP_RULES : '')}${PLAIN_GIT}
init_plain "$work/plain"
${diff} --name-only -z | tr -dc '\\0' | wc -c | sed 's/^ */files /'
${diff} --binary --full-index -p | head -c ${MAX_PATCH_BYTES + 1} > "$work/patch"
# Compressed, a binary file cannot be searched.
: > "$work/text"
if grep -aq '^GIT binary patch$' "$work/patch"; then ${diff} --text -p | head -c ${MAX_PATCH_BYTES + 1} > "$work/text"; fi
printf 'at %s\n' "$work"`;
      const report = await look(sandbox, script, LAST_LOOK_MS, later);
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
