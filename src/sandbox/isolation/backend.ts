/** What stands between a command and this machine: one file beside this one for each kind. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Isolation } from '../../types.ts';
import type { ShellOptions } from '../exec/shell-line.ts';

/** How one command is started. */
export interface Launch {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What the child is told besides, and where it says how it goes. */
  readonly instructions?: Instructions;
  /** How to find the processes of this command where nothing isolates them. */
  readonly trace?: Trace;
}

/**
 * What a child reads to its end. `descriptors`: on descriptor 3, and its status comes on 4. `standard`: on its input, and
 * its status comes on its error output (sudo closes all other descriptors).
 */
export interface Instructions {
  readonly text: string;
  readonly channel: 'descriptors' | 'standard';
}

/** What tells a command's processes from others. */
export interface Trace {
  /** An entry of the environment that this command alone was given. */
  readonly marker: string;
  /** None of them is older: clock ticks since boot. */
  readonly since: number;
}

/** A kind of isolation. */
export interface IsolationBackend {
  readonly name: Isolation;
  launch(command: string): Promise<Launch>;
  /** Whether commands run with the filter of `system-calls.ts`. */
  readonly filtersCalls?: boolean;
  /** Whether it may not come up for what goes by, such as a socket that goes while it is covered: then it is tried again. */
  readonly mayFailOnce?: boolean;
  /** Whether the command ran at all, judged from its status. */
  hasRun(status: string): boolean;
  /** Whether its status says all that a sweep needs to know; absent where a sweep needs none. */
  canSweep?(status: string): boolean;
  /**
   * Kills what a command started, and resolves when all of it is dead, or after 2 s.
   * @param child that was launched; its number may be another's once it has ended.
   * @param status its status so far.
   */
  sweep(child: Launched, status: string, launch: Launch): Promise<void>;
  /** Closes the sandbox, once nothing runs in it any more. */
  close(): Promise<void>;
}

/** A child as it was launched. */
interface Launched {
  /** undefined where it could not be started. */
  readonly pid: number | undefined;
  readonly ended: boolean;
}

/** What a backend is started with. */
export interface BackendOptions extends ShellOptions {
  readonly mounts: readonly Mount[];
  readonly shellNetwork: boolean;
  readonly runFolder: string;
}

/** One mount. A deeper one is made after, and so stands before, the one that contains it. */
export type Mount = {
  readonly at: string /** It covers what may go away at any time, such as a socket or a lock of git's. */;
  readonly fleeting?: true;
} & (
  | { readonly kind: 'read-only' | 'read-write'; readonly from: string }
  /** An empty folder that nothing can be written to. */
  | { readonly kind: 'empty' }
);

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
    // bwrap makes it for the user who made the sandbox; semaphores and browsers of the user who works in it need it too.
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
  return mounts.filter((mount) => mount.fleeting !== true || isThere(mount.at));
}

/** Right below the root by the list of names: to look at a file system there waits for its server. */
function isThere(path: string): boolean {
  return dirname(path) === '/' ? readdirSync('/').includes(basename(path)) : existsSync(path);
}

/** Mounts in the order in which they are made. */
export function sorted(mounts: readonly Mount[]): readonly Mount[] {
  return [...mounts].sort(byDepth);
}

/** The order in which a folder comes before what is in it. */
export function byDepth(a: { readonly at: string }, b: { readonly at: string }): number {
  return depth(a.at) - depth(b.at);
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
