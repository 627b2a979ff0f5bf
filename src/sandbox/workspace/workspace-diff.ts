/**
 * Determines what the agent changed in the workspace, as a count and a patch. git runs in the sandbox, like the agent's
 * own commands: a nested repository or a filter that the workspace contains can make git run anything, which gains
 * nothing there. What such a program could have written is not trusted outside of it either.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../errors.ts';
import { READ, SEARCH, WAIT } from '../../text/limits.ts';
import { quote } from '../exec/shell-line.ts';
import type { OpenedSandbox } from '../sandbox.ts';
import { PLAIN_GIT } from './git-diff.ts';
import {
  type Change,
  copyIgnoreRules,
  copySide,
  listChanges,
  listFolder,
  type OverlayTrees,
} from './overlay-changes.ts';
import { filterPatch, type LeftOut } from './patch.ts';
import { isInside } from './path-policy.ts';

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

const SETTINGS = `
set -e
# Git's complaints hold names as they are, line ends and all: one could tell another number, or another patch.
exec 2>/dev/null
# Git's complaints are searched for words, and paths are bytes.
export LC_ALL=C LANGUAGE=
# Programs of the system only: a folder on PATH may be in the workspace.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin
# Not the agent's own settings: ignore rules, attributes and filters of its home would hide what it did.
export HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1
# A folder that the change made look like a repository would bring its own index and excludes.
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_1=safe.bareRepository GIT_CONFIG_VALUE_1=explicit`;

/** Copies the index of the repository to "$work/index". */
const COPY_INDEX = `
# With its own time: by it git knows which files may have changed in the moment that it was written.
cp -p "$(unset GIT_INDEX_FILE; git rev-parse --path-format=absolute --git-path index)" "$work/index" 2>/dev/null || true`;

/** Defines a function that removes nested repositories from the index. */
const DROP_NESTED = `
swap() { tr '\\n\\0' '\\0\\n'; }
drop_nested() { safe ls-files --stage -z | swap | sed -n 's/^160000 [^\t]*\t//p' | swap | safe update-index --force-remove -z --stdin; }`;

/**
 * Returns a script that writes a tree of the current workspace to a separate object folder; the repository is not
 * written to. Each index is a new copy of the repository's own, whose file times save git from reading every file (a
 * scratch copy preserves the times, but has other inodes). Nested repositories are removed from it, because their files
 * do not belong to this one.
 */
const tree = (folder: string, stat: string, prepare = '', complete = '') => `${SETTINGS}
cd "$(git rev-parse --show-toplevel)"
work="$TMPDIR/${folder}"
mkdir -p "$work/objects"
export GIT_INDEX_FILE="$work/index" GIT_OBJECT_DIRECTORY="$work/objects"
GIT_ALTERNATE_OBJECT_DIRECTORIES="$(unset GIT_OBJECT_DIRECTORY; git rev-parse --path-format=absolute --git-path objects)"
export GIT_ALTERNATE_OBJECT_DIRECTORIES
rm -f "$work/index" "$work/complaints"
${COPY_INDEX}
safe() { git -c core.fsmonitor=false ${stat} -c core.autocrlf=false -c core.safecrlf=false -c core.hooksPath=/dev/null "$@"; }
${DROP_NESTED}
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

/** Returns a script that compares two trees, in shell variables or as hashes, and reports the number of files. */
const report = (before: string, after: string) => {
  const diff = `plain diff-tree -r --no-ext-diff --no-textconv --no-renames "${before}" "${after}"`;
  return `
${diff} --name-only -z | tr -dc '\\0' | wc -c | sed 's/^ */files /'
${diff} --binary --full-index -p | head -c ${READ.patch + 1} > "$work/patch"
# Compressed, a binary file cannot be searched.
: > "$work/text"
if grep -aq '^GIT binary patch$' "$work/patch"; then ${diff} --text -p | head -c ${READ.patch + 1} > "$work/text"; fi
printf 'at %s\n' "$work"`;
};

interface RememberOptions {
  /** The root of the repository around the working directory, in the checkout; null if there is none. */
  readonly repository: string | null;
  /** Whether the workspace is mounted read-only, so that nothing changes. Default: false. */
  readonly isReadOnly?: boolean;
  /** Returns whether a text contains a known secret; a file that does is left out of the patch. */
  readonly holdsSecret?: (text: string) => boolean;
}

/**
 * Prepares a comparison with the current workspace. Null if it is not a git repository, or git is missing.
 * Over an overlay, the checkout itself is the state before; otherwise, this takes a snapshot of the workspace.
 */
export async function rememberWorkspace(
  sandbox: ChangingSandbox,
  signal: AbortSignal,
  { repository, isReadOnly = false, holdsSecret = () => false }: RememberOptions,
): Promise<Changes | null> {
  const compared = async (report: string | null, later: AbortSignal) =>
    readComparison(sandbox, report, holdsSecret, later);
  if (isReadOnly) return { compare: async () => NO_CHANGES };
  const trees = sandbox.overlay();
  if (trees !== null) {
    if (repository === null || !isInside(repository, trees.lower)) return null;
    return {
      async compare(later) {
        const over = AbortSignal.any([later, AbortSignal.timeout(WAIT.lastSnapshot)]);
        try {
          // What a command writes meanwhile would not be compared with what was listed.
          await sandbox.idle();
          const changes = await listChanged(sandbox, trees, repository, over);
          if (changes === null) return null;
          if (changes.length === 0) return NO_CHANGES;
          const size = changes.reduce(
            (sum, one) => sum + (one.before?.size ?? 0) + (one.after?.size ?? 0),
            0,
          );
          if (size > READ.changedFiles || changes.length > SEARCH.changedFiles)
            return { ...NO_CHANGES, changedFiles: changes.length };
          return compared(await compareTrees(sandbox, trees, repository, changes, over), later);
        } catch (error) {
          // A folder that the agent closed, or a path that is too long; or it takes too long.
          if (errorCode(error) !== null || (over.aborted && !later.aborted)) return null;
          throw error;
        }
      },
    };
  }
  const isCopy = sandbox.scratch() === 'copy';
  // In a copy, files have only the times of the checkout, and may be given new ones; otherwise the index knows their
  // ctime, which no command can reset.
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
      const prepare = isCopy ? refreshChanged(since) + TAKE_OVER + restoreRules(since, before) : TAKE_OVER;
      const script = `${tree(freshName(), stat, prepare, isCopy ? KEEP_RULES : '')}${PLAIN_GIT}
init_plain "$work/plain"
${report(before, '$tree')}`;
      return compared(await look(sandbox, script, WAIT.lastSnapshot, later), later);
    },
  };
}

type ChangingSandbox = Pick<OpenedSandbox, 'exec' | 'read' | 'overlay' | 'scratch' | 'tmp' | 'idle'>;

const NO_CHANGES: Comparison = { changedFiles: 0, patch: null, leftOut: [] };

/** Returns an unpredictable name, so that no command can have created it. */
function freshName(): string {
  return `${FIRST}-${randomBytes(8).toString('hex')}`;
}

/** Returns a script that goes to the root of a repository; fails if a command made another one around it or in it. */
const goTo = (repository: string) =>
  `cd ${quote(repository)}; [ "$(git rev-parse --show-toplevel)" = "$PWD" ]`;

/** Lists the changes in an overlay that are not ignored; null if git cannot tell which are. */
async function listChanged(
  sandbox: ChangingSandbox,
  overlay: OverlayTrees,
  repository: string,
  signal: AbortSignal,
): Promise<readonly Change[] | null> {
  const trees = treesOf(repository, overlay);
  const { files, folders } = await listChanges(trees, signal);
  const names = files.map(({ name }) => name);
  if (names.length + folders.length === 0) return [];
  const ignored = await findIgnored(sandbox, names, folders, repository, signal);
  if (ignored === null) return null;
  const kept = files.filter(({ name }) => !ignored.has(name));
  // An ignored folder, such as that of a package manager, may hold any number of files.
  const inside: Change[] = [];
  for (const folder of folders.filter((name) => !ignored.has(name)))
    for (const file of await listFolder(folder, trees, signal)) inside.push(file);
  if (inside.length === 0) return kept;
  const more = inside.map(({ name }) => name);
  const ignoredInside = await findIgnored(sandbox, more, [], repository, signal);
  if (ignoredInside === null) return null;
  return [...kept, ...inside.filter(({ name }) => !ignoredInside.has(name))];
}

/** Returns the folders of a repository in an overlay. */
function treesOf(repository: string, { lower, upper, merged, real }: OverlayTrees): OverlayTrees {
  const top = repository.slice(lower.length);
  return { lower: repository, upper: upper + top, merged: merged + top, real: real + top };
}

/** Returns the report on changes in an overlay; null if git cannot tell. */
async function compareTrees(
  sandbox: ChangingSandbox,
  overlay: OverlayTrees,
  repository: string,
  changes: readonly Change[],
  signal: AbortSignal,
): Promise<string | null> {
  const { merged, real } = treesOf(repository, overlay);
  // A new folder, made while no command runs: none can have put a link in its place.
  const name = freshName();
  const folder = join(sandbox.tmp, name);
  await makeOpenFolder(folder);
  const before = { tree: repository, real: repository, into: join(folder, 'before') };
  const after = { tree: merged, real, into: join(folder, 'after') };
  if (!(await copySide(changes, 'before', before, signal))) return null;
  if (!(await copySide(changes, 'after', after, signal))) return null;
  const script = `${SETTINGS}
${goTo(repository)}
work="$TMPDIR/${name}"
${PLAIN_GIT}
init_plain "$work/plain"
# Bytes as they are, whatever the .gitattributes among them say.
printf '* !diff -text -filter -ident -working-tree-encoding\n' > "$work/plain/info/attributes"
tree_of() {
  rm -f "$work/plain/index"
  plain -c core.fsmonitor=false -c core.hooksPath=/dev/null --work-tree="$work/$1" add --all --force -- :/ >/dev/null || return 1
  plain write-tree
}
cd "$work/before"; before="$(tree_of before)"
cd "$work/after"; after="$(tree_of after)"
${report('$before', '$after')}`;
  return look(sandbox, script, WAIT.lastSnapshot, signal);
}

/** Makes a folder in the private /tmp for the user who runs the commands, whom root may differ from. */
async function makeOpenFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  await chmod(folder, 0o777);
}

/**
 * Returns the names that the ignore rules of the checkout cover; null if git cannot tell. Rules that the agent wrote do
 * not count: they could hide its files, including themselves.
 */
async function findIgnored(
  sandbox: ChangingSandbox,
  files: readonly string[],
  folders: readonly string[],
  repository: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | null> {
  const name = freshName();
  const folder = join(sandbox.tmp, name);
  await makeOpenFolder(folder);
  const rules = join(folder, 'rules');
  await mkdir(rules, { mode: 0o755 });
  await copyIgnoreRules([...files, ...folders], repository, rules);
  // A rule may be for folders only.
  for (const one of folders)
    await mkdir(Buffer.from(`${rules}/${one}`, 'latin1'), { recursive: true, mode: 0o755 });
  // A name that begins with a colon would be a pattern.
  const names = [...files, ...folders].map((one) => Buffer.from(`./${one}\0`, 'latin1'));
  await writeFile(join(folder, 'names'), Buffer.concat(names), { mode: 0o644 });
  const script = `${SETTINGS}
${goTo(repository)}
work="$TMPDIR/${name}"
safe() { git -c core.fsmonitor=false "$@"; }
${COPY_INDEX}
export GIT_INDEX_FILE="$work/index" GIT_DIR="$(git rev-parse --absolute-git-dir)"
${DROP_NESTED}
export GIT_WORK_TREE="$work/rules"
cd "$work/rules"
drop_nested
status=0
git -c core.fsmonitor=false check-ignore -z --stdin < "$work/names" > "$work/ignored" || status=$?
[ "$status" -le 1 ]
printf 'at %s\n' "$work"`;
  const said = await look(sandbox, script, WAIT.lastSnapshot, signal);
  const place = /^at (.+)$/mu.exec(said ?? '')?.[1];
  if (place === undefined) return null;
  const view = await sandbox.read(`${place}/ignored`, READ.fileList);
  if (view.kind !== 'file' || view.truncated) return null;
  return new Set(
    view.bytes
      .toString('latin1')
      .split('\0')
      .map((one) => one.slice('./'.length)),
  );
}

async function readComparison(
  sandbox: ChangingSandbox,
  report: string | null,
  holdsSecret: (text: string) => boolean,
  signal: AbortSignal,
): Promise<Comparison | null> {
  const files = /^files (\d+)$/mu.exec(report ?? '')?.[1];
  const place = /^at (.+)$/mu.exec(report ?? '')?.[1];
  if (files === undefined || place === undefined) return null;
  const changedFiles = Number(files);
  const patch = changedFiles === 0 ? null : await readPatch(sandbox, `${place}/patch`);
  if (patch === null) return { changedFiles, patch, leftOut: [] };
  const asText = await readPatch(sandbox, `${place}/text`);
  return { changedFiles, ...(await filterPatch(patch, { holdsSecret, asText }, signal)) };
}

/** Returns the output of a script; null if it failed or timed out. */
async function look(
  sandbox: ChangingSandbox,
  script: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  const limits = { timeoutMs, maxOutputBytes: MAX_REPORT_BYTES, signal };
  const { exitCode, output } = await sandbox.exec(script, limits);
  return exitCode === 0 ? output : null;
}

/** Reads the whole patch; null if it exceeds the maximum size. */
async function readPatch(sandbox: ChangingSandbox, at: string): Promise<Buffer | null> {
  const view = await sandbox.read(at, READ.patch + 1);
  return view.kind === 'file' && view.bytes.length <= READ.patch ? view.bytes : null;
}
