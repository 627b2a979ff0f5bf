/**
 * Unix sockets of this machine's services. A network namespace holds abstract sockets and no others: one that has a file
 * is reached through any folder that shows the file, a read-only one too. Only a mount over it closes it.
 */
import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SandboxError } from '../errors.ts';
import { shown } from '../files/names.ts';
import { isInside } from './confine.ts';
import { type Mount, sorted } from './mounts.ts';
import { realOrSame } from './present.ts';
import { readMountPoints } from './root-script.ts';

/** bubblewrap reads the list of mounts again for each of them: so many cost every command a tenth of a second. */
const MAX_SOCKETS = 200;
/** Every wall has these of its own. */
const KERNEL_FOLDERS = ['/proc', '/dev', '/sys'];

/**
 * The real paths of the sockets that are bound at this moment and that this user can come to, from the kernel's list of
 * its network namespace (proc(5)) and, for those that a container was lent, from the list of mounts. A relative name is
 * looked for where processes of this user's stand; one that was bound elsewhere, or renamed since, is not found.
 */
export async function findSockets(): Promise<readonly string[]> {
  const [list, mounted] = await Promise.all(
    ['/proc/net/unix', '/proc/self/mountinfo'].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  const bound = boundNames(list ?? '');
  const relative = bound.filter((name) => !name.startsWith('/'));
  const folders = relative.length === 0 ? [] : await workingFolders();
  // A part of a file system, as every file that was mounted by itself is: a whole one may be a server's that hangs.
  const parts = (mounted ?? '').split('\n').filter((line) => line.split(' ')[3] !== '/');
  const names = new Set([
    ...bound.filter((name) => name.startsWith('/')),
    ...folders.flatMap((folder) => relative.map((name) => resolve(folder, name))),
    ...readMountPoints(parts.join('\n')).map(({ at }) => at),
  ]);
  const real = await Promise.all([...names].map(socketAt));
  return [...new Set(real.filter((path) => path !== null))].sort();
}

/** The names of files in `/proc/net/unix`, once each: the accepted connections of a socket carry its name too. */
export function boundNames(list: string): readonly string[] {
  const rows = list.split('\n').slice(1);
  const names = rows.map((row) => /^(?:\S+\s+){7}([^@\s].*)$/u.exec(row)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** Where processes stand, as far as this user may know. */
async function workingFolders(): Promise<readonly string[]> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  const folders = await Promise.all(processes.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => null)));
  return [...new Set(folders.filter((folder) => folder !== null))];
}

/** Gone by now, of another mount namespace, or behind a folder that this user may not enter: nothing to close. */
async function socketAt(name: string): Promise<string | null> {
  try {
    const real = await realpath(name);
    return (await stat(real)).isSocket() && !KERNEL_FOLDERS.some((folder) => isInside(real, folder))
      ? real
      : null;
  } catch {
    return null;
  }
}

/**
 * Where these sockets can be seen behind a wall of these mounts, under every name.
 * @throws SandboxError where they are too many to be closed one by one: a wall with holes would be none.
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
  if (found.size <= MAX_SOCKETS) return [...found];
  throw new SandboxError(
    `${found.size} Unix sockets of services lie in folders that the sandbox shows (${shown([...found][0] ?? '')} is one): too many to close them to the agent. Stop the services, or run this step on another runner.`,
  );
}

/** What a name stands for behind the wall, as a path of this machine; null for nothing. */
function standsAt(
  name: string,
  places: readonly { readonly at: string; readonly from: string | null }[],
): string | null {
  const place = places.findLast(({ at }) => isInside(name, at));
  if (place === undefined) return name;
  return place.from === null ? null : place.from + name.slice(place.at.length);
}
