/**
 * Finds Unix sockets and named pipes of this machine's services. A network namespace isolates only abstract sockets. A
 * socket or a pipe with a file can be reached through any folder that shows the file, even a read-only one. Only a
 * mount over the file closes it.
 */

import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SandboxError } from '../../errors.ts';
import { KERNEL_FOLDERS } from '../../files/names.ts';
import { MOUNTS, SEARCH } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import { isInside, realOrSame } from '../workspace/path-policy.ts';
import { type Mount, sorted } from './backend.ts';
import { listProcesses, type MountedPart, readMountInfo } from './host.ts';

/** Maximum length of a socket name in bytes (unix(7)). */
const MAX_NAME = 108;
/** File systems that may hang. Their named pipes only connect processes of one machine anyway. */
const FAR_AWAY = /^(?:nfs|cifs|smb|ceph|afs|fuse)/u;
/** Marks a name that is not valid UTF-8; such a name cannot be passed to a program. */
const NOT_TEXT = '\ufffd';

/**
 * Returns the real paths of the sockets that are currently bound and of the named pipes that a process has open, as far
 * as this user can see them. Includes their paths through other mounts of the same folder and their hard links in the
 * same folder. Sockets come from the kernel's list of its network namespace (proc(5)) and, for those mounted into a
 * container, from the list of mounts. A relative name is looked up in the working directories of this user's processes;
 * a socket that was bound elsewhere or renamed since is not found.
 */
export async function findEndpoints(): Promise<readonly string[]> {
  const [list, mounted, opened] = await Promise.all([
    readFile('/proc/net/unix', 'latin1').catch(() => ''),
    readFile('/proc/self/mountinfo', 'utf8').catch(() => ''),
    openNames(),
  ]);
  const bound = boundNames(list).map((name) => Buffer.from(name, 'latin1'));
  const relative = bound.filter((name) => name[0] !== SLASH);
  const folders = relative.length === 0 ? [] : await workingFolders();
  const mounts = readMountInfo(mounted);
  const names = [
    ...bound.filter((name) => name[0] === SLASH),
    ...(await Promise.all(folders.map((folder) => namesFrom(folder, relative)))).flat(),
    // Only parts of a file system, which includes every file mounted by itself: a whole file system may be on a server
    // that hangs.
    ...mounts.filter(({ root }) => root !== '/').map(({ at }) => Buffer.from(at)),
    ...opened
      .filter((name) => !FAR_AWAY.test(holderOf(name, mounts)?.type ?? ''))
      .map((name) => Buffer.from(name)),
  ];
  const found = (await Promise.all(names.map(endpointAt))).filter((endpoint) => endpoint !== null);
  const paths = new Set<string>();
  for (const endpoint of found) {
    const others = [
      ...mountedAgain(endpoint.path, mounts),
      ...(endpoint.links > 1n && !paths.has(endpoint.path) ? await hardLinks(endpoint) : []),
    ];
    paths.add(endpoint.path);
    for (const path of others) {
      const other = await endpointAt(Buffer.from(path));
      if (other !== null && other.device === endpoint.device && other.inode === endpoint.inode)
        paths.add(other.path);
    }
  }
  return [...paths].sort();
}

const SLASH = 47;
const AT = 64;

/**
 * Returns the unique file names in `/proc/net/unix`; the accepted connections of a socket carry its name, too. A name
 * may contain line breaks, and the text after one may look like a row, so every possible reading of a row counts as a
 * name. This includes names that start with `@`: the kernel writes an abstract name like the relative name of a file
 * that starts with one.
 * @param list one character per byte.
 */
export function boundNames(list: string): readonly string[] {
  const names = new Set<string>();
  for (const row of list.matchAll(/(?<![^\n])[0-9a-f]+: (?:[0-9a-f]+ +){5}\d+ /giu)) {
    const start = row.index + row[0].length;
    for (
      let end = endOfLine(list, start + 1);
      end > start && end - start <= MAX_NAME;
      end = endOfLine(list, end + 1)
    ) {
      names.add(list.slice(start, end));
      if (end === list.length) break;
    }
  }
  return [...names];
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/**
 * Resolves relative names against a folder. Of those that may be abstract, of which a desktop has hundreds, it includes
 * only the ones that start with the name of an entry in the folder.
 */
async function namesFrom(folder: string, relative: readonly Buffer[]): Promise<readonly Buffer[]> {
  const entries = relative.some((name) => name[0] === AT)
    ? await readdir(folder, 'latin1').catch(() => [])
    : [];
  const there = new Set(entries.filter((entry) => entry.startsWith('@')));
  return relative
    .filter((name) => name[0] !== AT || there.has(name.toString('latin1').split('/', 1)[0] ?? ''))
    .map((name) => Buffer.concat([Buffer.from(`${folder}/`), name]));
}

/** Returns the working directories of the processes that this user can see. */
async function workingFolders(): Promise<readonly string[]> {
  const folders = await Promise.all(
    (await listProcesses()).map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => null)),
  );
  return [...new Set(folders.filter((folder) => folder !== null))];
}

/** Returns the names of everything that visible processes have open, which includes pipes. */
async function openNames(): Promise<readonly string[]> {
  const names = new Set<string>();
  let left: number = SEARCH.descriptors;
  for (const pid of await listProcesses()) {
    const folder = `/proc/${pid}/fd`;
    const descriptors = (await readdir(folder).catch(() => [])).slice(0, left);
    left -= descriptors.length;
    const links = await Promise.all(descriptors.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
    for (const link of links) if (link.startsWith('/')) names.add(link);
    if (left === 0) break;
  }
  return [...names];
}

interface Endpoint {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
  readonly links: bigint;
}

/**
 * Returns the socket or named pipe at a path, or null. A path that is gone, belongs to another mount namespace or is
 * behind a folder that this user may not enter needs no mount.
 */
async function endpointAt(name: Buffer): Promise<Endpoint | null> {
  try {
    const real = await realpath(name, { encoding: 'buffer' });
    const stats = await stat(real, { bigint: true });
    const path = real.toString('utf8');
    if (!(stats.isSocket() || stats.isFIFO())) return null;
    if (KERNEL_FOLDERS.some((folder) => isInside(path, folder))) return null;
    return { path, device: stats.dev, inode: stats.ino, links: stats.nlink };
  } catch {
    return null;
  }
}

/**
 * Returns the paths of a file through other mounts of its file system. Some may be covered by another mount and refer
 * to a different file.
 */
function mountedAgain(path: string, mounts: readonly MountedPart[]): readonly string[] {
  const own = holderOf(path, mounts);
  if (own === null) return [];
  // The location in its file system.
  const inside = join(own.root, path.slice(own.at === '/' ? 0 : own.at.length));
  return mounts
    .filter(({ device, root }) => device === own.device && isInside(inside, root))
    .map(({ root, at }) => join(at, inside.slice(root === '/' ? 0 : root.length)));
}

function holderOf(path: string, mounts: readonly MountedPart[]): MountedPart | null {
  return mounts
    .filter(({ at }) => isInside(path, at))
    .reduce<MountedPart | null>(
      (best, one) => (best === null || one.at.length >= best.at.length ? one : best),
      null,
    );
}

/** Returns the hard links of a file in its own folder; searching the whole machine would take too long. */
async function hardLinks({ path }: Endpoint): Promise<readonly string[]> {
  const folder = dirname(path);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isSocket() || entry.isFIFO())
    .map((entry) => join(folder, entry.name));
}

/**
 * Returns every path at which these sockets are visible in a sandbox with these mounts.
 * @throws SandboxError if there are too many to cover one by one, because a sandbox must not leave any of them open.
 */
export async function seenSockets(
  sockets: readonly string[],
  mounts: readonly Mount[],
): Promise<readonly string[]> {
  if (sockets.length === 0) return [];
  const places = await Promise.all(
    sorted(mounts).map(async (mount) => ({
      at: mount.at,
      from: mount.kind === 'empty' ? null : await realOrSame(mount.from),
    })),
  );
  const found = new Set<string>();
  for (const socket of sockets) {
    const names = places.flatMap(({ at, from }) =>
      from !== null && isInside(socket, from) ? [at + socket.slice(from.length)] : [],
    );
    for (const name of [socket, ...names]) if (standsAt(name, places) === socket) found.add(name);
  }
  const nameless = [...found].find((name) => name.includes(NOT_TEXT));
  if (nameless !== undefined)
    throw new SandboxError(
      `The Unix socket or named pipe ${quote(nameless)} lies in a folder that the sandbox shows, and its name is not UTF-8, so that it cannot be closed. Stop its service, or run this step on another runner.`,
    );
  if (found.size <= MOUNTS.sockets) return [...found];
  throw new SandboxError(
    `${found.size} Unix sockets and named pipes of services lie in folders that the sandbox shows (${quote([...found][0] ?? '')} is one): too many to close them to the agent. Stop the services, or run this step on another runner.`,
  );
}

/** Returns the host path that a name refers to in the sandbox; null if none. */
function standsAt(
  name: string,
  places: readonly { readonly at: string; readonly from: string | null }[],
): string | null {
  const place = places.findLast(({ at }) => isInside(name, at));
  if (place === undefined) return name;
  return place.from === null ? null : place.from + name.slice(place.at.length);
}
