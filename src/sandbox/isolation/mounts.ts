/** What a command behind a wall sees of the file system, as a list of mounts; which tool makes them is elsewhere. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** One mount. A deeper one is made after, and so stands before, the one that contains it. */
export type Mount =
  | {
      readonly kind: 'read-only' | 'read-write';
      readonly from: string;
      readonly at: string;
      /** It covers what may go away at any time (a socket, a lock of git's), and then there is nothing left to cover. */
      readonly fleeting?: true;
    }
  /** An empty folder that nothing can be written to. */
  | {
      readonly kind: 'empty';
      readonly at: string;
      /** It hides what may go away at any time, and then there is nothing left to hide. */
      readonly fleeting?: true;
    };

/**
 * bwrap's arguments for a read-only root, its own /proc and /dev, and these mounts.
 * @param byRoot opens the folders on the way to a mount, and /dev/shm, to others: bwrap would make them for root alone.
 */
export function mountArguments(mounts: readonly Mount[], byRoot = false): readonly string[] {
  const planned = sorted(mounts);
  const empties = new Set(planned.filter((mount) => mount.kind === 'empty').map((mount) => mount.at));
  return [
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    // bwrap makes it for whoever made the wall; semaphores and browsers of whoever works behind it need it too.
    ...(byRoot ? ['--perms', '1777', '--tmpfs', '/dev/shm'] : []),
    ...['--proc', '/proc'],
    // uid 0 may write core_pattern and the like without any capability.
    ...['--ro-bind', '/proc/sys', '/proc/sys'],
    ...planned.flatMap((mount) => [...(byRoot ? wayTo(mount.at, planned) : []), ...argumentsOf(mount)]),
    // Only now: the mounts inside needed their mount points made.
    ...[...empties].flatMap((at) => ['--remount-ro', at]),
  ];
}

/** The mounts without those over something that went away since they were planned. */
export function withoutGone(mounts: readonly Mount[]): readonly Mount[] {
  return mounts.filter((mount) => !('fleeting' in mount) || isThere(mount.at));
}

/** Right below the root by the list of names: to look at a file system there waits for its server. */
function isThere(path: string): boolean {
  return dirname(path) === '/' ? readdirSync('/').includes(basename(path)) : existsSync(path);
}

/** Mounts in the order in which they are made. */
export function sorted(mounts: readonly Mount[]): readonly Mount[] {
  return [...mounts].sort((a, b) => depth(a.at) - depth(b.at));
}

/** The folders that bwrap has to make between a mount and the one that holds it. */
function wayTo(at: string, planned: readonly Mount[]): readonly string[] {
  const holder = planned.filter((mount) => mount.at !== at && at.startsWith(`${mount.at}/`)).at(-1)?.at;
  if (holder === undefined) return [];
  const names = at.slice(holder.length).split('/').filter(Boolean).slice(0, -1);
  return names.flatMap((_, n) => ['--perms', '0755', '--dir', [holder, ...names.slice(0, n + 1)].join('/')]);
}

function argumentsOf(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case 'empty':
      return ['--tmpfs', mount.at];
    case 'read-only':
      return ['--ro-bind', mount.from, mount.at];
    case 'read-write':
      return ['--bind', mount.from, mount.at];
  }
}

function depth(path: string): number {
  return path.split('/').filter(Boolean).length;
}
