/**
 * What the agent changed, as a patch for `git apply`. Two trees are compared, both made in the sandbox: that of the
 * workspace before the first command of the agent, and that of its end. Between them the agent could write wherever such
 * a script can; so this process keeps what the first tree was made of.
 */
import { setImmediate } from 'node:timers/promises';
import { isProtectedPath } from '../files/names.ts';
import { type RunScript, shellWord } from '../sandbox/sandbox.ts';
import { READ, WAIT } from '../text/limits.ts';
import { PLAIN_GIT, PRELUDE, readParts } from './script.ts';

/** A workspace at one moment. */
export interface Tree {
  /** The root of the repository, as commands see it. */
  readonly root: string;
  /** In whole seconds. Files that have changed since are read, whatever else the index knows of them. */
  readonly since: number;
  /** The index with all files; null if git could not make it. */
  readonly index: Buffer | null;
  /** A pack of the files that the repository does not hold, as they were uncommitted; empty if it would be too large. */
  readonly pack: Buffer;
}

export interface AgentChanges {
  /** Includes files that the patch leaves out; null if git cannot tell. */
  readonly changedFiles: number | null;
  /** null if nothing is left, or for the reason in `why`. */
  readonly patch: Buffer | null;
  /** Changed files that `git apply` must not bring in unread, quoted as by git. */
  readonly leftOut: readonly string[];
  /** One sentence for people: why there is no patch; null if there is one, or nothing to put into it. */
  readonly why: string | null;
}

/** Bytes of the pack, which this process holds during the run. */
const MAX_PACK = 8 * 1024 * 1024;

/** The exit code of the script if the patch cannot be made, but the changed files are known. */
const NO_PATCH = 10;

const CANNOT_TELL = 'git could not tell what the agent changed, so there is no patch.';

/**
 * Adds all files to an index of our own, with objects of our own; the repository is not written to. What git cannot read
 * (a closed folder) is opened, because this is a layer that is thrown away; what it cannot add (a nested repository
 * without a commit, a pipe in the place of a file) stays as it was.
 */
const begin = (root: string) => `name=tree
${PRELUDE}
cd ${shellWord(root)}
# Named, so that no repository that the agent made around or in this one is found instead.
repo() { git --git-dir="$root/.git" --work-tree="$root" -c core.splitIndex=false -c core.untrackedCache=false "$@"; }
root="$PWD"
objects="$(repo rev-parse --path-format=absolute --git-path objects)"
index="$(repo rev-parse --path-format=absolute --git-path index)"
mkdir "$work/objects"
use() { export GIT_INDEX_FILE="$work/index" GIT_OBJECT_DIRECTORY="$work/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"; }
add() {
  status=0
  repo add --all --ignore-errors -- :/ 2> "$work/said" || status=$?
  [ "$status" -le 1 ]
}
add_all() {
  add
  if grep -aq 'Permission denied' "$work/said"; then
    find . -name .git -prune -o -type d ! -perm -700 -exec chmod u+rwx {} \\; -o -type f ! -perm -400 -exec chmod u+r {} + || true
    add
  fi
}
`;

/** Keeps the state of the workspace around a repository. Never rejects, unless the signal aborts. */
export async function rememberTree(runScript: RunScript, root: string, signal: AbortSignal): Promise<Tree> {
  // The kernel takes file times from a clock that lags by a few milliseconds.
  const since = Math.floor((Date.now() - 100) / 1_000);
  const script = `${begin(root)}
# With its own time: by it git knows which files may have changed in the moment that it was written.
if [ -e "$index" ]; then cp -p "$index" "$work/index"; fi
use
add_all
made() { (cd "$work/objects"; find . -type f -path './??/*') | sed 's|^\\./||; s|/||'; }
pack() { made | repo pack-objects -q --window=0 --stdout; }
keep pack ${MAX_PACK} pack
is_below ${MAX_PACK} pack || : > "$work/pack"
emit index pack`;
  const limits = { maxBytes: READ.fileList, timeoutMs: WAIT.firstSnapshot, signal };
  const ran = await attempt(runScript(script, limits), signal);
  // Killed, it may leave gigabytes of files that nobody ignores.
  const clean = 'rm -rf "${TMPDIR:-/tmp}"/tree.*';
  if ((ran?.exitCode ?? null) === null)
    await attempt(runScript(clean, { maxBytes: 0, timeoutMs: WAIT.helper, signal }), signal);
  const [index, pack] = (ran?.exitCode === 0 && readParts(ran.stdout, 2)) || [];
  return { root, since, index: index ?? null, pack: pack ?? Buffer.alloc(0) };
}

/**
 * Compares the workspace with an earlier moment. Includes untracked files, but neither ignored files nor nested
 * repositories. Never rejects, unless the signal aborts.
 * @param holdsSecret whether a text contains a secret. Others store, upload and display the patch, and one with masked
 * lines could not be applied: it is dropped.
 */
export async function comparePatch(
  runScript: RunScript,
  { root, since, index, pack }: Tree,
  holdsSecret: (text: string) => boolean,
  signal: AbortSignal,
): Promise<AgentChanges> {
  const changes = { changedFiles: null, patch: null, leftOut: [], why: CANNOT_TELL };
  if (index === null) return changes;
  const script = `${begin(root)}${PLAIN_GIT}
head -c ${index.length} "$INPUT" > "$work/before"
tail -c +${index.length + 1} "$INPUT" > "$work/pack"
touch -d @${since} "$work/before"
cp -p "$work/before" "$work/index"
use
[ ! -s "$work/pack" ] || repo unpack-objects -q < "$work/pack"
from="$(export GIT_INDEX_FILE="$work/before"; repo write-tree --missing-ok)"
add_all
to="$(repo write-tree --missing-ok)"
diff() {
  plain -c core.quotePath="$quoted" diff-tree -r --no-ext-diff --no-textconv --no-renames --ignore-submodules=all "$@" "$from" "$to"
}
quoted=true
keep names ${READ.fileList} diff --name-only -z
: > "$work/patch"
: > "$work/text"
result=0
keep patch ${READ.patch + 1} diff --binary --full-index -p || result=${NO_PATCH}
# Compressed, a binary file cannot be searched for secrets; and an escape in a name could hide one.
quoted=false
keep text ${READ.patch + 1} diff --text -p || result=${NO_PATCH}
emit names patch text
exit "$result"`;
  const deadline = AbortSignal.timeout(WAIT.lastSnapshot);
  const limits = { maxBytes: READ.fileList + 3 * READ.patch, timeoutMs: WAIT.lastSnapshot, signal };
  const ran = await attempt(runScript(script, { ...limits, input: Buffer.concat([index, pack]) }), signal);
  const [names, patch, text] = readParts(ran?.stdout ?? Buffer.alloc(0), 3) ?? [];
  if (names === undefined || patch === undefined || text === undefined) return changes;
  const changedFiles = names.filter((byte) => byte === 0).length;
  const withoutPatch = (why: string) => ({ ...changes, changedFiles, why });
  if (ran?.exitCode === NO_PATCH)
    return withoutPatch(
      'There is no patch: the agent changed files that were not committed, and those are too large to be kept.',
    );
  if (ran?.exitCode !== 0) return changes;
  if (patch.length > READ.patch || text.length > READ.patch)
    return withoutPatch(
      `There is no patch: it would be larger than ${READ.patch / 1024 / 1024} MiB, or is too large to be searched for secrets.`,
    );
  const found = await search(text.toString('utf8'), holdsSecret, AbortSignal.any([signal, deadline]));
  signal.throwIfAborted();
  if (found !== 'nothing')
    return withoutPatch(
      found === 'secret'
        ? 'There is no patch: a secret that this run knows is in it. Find out how the agent came by the secret, and replace it.'
        : 'There is no patch: it could not be searched for secrets in time.',
    );
  return { changedFiles, ...leaveOut(patch), why: null };
}

/** Returns null instead of an error of the sandbox. @throws the signal's reason */
async function attempt<T>(result: Promise<T>, signal: AbortSignal): Promise<T | null> {
  try {
    return await result;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** Characters that are searched at once, and how many of them are searched again with the next ones. */
const PIECE = 1024 * 1024;
const OVERLAP = 64 * 1024;

/** Searches a patch, and gives way between two pieces. */
async function search(
  text: string,
  holdsSecret: (text: string) => boolean,
  signal: AbortSignal,
): Promise<'nothing' | 'secret' | 'no time'> {
  for (let at = 0; at < text.length; at += PIECE) {
    await setImmediate();
    if (signal.aborted) return 'no time';
    if (holdsSecret(text.slice(at, at + PIECE + OVERLAP))) return 'secret';
  }
  return 'nothing';
}

/** Leaves protected files out of a patch. */
function leaveOut(patch: Buffer): Pick<AgentChanges, 'patch' | 'leftOut'> {
  const leftOut: string[] = [];
  // One character per byte. No line of a hunk or of binary data starts like a section.
  const kept = patch
    .toString('latin1')
    .split(/(?<![^\n])(?=diff --git )/u)
    .filter((section) => {
      const name = nameOf(section);
      const isKept = !isProtectedPath(name);
      if (!isKept) leftOut.push(name);
      return isKept;
    });
  const left = Buffer.from(kept.join(''), 'latin1');
  return { patch: left.length === 0 ? null : left, leftOut };
}

/** Parses `diff --git a/NAME b/NAME`, possibly quoted: without renames, both halves have the same length. */
function nameOf(section: string): string {
  const names = section.slice('diff --git '.length, section.indexOf('\n'));
  const second = names.slice((names.length + 1) / 2);
  return second.replace(/^"(.*)"$/u, '$1').replace(/^b\//u, '');
}
