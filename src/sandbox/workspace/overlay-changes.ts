/**
 * Lists what the agent changed in an overlay: what its upper layer holds, compared with the checkout below it. The cost
 * depends on what was written, not on the size of the checkout.
 */
import { constants, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { copyFile, mkdir, open, readlink, symlink } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { errorCode } from '../../errors.ts';

/** The folders of an overlay, as paths for this process. */
export interface OverlayTrees {
  /** The checkout. */
  readonly lower: string;
  /** What was written. */
  readonly upper: string;
  /** What commands see. */
  readonly merged: string;
  /** The same, as the kernel names it. */
  readonly real: string;
}

/** A regular file or a symbolic link that differs; null on the side where there is none. */
export interface Change {
  /** Relative to the trees, one character per byte. */
  readonly name: string;
  readonly before: Stats | null;
  readonly after: Stats | null;
}

/** Number of bytes that are compared at a time. */
const CHUNK_BYTES = 1024 * 1024;

/** What the upper layer holds. */
export interface Changes {
  readonly files: readonly Change[];
  /** Folders that the checkout does not have, as names of changes; `listFolder` lists what is in them. */
  readonly folders: readonly string[];
}

/**
 * Returns the changes, without those in nested repositories.
 * @param trees no command may write to them meanwhile.
 * @throws the signal's reason; a system error if a folder or file cannot be read.
 */
export async function listChanges(trees: OverlayTrees, signal: AbortSignal): Promise<Changes> {
  const files: Change[] = [];
  const folders: string[] = [];
  const add = (name: string, before: Stats | null, after: Stats | null) => {
    const change = { name, before: asFile(before), after: asFile(after) };
    if (change.before !== null || change.after !== null) files.push(change);
  };
  const lower = (name: string) => at(trees.lower, name);
  const merged = (name: string) => at(trees.merged, name);
  const queue: { readonly folder: string; readonly kind: 'written' | 'removed' }[] = [];
  if (lookAt(at(trees.upper, ''))?.isDirectory() === true) queue.push({ folder: '', kind: 'written' });
  const remove = (name: string, stats: Stats | null) => {
    if (stats?.isDirectory() !== true) add(name, stats, null);
    else if (!isRepository(lower(name))) queue.push({ folder: name, kind: 'removed' });
  };
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    await setImmediate();
    signal.throwIfAborted();
    const { folder, kind } = next;
    const child = (name: string) => (folder === '' ? name : `${folder}/${name}`);
    const below = namesIn(lower(folder));
    if (kind === 'removed') {
      for (const name of below) remove(child(name), lookAt(lower(child(name))));
      continue;
    }
    const present = new Set(namesIn(merged(folder)));
    for (const name of below) if (!present.has(name)) remove(child(name), lookAt(lower(child(name))));
    for (const name of namesIn(at(trees.upper, folder))) {
      // What was removed leaves a mark here, too.
      if (!present.has(name)) continue;
      const path = child(name);
      const [before, after] = [lookAt(lower(path)), lookAt(merged(path))];
      if (after?.isDirectory() === true && before?.isDirectory() === true) {
        if (!isRepository(lower(path))) queue.push({ folder: path, kind: 'written' });
      } else if (after?.isDirectory() === true) {
        add(path, before, null);
        if (!isNewRepository(merged(path))) folders.push(path);
      } else if (before?.isDirectory() === true) {
        add(path, null, after);
        remove(path, before);
      } else if (!(await isSame(path, before, after, trees, signal))) add(path, before, after);
    }
  }
  return { files, folders };
}

/**
 * Returns the files in a folder that the checkout does not have, without those in nested repositories.
 * @throws as `listChanges` does.
 */
export async function listFolder(
  folder: string,
  { merged }: OverlayTrees,
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const files: Change[] = [];
  const queue = [folder];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    await setImmediate();
    signal.throwIfAborted();
    for (const name of namesIn(at(merged, next))) {
      const path = `${next}/${name}`;
      const stats = lookAt(at(merged, path));
      if (stats?.isDirectory() !== true) {
        const after = asFile(stats);
        if (after !== null) files.push({ name: path, before: null, after });
      } else if (!isNewRepository(at(merged, path))) queue.push(path);
    }
  }
  return files;
}

/** Whether a folder of the checkout is a repository of its own. No commit can contain a file of this name. */
function isRepository(folder: Buffer): boolean {
  return lookAt(Buffer.concat([folder, Buffer.from('/.git')])) !== null;
}

/** Whether a folder that a command made is a repository to git, which an empty `.git` is not. */
function isNewRepository(folder: Buffer): boolean {
  const has = (name: string) => lookAt(Buffer.concat([folder, Buffer.from(`/.git/${name}`)])) !== null;
  return has('HEAD') && has('objects') && has('refs');
}

/** Whether git would see no difference: the same kind, contents and permission to execute. */
async function isSame(
  name: string,
  before: Stats | null,
  after: Stats | null,
  trees: OverlayTrees,
  signal: AbortSignal,
): Promise<boolean> {
  if (before === null || after === null) return false;
  const [one, other] = [at(trees.lower, name), at(trees.merged, name)];
  if (before.isSymbolicLink() && after.isSymbolicLink())
    return readlinkSync(one, 'buffer').equals(readlinkSync(other, 'buffer'));
  if (!before.isFile() || !after.isFile() || before.size !== after.size) return false;
  if ((before.mode & 0o100) !== (after.mode & 0o100)) return false;
  const files = [await openFile(one), await openFile(other)] as const;
  try {
    const [first, second] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)];
    for (;;) {
      signal.throwIfAborted();
      const [a, b] = [await fill(files[0], first), await fill(files[1], second)];
      if (a !== b || !first.subarray(0, a).equals(second.subarray(0, b))) return false;
      if (a < CHUNK_BYTES) return true;
    }
  } finally {
    for (const file of files) await file.close();
  }
}

type File = Awaited<ReturnType<typeof open>>;

async function openFile(path: Buffer): Promise<File> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

async function fill(file: File, buffer: Buffer): Promise<number> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

/**
 * Copies one side of the changes to a new folder. A command may have replaced a folder on the way to a file by a link
 * since the changes were listed, and links lead out of the tree here: only what the kernel names as part of the tree is
 * copied.
 * @param tree the tree of that side.
 * @param real the same, as the kernel names it.
 * @param into an absolute path; created here, so that others can read it.
 * @returns whether all of it could be copied.
 */
export async function copySide(
  changes: readonly Change[],
  side: 'before' | 'after',
  { tree, real, into }: { readonly tree: string; readonly real: string; readonly into: string },
  signal: AbortSignal,
): Promise<boolean> {
  await mkdir(into, { mode: 0o755 });
  const folders = new Set(['']);
  for (const change of changes) {
    const { name } = change;
    const stats = change[side];
    if (stats === null) continue;
    signal.throwIfAborted();
    const folder = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    if (!folders.has(folder)) {
      if (!(await isAt(at(tree, folder), at(real, folder)))) return false;
      await mkdir(at(into, folder), { recursive: true, mode: 0o755 });
      folders.add(folder);
    }
    const [from, to] = [at(tree, name), at(into, name)];
    if (stats.isSymbolicLink()) {
      await symlink(await readlink(from, 'buffer'), to);
      continue;
    }
    const file = await openFile(from);
    try {
      const opened = await file.stat();
      if (opened.ino !== stats.ino || opened.dev !== stats.dev || opened.size !== stats.size) return false;
      await writeFrom(file, to, (stats.mode & 0o100) === 0 ? 0o644 : 0o755);
    } finally {
      await file.close();
    }
  }
  return true;
}

async function writeFrom(file: File, to: Buffer, mode: number): Promise<void> {
  const copy = await open(to, 'wx', mode);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let length = await fill(file, chunk); length > 0; length = await fill(file, chunk))
      await copy.write(chunk, 0, length);
    // The mask of this process may take permissions away, for example that to read from other users.
    await copy.chmod(mode);
  } finally {
    await copy.close();
  }
}

/** Whether a folder is the one of this real path, in whichever mount namespace it is. */
async function isAt(folder: Buffer, real: Buffer): Promise<boolean> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    return (await readlink(`/proc/self/fd/${handle.fd}`, 'buffer')).equals(real);
  } finally {
    await handle.close();
  }
}

/**
 * Copies the `.gitignore` files that may apply to some names.
 * @param tree the checkout.
 * @param into an existing folder.
 */
export async function copyIgnoreRules(names: readonly string[], tree: string, into: string): Promise<void> {
  const folders = new Set(['']);
  for (const name of names)
    for (let end = name.indexOf('/'); end !== -1; end = name.indexOf('/', end + 1))
      folders.add(name.slice(0, end + 1));
  for (const folder of folders) {
    const from = at(tree, `${folder}.gitignore`);
    // Git follows no links to such files either.
    if (lookAt(from)?.isFile() !== true) continue;
    await mkdir(at(into, folder), { recursive: true, mode: 0o755 });
    await copyFile(from, at(into, `${folder}.gitignore`), constants.COPYFILE_EXCL);
  }
}

/** Returns the path of a name in a tree; an empty name is the tree itself. */
function at(tree: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(name === '' ? tree : `${tree}/`), Buffer.from(name, 'latin1')]);
}

/** Returns the names in a folder; not `.git`, which belongs to no commit. */
function namesIn(folder: Buffer): readonly string[] {
  return readdirSync(folder, 'buffer')
    .map((name) => name.toString('latin1'))
    .filter((name) => name !== '.git');
}

function lookAt(path: Buffer): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return null;
    throw error;
  }
}

/** What git does not know (pipes, sockets, devices, folders) counts as nothing. */
function asFile(stats: Stats | null): Stats | null {
  return stats !== null && (stats.isFile() || stats.isSymbolicLink()) ? stats : null;
}
