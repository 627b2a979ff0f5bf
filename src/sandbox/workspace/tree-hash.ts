/**
 * Computes one hash of the input of a run: paths, modes and bytes of the working files in `subject-paths`, both tracked
 * files and untracked files that are not ignored, before the agent starts. A dirty checkout or generated files change
 * the hash; another commit, branch or merge queue with the same content does not.
 *
 * git lists the files, in the sandbox only, as in `workspace-diff.ts`. Their contents are read here, without git's
 * filters: attributes (`text=auto`, `eol`, `filter=lfs`, `ident`) can map different working files to the same blob,
 * whereas the agent reads the working files.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { errorCode, InputError } from '../../errors.ts';
import { refuseComponents } from '../../files/protected-names.ts';
import { READ, WAIT } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import type { Sandbox } from '../sandbox.ts';
import { type EscapingLink, findEscapingLink, type Judged } from './escaping-symlinks.ts';
import { isInside } from './path-policy.ts';

/** The hash and its paths, or a clause that says why there is no hash. */
export type SubjectTree =
  | {
      readonly kind: 'tree';
      /** Hex SHA-256. */
      readonly tree: string;
      /** Relative to the workspace, unique and sorted; the root of the repository if none was named. */
      readonly paths: readonly string[];
    }
  | Unknown;

interface Unknown {
  readonly kind: 'unknown';
  readonly why: string;
}

export interface SubjectOptions {
  /** The checkout on the host, even if the agent works on a copy of it; absolute and real. */
  readonly workspace: string;
  /** A folder in the checkout that determines the repository; absolute and real. */
  readonly workingDirectory: string;
  /** As typed, relative to the workspace; empty for the whole repository. */
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
}

const MAX_REPORT_BYTES = 16_384;

/**
 * Writes the lists to files, because a name may contain any byte. Runs without the agent's settings and variables, and
 * with the system's git rather than one that the workspace added to PATH: a git that lists fewer files, or ignores
 * case, would make changed files look unchanged. The folder may belong to another user, as in a container, which is
 * harmless here. The repository is found by `.git`, which no commit can add: git itself accepts any folder with HEAD,
 * objects and refs, and an index and excludes that a change put there would hide the rest of the change. Error output
 * is discarded: it contains names unescaped, including line breaks, and could fake another root or other lists.
 */
const LIST = `
set -e
exec 2>/dev/null
PATH="/usr/bin:/usr/local/bin:/opt/homebrew/bin:$PATH"
unset $(env | sed -n 's/^\\(GIT_[A-Z0-9_]*\\)=.*/\\1/p')
export HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_OPTIONAL_LOCKS=0 GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
work="$TMPDIR/.subject"
rm -rf "$work"
mkdir -p "$work"
up=
until [ -e .git ]; do
  [ "$PWD" != / ]
  cd ..
  up="../$up"
done
export GIT_DIR=.git
[ -z "$(git rev-parse --show-cdup)" ]
list() { git -c core.fsmonitor=false -c core.untrackedCache=false -c core.ignoreCase=false ls-files -z --full-name "$@"; }
list --stage > "$work/tracked"
list --others --exclude-standard > "$work/others"
printf 'up %s\\nat %s\\n' "$up" "$work"
`;

/**
 * Hashes the input of a run.
 * @throws InputError for a subject path that does not identify files, the signal's reason, and SandboxError if the
 * sandbox did not start.
 */
export async function findSubjectTree(sandbox: Sandbox, options: SubjectOptions): Promise<SubjectTree> {
  const { workspace, workingDirectory, signal } = options;
  const named = options.paths.map((typed) => ({ typed, path: posix.resolve(workspace, typed) }));
  for (const each of named) await requirePlain(each, workspace);
  const listed = await listFiles(sandbox, signal);
  if (listed === null)
    return { kind: 'unknown', why: 'git could not list the files of the working directory' };
  const root = posix.resolve(workingDirectory, listed.up);
  if (!isInside(root, workspace))
    return { kind: 'unknown', why: 'the repository begins above the workspace' };
  if (named.length === 0 && (await liesInAnother(root, workspace))) return UNKNOWN_OUTER;
  const chosen = named.length === 0 ? listed.paths : choose(named, root, workspace, listed.paths);
  const nested = chosen.find(({ path }) => path.endsWith('/'));
  if (nested !== undefined) return unknownNested(nested.path);
  const hashed = await hashFiles(root, chosen, signal);
  if (hashed.kind === 'unknown') return hashed;
  if (hashed.files.size === 0) return { kind: 'unknown', why: 'git sees no file in the repository' };
  const judged = named.length === 0 ? [root] : named.map(({ path }) => path);
  const escaping = await findEscapingLink({ root, judged, ...hashed });
  if (escaping !== null) return unknownEscaping(escaping);
  const paths = [...new Set(judged.map((path) => posix.relative(workspace, path) || '.'))].sort();
  return { kind: 'tree', tree: hashed.hash, paths };
}

interface Named {
  readonly typed: string;
  /** An absolute path. */
  readonly path: string;
}

/** Requires that no part of a path is a link, because git does not list files behind links. */
async function requirePlain({ typed, path }: Named, workspace: string): Promise<void> {
  if (!isInside(path, workspace)) refuse(typed, 'leaves the workspace. Name files and folders inside it.');
  const components = path.slice(workspace.length).split('/').filter(Boolean);
  if (refuseComponents(components, 'read', true) !== null)
    refuse(typed, "is closed to the agent: git's own, or credentials. Name what it may judge.");
  let current = workspace;
  for (const component of components) {
    current = posix.join(current, component);
    const stats = await lstat(current).catch(() => null);
    if (stats === null)
      refuse(typed, 'is not there. Check the path; in a workflow, also that the repository is checked out.');
    else if (stats.isSymbolicLink())
      refuse(typed, 'goes through a symbolic link. Name the place that the link leads to.');
  }
}

function choose(
  named: readonly Named[],
  root: string,
  workspace: string,
  all: readonly ListedPath[],
): readonly ListedPath[] {
  const chosen = new Set<ListedPath>();
  for (const { typed, path } of named) {
    if (!isInside(path, root)) {
      const repository = posix.relative(workspace, root) || '.';
      refuse(
        typed,
        `lies outside the repository of working-directory, ${quote(repository)}. Name paths in it.`,
      );
    }
    const prefix = Buffer.from(posix.relative(root, path)).toString('latin1');
    const found = all.filter(
      (each) => prefix === '' || each.path === prefix || each.path.startsWith(`${prefix}/`),
    );
    if (found.length === 0)
      refuse(
        typed,
        'holds no file that git sees: it is empty or ignored. Name files that git does not ignore.',
      );
    for (const each of found) chosen.add(each);
  }
  return [...chosen];
}

function refuse(typed: string, why: string): never {
  throw new InputError('subject-paths', `subject-paths names ${quote(typed)}, which ${why}`);
}

const UNKNOWN_OUTER: Unknown = {
  kind: 'unknown',
  why: 'the working directory is in a repository of its own, and not in that of the workspace; name subject-paths in it',
};

/**
 * Whether a repository is nested in one that contains it in the workspace: a change can replace a folder with a
 * submodule.
 */
async function liesInAnother(root: string, workspace: string): Promise<boolean> {
  if (root === workspace) return false;
  const outer = posix.dirname(root);
  const found = await lstat(posix.join(outer, '.git')).catch(() => null);
  return found !== null || liesInAnother(outer, workspace);
}

/** A nested repository has its own files, which git does not list here. */
function unknownNested(path: string): Unknown {
  const name = quote(decode(path.replace(/\/$/u, '')));
  return { kind: 'unknown', why: `${name} is a repository of its own; name subject-paths without it` };
}

function unknownEscaping({ path, to }: EscapingLink): Unknown {
  const name = quote(decode(path));
  const why =
    to === 'outside'
      ? 'is a link that leads out of the judged files; name its target in subject-paths, too'
      : "leads by way of a link to what git does not list (ignored, empty or git's own), so its content is not known";
  return { kind: 'unknown', why: `${name} ${why}` };
}

/** A tracked file, or an untracked one in the working tree. */
interface ListedPath {
  /** Relative to the root; one character per byte (latin1), because a name may not be UTF-8. */
  readonly path: string;
  /** The commit of a submodule in the index; null for a file. */
  readonly commit: string | null;
}

interface Listed {
  /** The relative path from the working directory up to the root of the repository. */
  readonly up: string;
  /** Unique; a nested repository ends in a slash. */
  readonly paths: readonly ListedPath[];
}

async function listFiles(sandbox: Sandbox, signal: AbortSignal): Promise<Listed | null> {
  const limits = { timeoutMs: WAIT.git, maxOutputBytes: MAX_REPORT_BYTES, signal };
  const { exitCode, output } = await sandbox.exec(LIST, limits);
  const [, up, at] = /(?:^|\n)up ((?:\.\.\/)*)\nat (.+)\n?$/u.exec(output) ?? [];
  if (exitCode !== 0 || up === undefined || at === undefined) return null;
  const tracked = await readList(sandbox, `${at}/tracked`);
  const others = await readList(sandbox, `${at}/others`);
  if (tracked === null || others === null) return null;
  const paths = new Map<string, ListedPath>();
  for (const path of others) paths.set(path, { path, commit: null });
  for (const entry of tracked) {
    const [, mode, object = '', path] = /^(\d{6}) ([0-9a-f]+) \d\t(.+)$/su.exec(entry) ?? [];
    if (path === undefined) return null;
    paths.set(path, { path, commit: mode === '160000' ? object : null });
  }
  return { up, paths: [...paths.values()] };
}

/** Reads the entries of a list as latin1; null if it exceeds the maximum size. */
async function readList(sandbox: Sandbox, file: string): Promise<readonly string[] | null> {
  const view = await sandbox.read(file, READ.fileList);
  if (view.kind !== 'file' || view.truncated) return null;
  return view.bytes
    .toString('latin1')
    .split('\0')
    .filter((entry) => entry !== '');
}

/** Number of files that are read concurrently. */
const BATCH = 32;
const CHUNK_BYTES = 256 * 1024;

/** Paths are latin1, as in `ListedPath.path`. */
interface HashedFiles extends Pick<Judged, 'files' | 'links' | 'behindLinks'> {
  readonly kind: 'hashed';
  /** Hexadecimal. */
  readonly hash: string;
}

type Entry =
  /** The digest of the bytes of a file, the target of a link or the commit of a submodule. */
  | { readonly kind: 'hashed'; readonly mode: string; readonly digest: string }
  | { readonly kind: 'absent' | 'behind-link' }
  | Unknown;

/**
 * Hashes the path, mode and bytes of each path that exists. Leaves out paths that are missing or behind a symbolic
 * link.
 * @param root an absolute path.
 * @throws the signal's reason.
 */
export async function hashFiles(
  root: string,
  paths: readonly ListedPath[],
  signal: AbortSignal,
): Promise<HashedFiles | Unknown> {
  const kindOfFolder = rememberFolders(root);
  const budget = { bytes: READ.workspace, signal };
  const lines = new Map<string, string>();
  const links: string[] = [];
  const behindLinks: string[] = [];
  for (let start = 0; start < paths.length; start += BATCH) {
    signal.throwIfAborted();
    const batch = paths.slice(start, start + BATCH);
    const entries = await Promise.all(batch.map((path) => readEntry(root, path, kindOfFolder, budget)));
    for (const [index, { path }] of batch.entries()) {
      const entry = entries[index];
      if (entry?.kind === 'unknown') return entry;
      if (entry?.kind === 'behind-link') behindLinks.push(path);
      if (entry?.kind !== 'hashed') continue;
      if (entry.mode === LINK) links.push(path);
      lines.set(path, `${entry.mode} ${entry.digest} ${path}\0`);
    }
  }
  // No path contains a NUL, so that the end of each line is unambiguous. The first line identifies this kind of hash.
  const hash = createHash('sha256').update('structured-agent files v2\n');
  for (const path of [...lines.keys()].sort()) hash.update(lines.get(path) ?? '', 'latin1');
  return { kind: 'hashed', hash: hash.digest('hex'), files: new Set(lines.keys()), links, behindLinks };
}

const [FILE, PROGRAM, LINK, SUBMODULE] = ['100644', '100755', '120000', '160000'] as const;

interface Budget {
  bytes: number;
  readonly signal: AbortSignal;
}

async function readEntry(
  root: string,
  { path, commit }: ListedPath,
  kindOfFolder: (path: string) => Promise<FolderKind>,
  budget: Budget,
): Promise<Entry> {
  try {
    const folder = await kindOfFolder(parentOf(path));
    if (folder !== 'folder') return { kind: folder === 'link' ? 'behind-link' : 'absent' };
    const place = absolutePath(root, path);
    const stats = await lstat(place);
    if (stats.isSymbolicLink()) return hashed(LINK, await readlink(place, 'buffer'));
    if (stats.isFile()) return await readFileEntry(place, budget);
    if (!stats.isDirectory() || commit === null) return { kind: 'absent' };
    // Not checked out: it has no readable contents, and the commit identifies what belongs there.
    return (await readdir(place)).length > 0 ? unknownNested(path) : hashed(SUBMODULE, commit);
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
    return { kind: 'unknown', why: `${quote(decode(path))} cannot be read (${code})` };
  }
}

function hashed(mode: string, content: string | Buffer): Entry {
  return { kind: 'hashed', mode, digest: createHash('sha256').update(content).digest('hex') };
}

async function readFileEntry(place: Buffer, budget: Budget): Promise<Entry> {
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return { kind: 'absent' };
    const { size, mode } = stats;
    budget.bytes -= size;
    const hash = createHash('sha256').update(`${size} `);
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size + 1));
    // Reads one byte beyond the size: if the file grows or shrinks in the meantime, its hash matches that of no file.
    for (let left = size + 1; left > 0; ) {
      budget.signal.throwIfAborted();
      // Also applies if another file of the batch exceeded the limit.
      if (budget.bytes < 0) throw Object.assign(new Error('too much to read'), { code: 'EFBIG' });
      const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, left), null);
      if (bytesRead === 0) break;
      hash.update(chunk.subarray(0, bytesRead));
      left -= bytesRead;
    }
    const isProgram = (mode & constants.S_IXUSR) !== 0;
    return { kind: 'hashed', mode: isProgram ? PROGRAM : FILE, digest: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

/**
 * The kind of a path that must be a folder. `link` also if one of its parents is a link: git does not look behind
 * links.
 */
type FolderKind = 'folder' | 'link' | 'absent';

function rememberFolders(root: string): (path: string) => Promise<FolderKind> {
  const known = new Map<string, Promise<FolderKind>>([['', Promise.resolve('folder')]]);
  const find = async (path: string): Promise<FolderKind> => {
    const above = await kindOfFolder(parentOf(path));
    if (above !== 'folder') return above;
    const stats = await lstat(absolutePath(root, path));
    return stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'absent';
  };
  const kindOfFolder = (path: string): Promise<FolderKind> => {
    const found = known.get(path) ?? find(path);
    known.set(path, found);
    return found;
  };
  return kindOfFolder;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Returns the path on disk of a git path in latin1. */
function absolutePath(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(root), Buffer.from(`/${path}`, 'latin1')]);
}

function decode(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8');
}
