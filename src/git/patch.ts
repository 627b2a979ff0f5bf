/**
 * What the agent changed, as a patch for `git apply`. Two trees are compared, both made in the sandbox: that of the
 * workspace before the first command of the agent, and that of its end. Between them the agent could write wherever such
 * a script can: it can keep an edit out of its own patch, and such an edit is not applied.
 */

import { type RunScript, type ScriptOptions, shellWord } from '../sandbox/sandbox.ts';
import { isProtectedPath } from '../text/file-names.ts';
import { MAX_FILE_LIST, PRELUDE, readParts } from './script.ts';

export interface AgentChanges {
  /** Relative to the root of the repository; includes files that the patch leaves out. null if git cannot tell. */
  readonly files: readonly { readonly path: string; readonly isNew: boolean }[] | null;
  /** null if nothing is left, or for the reason in `why`. */
  readonly patch: Buffer | null;
  /** Changed files that `git apply` must not bring in unread, quoted as by git. */
  readonly leftOut: readonly string[];
  /** One sentence for people: why there is no patch; null if there is one, or nothing to put into it. */
  readonly why: string | null;
}

/** Bytes of a patch. It is searched for secrets at once, which takes less than a second. */
const MAX_PATCH = 8 * 1024 ** 2;

/** The index and the objects that are not in the repository. `rm -rf /tmp/*` does not remove them. */
const FOLDER = '"$TMPDIR/.changes"';

/**
 * Adds all files to an index of our own, and makes a tree of it. What git cannot read (a closed folder) is opened,
 * because this is a layer that is thrown away; what it cannot add (a nested repository without a commit, a pipe in the
 * place of a file) stays as it was. A full disk is an error.
 */
const makeTree = (root: string) => `${PRELUDE}
own=${FOLDER}
cd ${shellWord(root)}
# Named, so that no repository that the agent made around or in this one is found instead.
export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD"
prepare
add() {
  status=0
  git add --all --ignore-errors -- :/ 2> "$work/said" || status=$?
  [ "$status" -le 1 ]
}
add
if grep -aq 'Permission denied' "$work/said"; then
  find . -name .git -prune -o -type d ! -perm -700 -exec chmod u+rwx {} \\; -o -type f ! -perm -400 -exec chmod u+r {} + || true
  add
fi
if grep -aq 'No space left' "$work/said"; then exit 1; fi
tree="$(git write-tree --missing-ok)"
`;

/** Keeps the state of a repository's workspace. Returns the id of its tree, or null if git could not make it. */
export async function rememberTree(
  runScript: RunScript,
  root: string,
  signal: AbortSignal,
): Promise<string | null> {
  const script = `${makeTree(root)}
echo "$tree"
# The folder stays for the comparison.
own="$work"`;
  const said = await run(runScript, script, { maxBytes: 1_000, timeoutMs: 30_000, signal });
  const [tree] = /^[0-9a-f]{40,64}(?=\n$)/u.exec(said.toString()) ?? [];
  if (tree !== undefined) return tree;
  // Killed, the script may leave gigabytes.
  await run(runScript, `rm -rf ${FOLDER}`, { maxBytes: 0, timeoutMs: 5_000, signal });
  return null;
}

/**
 * Compares the workspace with the tree of an earlier moment. Includes untracked files, but neither ignored files nor
 * nested repositories.
 * @param holdsSecret whether a text contains a secret. Others store, upload and display the patch, and one with masked
 * lines could not be applied: it is dropped.
 */
export async function comparePatch(
  runScript: RunScript,
  root: string,
  tree: string | null,
  holdsSecret: (text: string) => boolean,
  signal: AbortSignal,
): Promise<AgentChanges> {
  const script = `${makeTree(root)}
diff() {
  plain diff-tree -r --no-ext-diff --no-textconv --no-renames --ignore-submodules=all "$@" ${tree} "$tree"
}
# A commit of a submodule is in the tree, an edited file of it is not.
list() { diff --name-status -z && git diff-files --name-status -z --diff-filter=M --ignore-submodules=untracked; }
keep names ${MAX_FILE_LIST} list
keep diff ${MAX_PATCH + 1} diff --binary --full-index -p
# Compressed, a binary file cannot be searched for secrets.
keep text ${MAX_PATCH + 1} diff --text -p
emit`;
  // It comes after the time limit of the run.
  const limits = { maxBytes: MAX_FILE_LIST + 3 * MAX_PATCH, timeoutMs: 10_000, signal };
  const parts = tree === null ? null : readParts(await run(runScript, script, limits));
  const none = { files: null, patch: null, leftOut: [] };
  if (parts === null)
    return { ...none, why: 'git could not tell what the agent changed, so there is no patch.' };
  const [list, patch, text] = parts;
  const fields = list.toString('utf8').split('\0');
  const files = fields.flatMap((path, at) => (at % 2 === 0 ? [] : [{ path, isNew: fields[at - 1] === 'A' }]));
  const drop = (why: string) => ({ ...none, files, why: `There is no patch: ${why}` });
  if ([list, patch, text].some((part) => part.length > MAX_PATCH))
    return drop(
      `it would be larger than ${MAX_PATCH / 1024 ** 2} MiB, or could not be searched for secrets.`,
    );
  // The names as well: escaped as in the patch, they could hide a secret.
  if (holdsSecret(`${list}\n${text}`))
    return drop(
      'a secret that this run knows is in it. Find out how the agent came by the secret, and replace it.',
    );
  return { files, ...leaveOut(patch), why: null };
}

/** Returns what a script printed; nothing if it failed. @throws the signal's reason */
async function run(runScript: RunScript, script: string, options: ScriptOptions): Promise<Buffer> {
  try {
    const { exitCode, stdout } = await runScript(script, options);
    if (exitCode === 0) return stdout;
  } catch {
    options.signal.throwIfAborted();
  }
  return Buffer.alloc(0);
}

/** Leaves protected files out of a patch. */
function leaveOut(patch: Buffer): Pick<AgentChanges, 'patch' | 'leftOut'> {
  const leftOut: string[] = [];
  let kept = '';
  // One character per byte. No line of a hunk or of binary data starts like a section.
  for (const section of patch.toString('latin1').split(/(?<![^\n])(?=diff --git )/u)) {
    const name = nameOf(section);
    if (isProtectedPath(name)) leftOut.push(name);
    else kept += section;
  }
  return { patch: kept === '' ? null : Buffer.from(kept, 'latin1'), leftOut };
}

/** Parses `diff --git a/NAME b/NAME`, possibly quoted: without renames, both halves have the same length. */
function nameOf(section: string): string {
  const names = section.slice('diff --git '.length, section.indexOf('\n'));
  const second = names.slice((names.length + 1) / 2);
  return second.replace(/^"(.*)"$/u, '$1').replace(/^b\//u, '');
}
