/** The interface of the isolation backends; each kind has a file in this folder. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Isolation } from '../../types.ts';
import type { ShellOptions } from '../exec/shell-line.ts';
import type { Layer } from '../workspace/scratch.ts';

export interface Launch {
  /** An absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Input for the child, and the channel on which it reports its status. */
  readonly instructions?: Instructions;
  /** How to find the processes of this command if nothing isolates them. */
  readonly trace?: Trace;
}

/**
 * Text that a child reads to its end. With `descriptors` it reads descriptor 3 and writes its status to 4. With
 * `standard` it reads stdin and writes its status to stderr, because sudo closes all other descriptors.
 */
export interface Instructions {
  readonly text: string;
  readonly channel: 'descriptors' | 'standard';
}

/** What distinguishes the processes of a command from others. */
export interface Trace {
  /** An environment entry that only this command received. */
  readonly marker: string;
  /** Earliest start time of these processes, in clock ticks since boot. */
  readonly since: number;
}

export interface IsolationBackend {
  readonly name: Isolation;
  launch(command: string): Promise<Launch>;
  /** Whether commands run with the system call filter of `system-calls.ts`. */
  readonly filtersCalls?: boolean;
  /**
   * Whether a start may fail for a transient reason, such as a socket that is removed while a mount covers it; if so,
   * it is retried.
   */
  readonly mayFailOnce?: boolean;
  /** Whether the command was run at all, according to the status. */
  hasRun(status: string): boolean;
  /** Whether the status contains all that a sweep needs; absent if a sweep needs none. */
  canSweep?(status: string): boolean;
  /**
   * Kills everything that a command started. Resolves when all of it is dead, or after 2 s.
   * @param child the launched child; once it has ended, its pid may have been reused.
   * @param status its status so far.
   */
  sweep(child: Launched, status: string, launch: Launch): Promise<void>;
  /** Closes the sandbox, once nothing runs in it any more. */
  close(): Promise<void>;
}

interface Launched {
  /** undefined if it could not be started. */
  readonly pid: number | undefined;
  readonly ended: boolean;
}

export interface BackendOptions extends ShellOptions {
  readonly mounts: readonly Mount[];
  readonly shellNetwork: boolean;
  readonly runFolder: string;
  readonly layer: Pick<Layer, 'enter' | 'mappedUser'>;
}

/** One mount. A nested mount is created after, and thus hides part of, the one that contains it. */
export type Mount = {
  readonly at: string;
  /** Whether the covered path may be removed at any time, such as a socket or a lock file of git. */
  readonly fleeting?: true;
} & (
  | { readonly kind: 'read-only' | 'read-write'; readonly from: string }
  /** An empty read-only folder. */
  | { readonly kind: 'empty' }
);

/**
 * Returns bwrap's arguments for a read-only root, a new /proc and /dev, and these mounts.
 * @param byRoot makes /dev/shm and the parent folders of mounts accessible to others; bwrap would create them for root
 * only.
 */
export function mountArguments(mounts: readonly Mount[], byRoot = false): readonly string[] {
  const planned = sorted(mounts);
  const empties = new Set(planned.filter((mount) => mount.kind === 'empty').map((mount) => mount.at));
  return [
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    // bwrap creates it for the user who creates the sandbox, but semaphores and browsers of the user inside need it as
    // well.
    ...(byRoot ? ['--perms', '1777', '--tmpfs', '/dev/shm'] : []),
    ...['--proc', '/proc'],
    // uid 0 can write core_pattern and similar files without any capability.
    ...['--ro-bind', '/proc/sys', '/proc/sys'],
    ...planned.flatMap((mount) => [...(byRoot ? wayTo(mount.at, planned) : []), ...argumentsOf(mount)]),
    // Last, because mount points inside them had to be created first.
    ...[...empties].flatMap((at) => ['--remount-ro', at]),
  ];
}

/** Returns the mounts without those over paths that were removed since the plan was made. */
export function withoutGone(mounts: readonly Mount[]): readonly Mount[] {
  return mounts.filter((mount) => mount.fleeting !== true || isThere(mount.at));
}

/**
 * Whether a path exists. Uses the directory listing for paths directly below the root: stat of a file system mounted
 * there waits for its server.
 */
function isThere(path: string): boolean {
  return dirname(path) === '/' ? readdirSync('/').includes(basename(path)) : existsSync(path);
}

/** Sorts mounts into the order in which they are created. */
export function sorted(mounts: readonly Mount[]): readonly Mount[] {
  return [...mounts].sort(byDepth);
}

/** Compares by depth, so that a folder precedes its contents. */
export function byDepth(a: { readonly at: string }, b: { readonly at: string }): number {
  return depth(a.at) - depth(b.at);
}

/** Returns the arguments for the folders that bwrap must create between a mount and the mount that contains it. */
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
