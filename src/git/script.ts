/** What the scripts that ask git have in common. They are POSIX shell, and run in the sandbox. */

/** Bytes of a list of the workspace's files, enough for about half a million. */
export const MAX_FILE_LIST = 64 * 1024 ** 2;
/**
 * Begins each script. Commits count as they were made: replacements and grafts can make a change look like a part of its
 * own base. A folder that the change made to look like a repository would have its own history, and thus another diff.
 *
 * - `prepare` gives git a copy of the index, and a place for new objects, in the folder `$own`: the repository is not
 *   written to. It is called in the repository, once.
 * - `plain` is then git with a bare, empty repository over the same objects, without config. `.gitattributes`
 *   (`*.js -diff`, `binary`), `.gitmodules` (`ignore = all`) and other files that a change can write do not affect it.
 * - `keep FILE BYTES COMMAND...` writes no more than so many bytes of what a command prints to a file of `$work`, and
 *   fails if the command does. That it cannot write more than so many bytes is not a failure.
 * - `emit` hands the files names, diff and text to `readParts`.
 */
export const PRELUDE = `set -e
export GIT_NO_REPLACE_OBJECTS=1 GIT_GRAFT_FILE=/nonexistent GIT_ATTR_NOSYSTEM=1
work="$(mktemp -d "$TMPDIR/git.XXXXXX")"
own="$work"
trap 'rm -rf "$work" "$own"' EXIT
git() {
  command git -c safe.bareRepository=explicit -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.safecrlf=false \\
    -c core.splitIndex=false -c core.untrackedCache=false "$@"
}
plain() { (unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; cd "$work/plain"; git --git-dir=. "$@"); }
prepare() {
  objects="$(git rev-parse --path-format=absolute --git-path objects)"
  index="$(git rev-parse --path-format=absolute --git-path index)"
  format="$(git rev-parse --show-object-format)"
  mkdir -p "$own/objects" "$work/plain/info"
  # With its own time: by it git knows which files may have changed in the moment that it was written. If there is one
  # of an earlier script, git has less to read.
  if [ -e "$index" ] && [ ! -e "$own/index" ]; then cp -p "$index" "$own/index"; fi
  export GIT_INDEX_FILE="$own/index" GIT_OBJECT_DIRECTORY="$own/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"
  plain init -q --bare --template= --object-format="$format"
  # Above all other attributes, should a version of git read some in a bare repository.
  echo '* !diff' > "$work/plain/info/attributes"
}
keep() {
  file="$work/$1" most="$2"
  shift 2
  { "$@" || : > "$file.failed"; } | head -c "$most" > "$file"
  [ ! -e "$file.failed" ] || [ "$(wc -c < "$file")" -ge "$most" ]
}
emit() {
  cd "$work"
  for file in names diff text; do printf '%10d' "$(wc -c < "$file")"; done
  cat names diff text
}
`;

/** Returns the files that a script handed back; null if one is missing or cut. */
export function readParts(stdout: Buffer): readonly [names: Buffer, diff: Buffer, text: Buffer] | null {
  const sizeAt = (at: number) => Number(stdout.toString('latin1', at, at + 10));
  const second = 30 + sizeAt(0);
  const third = second + sizeAt(10);
  if (stdout.length !== third + sizeAt(20)) return null;
  return [stdout.subarray(30, second), stdout.subarray(second, third), stdout.subarray(third)];
}
