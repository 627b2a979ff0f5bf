/** What the scripts that ask git have in common. They are POSIX shell, and run in the sandbox. */

/**
 * Begins each script. Commits count as they were made: replacements and grafts can make a change look like a part of its
 * own base. A folder that the change made to look like a repository would have its own history, and thus another diff.
 *
 * `keep FILE BYTES COMMAND...` writes no more than so many bytes of what a command says to a file of "$work", and fails
 * if the command does; that it cannot write on behind the limit is no failure. `emit FILE...` hands files back, which
 * `readParts` reads.
 */
export const PRELUDE = `set -e
export GIT_NO_REPLACE_OBJECTS=1 GIT_GRAFT_FILE=/nonexistent GIT_ATTR_NOSYSTEM=1
work="$(mktemp -d "\${TMPDIR:-/tmp}/\${name:-git}.XXXXXX")"
trap 'rm -rf "$work"' EXIT
git() {
  command git -c safe.bareRepository=explicit -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.safecrlf=false "$@"
}
is_below() { [ "$(wc -c < "$work/$2")" -lt "$1" ]; }
keep() {
  kept="$1" most="$2"
  shift 2
  rm -f "$work/failed"
  { "$@" || : > "$work/failed"; } | head -c "$most" > "$work/$kept"
  if [ -e "$work/failed" ] && is_below "$most" "$kept"; then return 1; fi
}
emit() {
  cd "$work"
  for part; do wc -c < "$part"; done
  echo
  cat "$@"
}
`;

/**
 * Defines `plain`, which is git with a bare, empty repository of its own, without config, over the objects that
 * GIT_OBJECT_DIRECTORY and GIT_ALTERNATE_OBJECT_DIRECTORIES name. `.gitattributes` (`*.js -diff`, `binary`),
 * `.gitmodules` (`ignore = all`) and other files that a change can write do not affect its diffs. It comes before these
 * variables are set.
 */
export const PLAIN_GIT = `
format="$(git rev-parse --show-object-format)"
git init -q --bare --template= --object-format="$format" "$work/plain" > /dev/null
mkdir -p "$work/plain/info"
# Above all other attributes, should a version of git read some in a bare repository.
printf '* !diff\\n' > "$work/plain/info/attributes"
plain() { (unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; cd "$work/plain"; git --git-dir=. "$@"); }
`;

/** Returns the files that a script handed back; null if they are not as many, or one is cut. */
export function readParts(stdout: Buffer, count: number): readonly Buffer[] | null {
  const start = stdout.indexOf('\n\n');
  const sizes = stdout.toString('latin1', 0, start).split('\n').map(Number);
  let at = start + 2;
  const parts = sizes.map((size) => {
    at += size;
    return stdout.subarray(at - size, at);
  });
  return sizes.length === count && at === stdout.length ? parts : null;
}
