/**
 * Unix sockets and named pipes of this machine's services. A network namespace holds abstract sockets and no others: one
 * that has a file is reached through any folder that shows the file, a read-only one too, and so is a pipe. Only a mount
 * over it closes it.
 */

import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SandboxError } from '../../errors.ts';
import { KERNEL_FOLDERS } from '../../files/protected-names.ts';
import { quote } from '../../text/messages.ts';
import { isInside, realOrSame } from '../workspace/path-policy.ts';
import { type Mount, sorted } from './backend.ts';
import { listProcesses, type MountedPart, readMountInfo } from './host.ts';

/** bubblewrap reads the list of mounts again for each of them: so many cost every command a tenth of a second. */
const MAX_SOCKETS = 200;
/** The longest name that a socket can have, in bytes (unix(7)). */
const MAX_NAME = 108;
/** Descriptors that are looked at for pipes: a machine with more has none that matters to a job. */
const MAX_DESCRIPTORS = 20_000;
/** File systems that may hang, and whose pipes are between processes of one machine all the same. */
const FAR_AWAY = /^(?:nfs|cifs|smb|ceph|afs|fuse)/u;
/** Stands where a name is not UTF-8: such a name can be given to no program. */
const NOT_TEXT = '\ufffd';

/**
 * The real paths of the sockets that are bound at this moment and of the named pipes that a process has open, as far as
 * this user can know of them, also where a folder of theirs is mounted a second time, and their hard links in one folder.
 * Sockets come from the kernel's list of its network namespace (proc(5)) and, for those that a container was lent, from
 * the list of mounts. A relative name is looked for where processes of this user's stand; one that was bound elsewhere,
 * or renamed since, is not found.
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
    // A part of a file system, as every file that was mounted by itself is: a whole one may be a server's that hangs.
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
 * The names of files in `/proc/net/unix`, once each: the accepted connections of a socket carry its name too. A name may
 * hold line breaks, and what follows one may look like a row: each way to read a row is a name. So are those with an `@`
 * at the start: the kernel writes an abstract name like the relative name of a file that begins with one.
 * @param list with a character for each byte.
 */
export function boundNames(list: string): readonly string[] {
  const lines = list.split('\n');
  const names = new Set<string>();
  for (const [index, line] of lines.entries()) {
    let name = /^[0-9a-f]+: (?:[0-9a-f]+ +){5}\d+ (.+)/isu.exec(line)?.[1];
    for (let next = index + 1; name !== undefined && name.length <= MAX_NAME; next += 1) {
      names.add(name);
      const more = lines[next];
      name = more === undefined ? undefined : `${name}\n${more}`;
    }
  }
  return [...names];
}

/**
 * What relative names stand for in a folder. Of those that may be abstract, of which a desktop has hundreds, only the ones
 * that begin with the name of something in the folder.
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

/** Where processes stand, as far as this user may know. */
async function workingFolders(): Promise<readonly string[]> {
  const folders = await Promise.all(
    (await listProcesses()).map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => null)),
  );
  return [...new Set(folders.filter((folder) => folder !== null))];
}

/** The names of everything that processes have open, as far as this user may know: pipes are among them. */
async function openNames(): Promise<readonly string[]> {
  const names = new Set<string>();
  let left = MAX_DESCRIPTORS;
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
 * What a name stands for, if that is a socket or a named pipe: gone by now, of another mount namespace, or behind a
 * folder that this user may not enter is nothing to close.
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

/** The names that a path has by other mounts of what it lies in; some may be covered, and stand for something else. */
function mountedAgain(path: string, mounts: readonly MountedPart[]): readonly string[] {
  const own = holderOf(path, mounts);
  const inside = placeIn(own, path);
  if (own === null || inside === null) return [];
  return mounts
    .filter(({ device, root }) => device === own.device && isInside(inside, root))
    .map(({ root, at }) => join(at, inside.slice(root === '/' ? 0 : root.length)));
}

/** Where a path lies in its file system. */
function placeIn(holder: MountedPart | null, path: string): string | null {
  return holder === null ? null : join(holder.root, path.slice(holder.at === '/' ? 0 : holder.at.length));
}

function holderOf(path: string, mounts: readonly MountedPart[]): MountedPart | null {
  return mounts
    .filter(({ at }) => isInside(path, at))
    .reduce<MountedPart | null>(
      (best, one) => (best === null || one.at.length >= best.at.length ? one : best),
      null,
    );
}

/** The names in its own folder of a file that may have several; a search of the whole machine would take too long. */
async function hardLinks({ path }: Endpoint): Promise<readonly string[]> {
  const folder = dirname(path);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isSocket() || entry.isFIFO())
    .map((entry) => join(folder, entry.name));
}

/**
 * Where these sockets can be seen in a sandbox of these mounts, under every name.
 * @throws SandboxError where they are too many to be closed one by one: a sandbox with holes would be none.
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
  if (found.size <= MAX_SOCKETS) return [...found];
  throw new SandboxError(
    `${found.size} Unix sockets and named pipes of services lie in folders that the sandbox shows (${quote([...found][0] ?? '')} is one): too many to close them to the agent. Stop the services, or run this step on another runner.`,
  );
}

/** What a name stands for in the sandbox, as a path of this machine; null for nothing. */
function standsAt(
  name: string,
  places: readonly { readonly at: string; readonly from: string | null }[],
): string | null {
  const place = places.findLast(({ at }) => isInside(name, at));
  if (place === undefined) return name;
  return place.from === null ? null : place.from + name.slice(place.at.length);
}
