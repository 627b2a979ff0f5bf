/**
 * The name that git gives to a set of files as they lie on the disk, in its SHA-256 object format whatever the
 * repository's own: with SHA-1 two different files can be made to have one name.
 *
 * The bytes are hashed as they are, without git's filters: attributes (`text=auto`, `eol`, `filter=lfs`, `ident`) make
 * one blob of working files that differ, and whoever judges reads the working files.
 */
import { createHash, type Hash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises';
import { errorCode } from '../exec/error-code.ts';

/** A file that git knows of, or that lies there untracked. */
export interface GitPath {
  /** Relative to the root; each character stands for one byte (latin1), because a name may be no UTF-8. */
  readonly path: string;
  /** The commit that the index has for a submodule; null for a file. */
  readonly commit: string | null;
}

/** The tree, or why its name would not stand for what lies there; paths are latin1 like `GitPath.path`. */
export type GitTree =
  | {
      readonly kind: 'tree';
      readonly name: string;
      readonly files: number;
      /** The symbolic links in it: the name stands for where they lead, not for what lies there. */
      readonly links: readonly string[];
    }
  | { readonly kind: 'nested'; readonly path: string }
  | { readonly kind: 'unreadable'; readonly path: string; readonly code: string };

/** A file, link or submodule as a tree's entry. */
interface Leaf {
  readonly mode: '100644' | '100755' | '120000' | '160000';
  readonly name: Buffer;
}

type Folder = Map<string, Leaf | Folder>;

/** Files that are read at a time. */
const BATCH = 32;
const CHUNK_BYTES = 256 * 1024;
/** More than this in all is not read: a sparse file takes no room on the disk and may have any size. */
const MAX_BYTES = 16 * 1024 ** 3;

/** What ends the reading. */
interface Budget {
  bytes: number;
  readonly signal: AbortSignal;
}

/**
 * Names the tree of those paths that are there: one that is missing, or lies behind a symbolic link, is left out.
 * @param root absolute.
 * @throws the signal's reason.
 */
export async function nameTree(
  root: string,
  paths: readonly GitPath[],
  signal: AbortSignal,
): Promise<GitTree> {
  const top: Folder = new Map();
  const isFolder = rememberFolders(root);
  const budget = { bytes: MAX_BYTES, signal };
  let files = 0;
  const links: string[] = [];
  for (let start = 0; start < paths.length; start += BATCH) {
    signal.throwIfAborted();
    const batch = paths.slice(start, start + BATCH);
    const looks = await Promise.all(
      batch.map(async (path) => ({ path, leaf: await look(root, path, isFolder, budget) })),
    );
    for (const {
      path: { path },
      leaf,
    } of looks) {
      if (leaf === null) continue;
      if ('kind' in leaf) return leaf;
      files += 1;
      if (leaf.mode === '120000') links.push(path);
      put(top, path.split('/'), leaf);
    }
  }
  return { kind: 'tree', name: nameFolder(top).toString('hex'), files, links };
}

async function look(
  root: string,
  { path, commit }: GitPath,
  isFolder: (path: string) => Promise<boolean>,
  budget: Budget,
): Promise<Leaf | Exclude<GitTree, { kind: 'tree' }> | null> {
  try {
    if (!(await isFolder(parentOf(path)))) return null;
    const place = placeOf(root, path);
    const stats = await lstat(place);
    if (stats.isSymbolicLink())
      return { mode: '120000', name: nameObject('blob', await readlink(place, 'buffer')) };
    if (stats.isFile()) return await lookAtFile(place, budget);
    if (!stats.isDirectory() || commit === null) return null;
    // Not checked out: nothing of it can be read, and the commit says what is meant to be there.
    if ((await readdir(place)).length > 0) return { kind: 'nested', path };
    return { mode: '160000', name: createHash('sha256').update(`commit ${commit}`).digest() };
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : { kind: 'unreadable', path, code };
  }
}

async function lookAtFile(place: Buffer, budget: Budget): Promise<Leaf | null> {
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return null;
    budget.bytes -= stats.size;
    const name = await nameFile(file, stats, budget);
    return { mode: (stats.mode & constants.S_IXUSR) === 0 ? '100644' : '100755', name };
  } finally {
    await file.close();
  }
}

async function nameFile(file: FileHandle, { size }: Stats, budget: Budget): Promise<Buffer> {
  const hash = begin('blob', size);
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size + 1));
  // One that grows or shrinks meanwhile gets a name that no file has: one byte beyond its size tells.
  for (let left = size + 1; left > 0; ) {
    budget.signal.throwIfAborted();
    // Also where it is another file of the batch that was too much.
    if (budget.bytes < 0) throw Object.assign(new Error('too much to read'), { code: 'EFBIG' });
    const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, left), null);
    if (bytesRead === 0) break;
    hash.update(chunk.subarray(0, bytesRead));
    left -= bytesRead;
  }
  return hash.digest();
}

/** Whether a path is a folder, and all on the way to it are: git does not look behind a link. */
function rememberFolders(root: string): (path: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>([['', Promise.resolve(true)]]);
  const find = async (path: string): Promise<boolean> => {
    if (!(await isFolder(parentOf(path)))) return false;
    return (await lstat(placeOf(root, path))).isDirectory();
  };
  const isFolder = (path: string): Promise<boolean> => {
    const found = known.get(path) ?? find(path);
    known.set(path, found);
    return found;
  };
  return isFolder;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The place on the disk of a path of git's, which is latin1. */
export function placeOf(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(root), Buffer.from(`/${path}`, 'latin1')]);
}

function put(folder: Folder, [name = '', ...rest]: readonly string[], leaf: Leaf): void {
  if (rest.length === 0) {
    folder.set(name, leaf);
    return;
  }
  const known = folder.get(name);
  const inner: Folder = known instanceof Map ? known : new Map();
  folder.set(name, inner);
  put(inner, rest, leaf);
}

function nameFolder(folder: Folder): Buffer {
  const entries = [...folder].map(([name, entry]) =>
    entry instanceof Map
      ? { sorted: `${name}/`, name, mode: '40000', object: nameFolder(entry) }
      : { sorted: name, name, mode: entry.mode, object: entry.name },
  );
  // By bytes, a folder as if its name ended in a slash: git's own order.
  entries.sort((a, b) => (a.sorted < b.sorted ? -1 : 1));
  const parts = entries.flatMap(({ mode, name, object }) => [
    Buffer.from(`${mode} ${name}\0`, 'latin1'),
    object,
  ]);
  return nameObject('tree', Buffer.concat(parts));
}

function nameObject(type: 'blob' | 'tree', bytes: Buffer): Buffer {
  return begin(type, bytes.length).update(bytes).digest();
}

function begin(type: string, size: number): Hash {
  return createHash('sha256').update(`${type} ${size}\0`);
}
