/** Reads and writes at paths that the path rules have resolved. */
import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import {
  type FileHandle,
  lchown,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  realpath,
  rename,
  rm,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../errors.ts';
import { SEARCH } from '../../text/limits.ts';
import type { DirectoryEntry, FileView } from '../sandbox.ts';
import { deny, type ResolvedPath } from './path-policy.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = constants;
const NOT_REGULAR = 'it is neither a regular file nor a folder (a pipe, a socket or a device)';
const CHANGED = 'it changed while it was opened';

/**
 * Reads at most `maxBytes` bytes of a regular file, or lists a directory.
 * @throws DeniedError with a sentence about `asked`, the path as the model wrote it.
 */
export async function readResolved(
  place: ResolvedPath,
  asked: string,
  maxBytes: number,
  maxEntries: number = SEARCH.entries,
): Promise<FileView> {
  if (place.stats === null) deny(asked, 'there is nothing at this path', true);
  refuseSpecial(place.stats, asked);
  return spoken(asked, async () => {
    if (place.stats?.isDirectory())
      return { kind: 'directory', entries: await list(place.host, asked, maxEntries) };
    return readStart(place, asked, maxBytes);
  });
}

/** If the file was replaced since the rules resolved the path, it has another real path or is not a regular file. */
async function readStart(place: ResolvedPath, asked: string, maxBytes: number): Promise<FileView> {
  const handle = await open(place.host, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    throw errorCode(error) === 'ELOOP' ? deny(asked, CHANGED) : error;
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) deny(asked, NOT_REGULAR);
    const { host } = place;
    const real = host.startsWith('/proc/') ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(host);
    if ((await real) !== realPathOf(place)) deny(asked, CHANGED);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(maxBytes, stats.size)));
    const bytes = buffer.subarray(0, bytesRead);
    return { kind: 'file', bytes, size: stats.size, truncated: bytesRead < stats.size };
  } finally {
    await handle.close();
  }
}

/**
 * Writes a new file beside the path, then renames it, so that no reader sees a partial file and other hard links to the
 * old file are unaffected. Creates missing folders, and preserves the mode of an existing file.
 * @throws DeniedError with a sentence about `asked`.
 */
export async function writeResolved(place: ResolvedPath, asked: string, bytes: Buffer): Promise<void> {
  if (place.stats?.isDirectory()) deny(asked, 'it is a folder');
  if (place.stats !== null) refuseSpecial(place.stats, asked);
  const folder = dirname(place.host);
  await spoken(asked, async () => {
    await makeFolder(folder);
    if ((await realFolder(folder)) !== dirname(realPathOf(place)))
      deny(asked, 'its folder changed while it was written');
    const owner = place.stats ?? (await lstat(folder));
    const temporary = join(folder, `.structured-agent-${randomBytes(8).toString('hex')}`);
    try {
      await writeNew(temporary, bytes, place.stats?.mode ?? null, owner);
      await rename(temporary, place.host);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  });
}

function realPathOf({ host, tree }: ResolvedPath): string {
  return tree.real + host.slice(tree.host.length);
}

/** Creates missing folders. As root, they get the owner of the folder around them, who runs the commands. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined || process.getuid?.() !== 0) return;
  const { uid, gid } = await lstat(dirname(first));
  for (let path = folder; path.length >= first.length; path = dirname(path)) await lchown(path, uid, gid);
}

/** Returns the real path of a folder, which may be mounted in another mount namespace only. */
async function realFolder(folder: string): Promise<string> {
  if (!folder.startsWith('/proc/')) return realpath(folder);
  const handle = await open(folder, O_RDONLY | O_DIRECTORY);
  try {
    return await readlink(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}

async function writeNew(path: string, bytes: Buffer, mode: number | null, owner: Stats): Promise<void> {
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
  try {
    const stats = await handle.stat();
    if (stats.uid !== owner.uid || stats.gid !== owner.gid) await chownIfAllowed(handle, owner);
    if (mode !== null) await handle.chmod(mode & 0o7777);
    await handle.writeFile(bytes);
  } finally {
    await handle.close();
  }
}

/** Sets the owner of a file to that of the workspace if this process is root; otherwise the file keeps its owner. */
async function chownIfAllowed(handle: FileHandle, owner: Stats): Promise<void> {
  try {
    await handle.chown(owner.uid, owner.gid);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') throw error;
  }
}

function refuseSpecial(stats: Stats, asked: string): void {
  if (!stats.isFile() && !stats.isDirectory()) {
    deny(asked, NOT_REGULAR);
  }
}

async function list(folder: string, asked: string, max: number): Promise<readonly DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  for await (const entry of await opendir(folder, { bufferSize: 1024 })) {
    if (entries.length === max)
      deny(asked, `it has more than ${max} entries; use ls in the shell with a pattern`);
    const kind = entry.isFile()
      ? 'file'
      : entry.isDirectory()
        ? 'directory'
        : entry.isSymbolicLink()
          ? 'symlink'
          : 'other';
    entries.push({ name: entry.name, kind });
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Turns errors of the system (no permission, a full disk, a name that is too long) into a sentence. */
async function spoken<T>(asked: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const code = errorCode(error);
    if (code === null || code.startsWith('ERR_')) throw error;
    return deny(asked, `the system refused it (${code})`, code === 'ENOENT');
  }
}
