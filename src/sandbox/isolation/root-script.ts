/** The mounts of a run as a script for util-linux, run as root in a mount namespace of its own. */

import { KERNEL_FOLDERS } from '../../files/names.ts';
import { quote } from '../exec/shell-line.ts';
import { type Mount, sorted } from './backend.ts';

/** What the script is made from. */
export interface RootScript {
  readonly mounts: readonly Mount[];
  /** An empty folder that nobody else can reach: the new root is built there. */
  readonly root: string;
  /** Where this machine has file systems mounted, as `/proc/self/mountinfo` tells. */
  readonly mountPoints: readonly MountPoint[];
  readonly shellNetwork: boolean;
  /** The name of a file in its /dev, by which a command knows that it is here. */
  readonly mark: string;
}

/** A file system of this machine. */
export interface MountPoint {
  readonly at: string;
  readonly options: readonly string[];
}

/** Kept when a mount is made read-only; without them a remount would take them away. */
const KEPT = ['nosuid', 'nodev', 'noexec'];

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/** Reads `/proc/self/mountinfo` (proc(5)); of several mounts at one place the last one is what is seen. */
export function readMountPoints(text: string): readonly MountPoint[] {
  const points = new Map<string, MountPoint>();
  for (const line of text.split('\n')) {
    const [, , , , at, options] = line.split(' ');
    if (at === undefined || options === undefined) continue;
    const path = at.replace(/\\([0-7]{3})/gu, (_, code) => String.fromCharCode(Number.parseInt(code, 8)));
    // A later mount on a folder hides what was mounted below it before.
    for (const known of points.keys()) if (known.startsWith(`${path}/`)) points.delete(known);
    points.delete(path);
    points.set(path, { at: path, options: options.split(',') });
  }
  return [...points.values()];
}

/**
 * Builds the root, enters it, says `up`, and stays until its input ends. Every step that fails ends it: a root that is
 * not whole is no wall.
 */
export function rootScript({ mounts, root, mountPoints, shellNetwork, mark }: RootScript): string {
  const at = (path: string) => quote(path === '/' ? root : `${root}${path}`);
  const planned = sorted(mounts);
  const empties = planned.filter(({ kind }) => kind === 'empty');
  const hidden = empties.map((mount) => mount.at);
  const isSeen = (path: string) =>
    ![...KERNEL_FOLDERS, ...hidden].some((folder) => path === folder || path.startsWith(`${folder}/`));
  const others = mountPoints
    .filter((point) => point.at !== '/' && isSeen(point.at))
    .sort((a, b) => depth(a.at) - depth(b.at));
  const rootOptions = mountPoints.find((point) => point.at === '/')?.options ?? [];
  return [
    'set -eu',
    'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    // In the eyes of the machine's own /proc: what this process is called outside.
    'read -r self rest < /proc/self/stat',
    'empty() { mkdir -p "$1"; mount -t tmpfs -o nosuid,nodev,mode=0755 none "$1"; }',
    'place() { if [ -d "$1" ]; then mkdir -p "$2"; elif [ ! -e "$2" ]; then mkdir -p "$(dirname "$2")"; : > "$2"; fi; }',
    `readonly_bind() { place "$1" "$2"; mount --bind "$1" "$2"; mount -o "remount,bind,ro,nosuid$3" "$2"; }`,
    'writable_bind() { place "$1" "$2"; mount --rbind "$1" "$2"; mount -o remount,bind,rw,nosuid,nodev "$2"; }',
    // What goes by takes the mount over it along: once more where it is back, and done where it stays away.
    'cover() { n=0; while [ -e "$2" ]; do if mount --bind "$1" "$2" && mount -o remount,bind,ro,nosuid,nodev "$2"; then return 0; fi; n=$((n + 1)); [ $n -lt 50 ] || return 1; done 2>/dev/null; }',
    `readonly_bind / ${quote(root)} ${quote(kept(rootOptions))}`,
    // What cannot be bound (a mount of another user's, an automount) is left out; the folder below it is read-only.
    ...others.map(
      (point) =>
        `[ ! -e ${quote(point.at)} ] || readonly_bind ${quote(point.at)} ${at(point.at)} ${quote(kept(point.options))}`,
    ),
    `readonly_bind /sys ${at('/sys')} ,nodev,noexec`,
    // Of the run's own namespace; each command covers it with one of its own.
    `mount -t proc -o nosuid,nodev,noexec none ${at('/proc')}`,
    ...deviceLines(at),
    ...planned.flatMap((mount) => [mountLine(mount, at), ...inner(mount, mountPoints, at)]),
    // Only now: the mounts inside needed their mount points made.
    ...empties
      .filter((mount) => mount.fleeting !== true)
      .map((mount) => `mount -o remount,ro,nosuid,nodev ${at(mount.at)}`),
    ...(shellNetwork ? [] : ['ip link set lo up 2>/dev/null || true']),
    `cd ${quote(root)}`,
    `: > dev/${mark}`,
    'mkdir dev/.old',
    'pivot_root . dev/.old',
    'cd /',
    'umount -l /dev/.old',
    'rmdir /dev/.old',
    'mount -o remount,ro,nosuid,noexec /dev',
    'echo "up $self"',
    // The wall stands as long as its maker: the end of its input is the end of this namespace and all in it.
    'read -r line || :',
  ].join('\n');
}

function deviceLines(at: (path: string) => string): readonly string[] {
  return [
    `mount -t tmpfs -o nosuid,noexec,mode=0755,size=1m none ${at('/dev')}`,
    ...DEVICES.map((name) => `: > ${at(`/dev/${name}`)}; mount --bind /dev/${name} ${at(`/dev/${name}`)}`),
    `mkdir ${at('/dev/pts')} ${at('/dev/shm')}`,
    `mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,nosuid,noexec none ${at('/dev/pts')}`,
    `mount -t tmpfs -o nosuid,nodev,noexec,mode=1777 none ${at('/dev/shm')}`,
    `ln -s pts/ptmx ${at('/dev/ptmx')}`,
    `ln -s /proc/self/fd ${at('/dev/fd')}`,
    ...['stdin', 'stdout', 'stderr'].map((name, n) => `ln -s /proc/self/fd/${n} ${at(`/dev/${name}`)}`),
  ];
}

function mountLine(mount: Mount, at: (path: string) => string): string {
  switch (mount.kind) {
    case 'empty':
      return mount.fleeting === true
        ? `[ ! -d ${at(mount.at)} ] || { empty ${at(mount.at)}; mount -o remount,ro,nosuid,nodev ${at(mount.at)}; }`
        : `empty ${at(mount.at)}`;
    case 'read-only':
      return mount.fleeting === true
        ? `cover ${quote(mount.from)} ${at(mount.at)}`
        : `readonly_bind ${quote(mount.from)} ${at(mount.at)} ,nodev`;
    case 'read-write':
      return `writable_bind ${quote(mount.from)} ${at(mount.at)}`;
  }
}

/** What is mounted inside a folder that is shown read-only: to bind it with the rest would leave it writable. */
function inner(mount: Mount, points: readonly MountPoint[], at: (path: string) => string): readonly string[] {
  if (mount.kind !== 'read-only') return [];
  return points
    .filter((point) => point.at.startsWith(`${mount.from}/`))
    .sort((a, b) => depth(a.at) - depth(b.at))
    .map((point) => {
      const there = at(`${mount.at}${point.at.slice(mount.from.length)}`);
      return `[ ! -e ${quote(point.at)} ] || readonly_bind ${quote(point.at)} ${there} ${quote(kept(point.options))}`;
    });
}

function kept(options: readonly string[]): string {
  return KEPT.filter((option) => options.includes(option) && option !== 'nosuid')
    .map((option) => `,${option}`)
    .join('');
}

function depth(path: string): number {
  return path.split('/').filter(Boolean).length;
}
