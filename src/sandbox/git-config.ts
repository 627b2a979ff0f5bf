/**
 * What the agent's commands see of git's own folders: what is needed to read the history, and a config of harmless
 * keys. Hooks, credentials and programs that a config names are left out.
 */
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { SandboxError } from '../errors.ts';
import { readBoundedText } from '../files/read-bounded.ts';
import { isInside } from '../files/real-paths.ts';
import { CREDENTIAL_FILE } from '../text/file-names.ts';
import { READ } from '../text/limits.ts';
import { runOnHost } from './host-program.ts';
import { shellWord } from './sandbox.ts';
import { CLEAN } from './scratch.ts';
import { realOrSame } from './system-root.ts';

/** What stays of a git folder. */
const KEPT =
  `HEAD commondir config config.worktree gitdir index info modules objects packed-refs refs reftable shallow
  worktrees`.split(/\s+/u);

/** The keys of a config that git needs to read a repository, and those that people look up; patterns of sed. */
const KEYS =
  String.raw`core\.(autocrlf|eol|filemode|ignorecase|logallrefupdates|precomposeunicode|safecrlf|symlinks)
  core\.(repositoryformatversion|sparsecheckout|sparsecheckoutcone) user\.(name|email) index\.version
  extensions\.(objectformat|partialclone|refstorage|worktreeconfig) remote\.[^\n]+\.(fetch|url|promisor)
  branch\.[^\n]+\.(merge|remote) submodule\.[^\n]+\.(active|url)`.split(/\s+/u);

/** Shell functions that work in a layer over the checkout, by root too: they trust nothing in it and follow no link. */
const FUNCTIONS = String.raw`
export LC_ALL=C
# git reads the config: it knows quotes, escapes and line continuations. In the checkout it would read others, too.
list_allowed() {
  { cd / && git config --file - --no-includes --list -z; } 2>/dev/null | tr '\0\n' '\n\r' | sed -E '
    s/^[^\r]*$/&\rtrue/
    s,://[^/[:space:]]*@,://,g
    s/["\\]/\\&/g
    s/\r/\n/
    s/\r/\\n/g
    /^(${KEYS.join('|')})\n/!d
    s/^([^.]+)\.([^\n]+)\.([^.\n]+)\n(.*)/[\1 "\2"] \3 = "\4"/
    s/^([^.]+)\.([^.\n]+)\n(.*)/[\1] \2 = "\3"/'
}
clean() {
  [ -d "$1" ] || return 0
  find "$1" -mindepth 1 -maxdepth 1 ! \( \( -type d -o -type f \) \
    \( -name ${KEPT.join(' -o -name ')} \) \) -exec rm -rf -- {} +
  for config in "$1/config" "$1/config.worktree"; do
    [ ! -f "$config" ] || { rm -f -- "$config"; list_allowed > "$config"; } < "$config"
  done
  clean_inner "$1/modules"
  clean_inner "$1/worktrees"
}
# The name of a submodule may have slashes. With a thousand of them a shell would call no function any more.
clean_inner() {
  for inner in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    if [ -L "$inner" ] || [ -f "$inner" ] || [ ${'${#inner}'} -gt 1000 ]; then rm -rf -- "$inner"
    elif [ -f "$inner/HEAD" ]; then clean "$inner"
    elif [ -d "$inner" ]; then clean_inner "$inner"; fi
  done
}
# Makes an ordinary .git of the git folder $1, of $2, which it shares with other worktrees, and of their objects in $3.
adopt() {
  rm -rf .git
  mkdir -p .git/objects/info
  printf '%s\n' "$3" > .git/objects/info/alternates
  for from in "$2/config" "$2/info" "$2/packed-refs" "$2/refs" "$2/shallow" \
    "$1/HEAD" "$1/config.worktree" "$1/index" "$1/info"; do
    [ ! -e "$from" ] || cp -RPp -- "$from" .git
  done
}`;

/** Fails unless a config in the folders holds credentials or names a file that may. */
const FIND_CREDENTIALS = String.raw`
find "$@" -name objects -prune -o -type f \( -name config -o -name config.worktree \) -exec cat {} + |
grep -qiE '^[[:space:]]*\[(credential|include)|extraheader[[:space:]]*=|https?://[^/[:space:]]*@'`;

/**
 * Plans what is shown of the git folders of a checkout: `folders` are those of the layer, relative to it, `objects` those
 * outside of it that hold its objects. `hasCredentials` is also true for a file that is removed.
 * @throws SandboxError if they cannot be found in time
 */
export async function planGit(run: string, workspace: string, signal: AbortSignal) {
  const removed = (await readdir(workspace)).filter((name) => CREDENTIAL_FILE.test(name));
  const found = new Set<string>();
  const objects: string[] = [];
  const lines = [FUNCTIONS, ...removed.map((name) => `rm -rf -- ${shellWord(name)}`)];
  for (const path of await listGitPaths(workspace, signal)) {
    const file = realOrSame(path);
    const target = /^gitdir: (.+)\n?$/u.exec(readBoundedText(file, READ.pointer) ?? '')?.[1];
    const folder = target === undefined ? file : realOrSame(resolve(dirname(path), target));
    const shared = readBoundedText(join(folder, 'commondir'), READ.pointer)?.trim() ?? '.';
    const common = realOrSame(resolve(folder, shared));
    for (const place of [folder, common])
      if (place !== workspace && isInside(place, workspace) && existsSync(`${place}/`)) found.add(place);
    const store = join(common, 'objects');
    const isRoot = path === join(workspace, '.git');
    if (!isRoot || isInside(folder, workspace) || !existsSync(store)) continue;
    objects.push(store);
    found.add(path);
    lines.push(`adopt ${[folder, common, store].map(shellWord).join(' ')}`);
  }
  // What is in a `.git`, as that of a submodule, is cleaned and mounted with it.
  const isInner = (place: string) => /\/\.git\/./u.test(place.slice(workspace.length));
  const folders = [...found].filter((place) => !isInner(place)).map((place) => relative(workspace, place));
  lines.push(...folders.map((folder) => `clean ${shellWord(`./${folder}`)}`));
  await writeFile(join(run, CLEAN), lines.join('\n'));
  const search = ['-c', FIND_CREDENTIALS, 'sh', ...found, ...objects.map(dirname)];
  const options = { withinMs: 30_000, signal };
  const hasLogin = found.size > 0 && (await runOnHost('/bin/sh', search, options))?.exitCode !== 1;
  return { folders, objects, hasCredentials: removed.length > 0 || hasLogin };
}

/** Returns the paths of everything named `.git` below a folder. */
async function listGitPaths(workspace: string, signal: AbortSignal): Promise<readonly string[]> {
  const words = ['find', workspace, '-mindepth', '1', '-name', '.git', '-prune', '-print0'];
  const found = await runOnHost('/usr/bin/env', words, { withinMs: 30_000, signal });
  // A path that is not UTF-8 cannot be cleaned.
  if (found === null || found.exitCode > 1 || found.stdout.includes('\uFFFD'))
    throw new SandboxError('The git folders of the checkout could not be listed.');
  return found.stdout.split('\0').slice(0, -1);
}
