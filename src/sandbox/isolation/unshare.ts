/**
 * The util-linux backend, for machines without bubblewrap: one mount, PID, IPC, UTS and network namespace for the run,
 * created once as root, and in it a PID and mount namespace for each command, which runs as the ordinary user.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, SandboxError } from '../../errors.ts';
import { KERNEL_FOLDERS } from '../../files/names.ts';
import { type Holder, startHolder } from '../exec/holder.ts';
import { dropPrivileges, quote } from '../exec/shell-line.ts';
import { type BackendOptions, byDepth, type IsolationBackend, type Mount, sorted } from './backend.ts';
import type { ByRoot } from './bwrap.ts';
import { killAll, type MountedPart, readMountInfo } from './host.ts';

/** Options of the util-linux backend; programs as absolute paths. */
interface UnshareOptions extends BackendOptions {
  readonly unshare: string;
  readonly nsenter: string;
  readonly byRoot: ByRoot;
  /** Words that start a program with the system call filter; empty if there is none. */
  readonly filtered: readonly string[];
}

/**
 * Creates the namespace of the run.
 * @throws SandboxError if it cannot be created.
 */
export async function startUnshareBackend(options: UnshareOptions): Promise<IsolationBackend> {
  const { shellNetwork } = options;
  const { privilege } = options.byRoot;
  const root = join(options.runFolder, 'root');
  // It may exist from an earlier try; the mounts on it were removed with the namespace of that try.
  await mkdir(root, { recursive: true, mode: 0o700 });
  const mountPoints = readMountPoints(await readFile('/proc/self/mountinfo', 'utf8'));
  const mark = `sandbox-${randomBytes(8).toString('hex')}`;
  const script = rootScript({ mounts: options.mounts, root, mountPoints, shellNetwork, mark });
  const words = [
    ...privilege.prefix,
    ...options.layer.enter,
    options.unshare,
    ...namespaceArguments(shellNetwork),
  ];
  const holder = await startHolder([...words, '--', '/bin/sh', '-s'], script).catch((cause: unknown) => {
    throw new SandboxError(`The sandbox did not come up: ${messageOf(cause)}`, { cause });
  });
  return createUnshareBackend(options, holder, mark);
}

function namespaceArguments(shellNetwork: boolean): readonly string[] {
  return [
    ...['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--ipc', '--uts'],
    ...(shellNetwork ? [] : ['--net']),
  ];
}

/** Returns the arguments of a command that does nothing in such namespaces except mount a /proc. */
export function unshareProbe({ shell, shellNetwork }: Pick<UnshareOptions, 'shell' | 'shellNetwork'>) {
  return [...namespaceArguments(shellNetwork), '--mount-proc', '--', shell, '-c', ':'];
}

function createUnshareBackend(options: UnshareOptions, holder: Holder, mark: string): IsolationBackend {
  const { privilege } = options.byRoot;
  return {
    name: privilege.prefix.length === 0 ? 'unshare' : 'sudo-unshare',
    filtersCalls: options.filtered.length > 0,
    async launch(command) {
      const [file = '', ...args] = [...privilege.prefix, '/bin/sh', '-s'];
      return {
        file,
        args,
        cwd: '/',
        environment: {},
        // Passed by stdin rather than arguments, which sudo writes to the system log.
        instructions: { text: enterScript(options, holder.pid, mark, command), channel: 'standard' },
      };
    },
    hasRun: (status) => /^in$/mu.test(status),
    // Before that, the chain of processes that enters the namespace is still being created.
    canSweep: (status) => /^in$/mu.test(status),
    async sweep({ pid, ended }, status) {
      // The child ends last: its namespace ends with the first process in it.
      if (ended) return;
      const entered = /^at (\d+)$/mu.exec(status)?.[1];
      const all = entered === undefined ? [] : await findUpToInit(Number(entered));
      if (entered !== undefined) all.push(Number(entered));
      if (pid !== undefined) all.push(pid);
      await killAll(all, privilege);
    },
    close: async () => holder.close(),
  };
}

/**
 * Returns the script with which a command enters the sandbox. The command's output goes to that of the first process;
 * the output of this script goes to the status channel.
 * @param target the pid of the process that holds the namespace of the run.
 * @param mark the unique name of a file in its /dev.
 */
function enterScript(options: UnshareOptions, target: number, mark: string, command: string): string {
  const { byRoot, shellNetwork } = options;
  const inside = [
    // If the holder has died, its pid may have been reused by another process on this machine.
    `[ -e /dev/${mark} ] || exit 125`,
    // Root can write core_pattern, sysrq-trigger, irq and the like without any capability.
    ...(byRoot.identity.uid === 0 ? ['mount -o remount,bind,ro /proc || exit 125'] : []),
    // Lists the keys of this machine, which no namespace isolates.
    `[ ! -e /proc/keys ] || mount --bind /dev/${mark} /proc/keys || exit 125`,
    'echo in >&3',
    // Without exec: the first process of a namespace ignores signals, and the parent-death signal does not survive a
    // change of user.
    '"$@" 3>&-',
    'exit $?',
  ];
  const words = [
    options.nsenter,
    ...['--target', String(target), '--mount', '--pid', '--ipc', '--uts'],
    ...(shellNetwork ? [] : ['--net']),
    '--',
    options.unshare,
    ...['--mount', '--pid', '--ipc', '--cgroup', '--fork', '--kill-child', '--mount-proc'],
    ...['--', '/bin/sh', '-c', inside.join('\n'), 'sh'],
    ...dropPrivileges({ ...options, ...byRoot }, command, options.filtered),
  ];
  return `exec 3>&2 2>&1\necho "at $$" >&3\nexec ${words.map(quote).join(' ')} </dev/null\n`;
}

/**
 * Returns the descendants of a process, as listed by the kernel (proc(5)), down to process 1 of a namespace: when it
 * dies, the kernel kills everything in the namespace, and it ends last. Its descendants, possibly thousands, are not
 * examined.
 * @param read returns the text of a file.
 */
export async function findUpToInit(
  pid: number,
  read: (path: string) => Promise<string> = (path) => readFile(path, 'utf8'),
): Promise<number[]> {
  const found: number[] = [];
  const queue = [pid];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const list = await read(`/proc/${next}/task/${next}/children`).catch(() => '');
    for (const child of list.split(' ').filter(Boolean).map(Number)) {
      found.push(child);
      const status = await read(`/proc/${child}/status`).catch(() => '');
      if (/^NSpid:[\t\d]*\t1$/mu.test(status)) return found;
      queue.push(child);
    }
  }
  return found;
}

interface RootScript {
  readonly mounts: readonly Mount[];
  /** An empty folder that no other user can reach; the new root is built there. */
  readonly root: string;
  /** The mount points of this machine, from `/proc/self/mountinfo`. */
  readonly mountPoints: readonly MountPoint[];
  readonly shellNetwork: boolean;
  /** The name of a file in the new /dev, by which a command recognizes this namespace. */
  readonly mark: string;
}

type MountPoint = Pick<MountedPart, 'at' | 'options'>;

/** Options that are kept when a mount is made read-only; otherwise a remount would remove them. */
const KEPT = ['nosuid', 'nodev', 'noexec'];

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/** Returns the mount points in `/proc/self/mountinfo`. Of several mounts at one path, the last one is visible. */
export function readMountPoints(text: string): readonly MountPoint[] {
  const top: Folder = new Map();
  const later = new Set<Folder>();
  const points: MountPoint[] = [];
  for (const { at, options } of readMountInfo(text).toReversed()) {
    let folder = top;
    let isHidden = false;
    for (const name of at.split('/')) {
      const inner: Folder = folder.get(name) ?? new Map();
      folder.set(name, inner);
      folder = inner;
      isHidden ||= later.has(folder);
    }
    later.add(folder);
    if (!isHidden) points.push({ at, options });
  }
  return points.reverse();
}

/** The folders in a folder, by name. */
interface Folder extends Map<string, Folder> {}

/**
 * Returns a script that builds the root, enters it, prints `up` and stays until its stdin ends. It stops at any failed
 * step, because an incomplete root does not isolate.
 */
export function rootScript({ mounts, root, mountPoints, shellNetwork, mark }: RootScript): string {
  const at = (path: string) => quote(path === '/' ? root : `${root}${path}`);
  const planned = sorted(mounts);
  const empties = planned.filter(({ kind }) => kind === 'empty');
  const hidden = empties.map((mount) => mount.at);
  const isSeen = (path: string) =>
    ![...KERNEL_FOLDERS, ...hidden].some((folder) => path === folder || path.startsWith(`${folder}/`));
  const others = mountPoints.filter((point) => point.at !== '/' && isSeen(point.at)).sort(byDepth);
  const rootOptions = mountPoints.find((point) => point.at === '/')?.options ?? [];
  return [
    'set -eu',
    'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    // Read from the host's /proc, so that it is the pid outside.
    'read -r self rest < /proc/self/stat',
    'empty() { mkdir -p "$1"; mount -t tmpfs -o nosuid,nodev,mode=0755 none "$1"; }',
    'place() { if [ -d "$1" ]; then mkdir -p "$2"; elif [ ! -e "$2" ]; then mkdir -p "$(dirname "$2")"; : > "$2"; fi; }',
    `readonly_bind() { place "$1" "$2"; mount --bind "$1" "$2" && mount -o "remount,bind,ro,nosuid$3" "$2"; }`,
    'writable_bind() { place "$1" "$2"; mount --rbind "$1" "$2"; mount -o remount,bind,rw,nosuid,nodev "$2"; }',
    // If a covered path is removed, its mount is removed too. Tries again if the path exists again, and stops if it
    // does not.
    'cover() { n=0; while [ -e "$2" ]; do if mount --bind "$1" "$2" && mount -o remount,bind,ro,nosuid,nodev "$2"; then return 0; fi; n=$((n + 1)); [ $n -lt 50 ] || return 1; done 2>/dev/null; }',
    // Other programs mount and unmount meanwhile: what is gone on either side has nothing to show.
    'submount() { [ ! -e "$1" ] || readonly_bind "$@" || [ ! -e "$1" ] || [ ! -e "$2" ]; }',
    `readonly_bind / ${quote(root)} ${quote(keptOptions(rootOptions))}`,
    // Mounts that cannot be bound (those of another user, automounts) are left out; the folder below them is read-only.
    ...others.map(
      (point) => `submount ${quote(point.at)} ${at(point.at)} ${quote(keptOptions(point.options))}`,
    ),
    `readonly_bind /sys ${at('/sys')} ,nodev,noexec`,
    // The /proc of the run's namespace; each command covers it with its own.
    `mount -t proc -o nosuid,nodev,noexec none ${at('/proc')}`,
    ...deviceLines(at),
    ...planned.flatMap((mount) => [mountLine(mount, at), ...inner(mount, mountPoints, at)]),
    // Last, because mount points inside them had to be created first.
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
    // The namespace and everything in it ends when the process that created it closes this stdin.
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
        ? `[ ! -d ${at(mount.at)} ] || { empty ${at(mount.at)} && mount -o remount,ro,nosuid,nodev ${at(mount.at)}; } || [ ! -d ${at(mount.at)} ]`
        : `empty ${at(mount.at)}`;
    case 'read-only':
      return mount.fleeting === true
        ? `cover ${quote(mount.from)} ${at(mount.at)}`
        : `readonly_bind ${quote(mount.from)} ${at(mount.at)} ,nodev`;
    case 'read-write':
      return `writable_bind ${quote(mount.from)} ${at(mount.at)}`;
  }
}

/** Returns the mounts inside a folder that is shown read-only; a recursive bind would leave them writable. */
function inner(mount: Mount, points: readonly MountPoint[], at: (path: string) => string): readonly string[] {
  if (mount.kind !== 'read-only') return [];
  return points
    .filter((point) => point.at.startsWith(`${mount.from}/`))
    .sort(byDepth)
    .map((point) => {
      const there = at(`${mount.at}${point.at.slice(mount.from.length)}`);
      return `submount ${quote(point.at)} ${there} ${quote(keptOptions(point.options))}`;
    });
}

function keptOptions(options: readonly string[]): string {
  return KEPT.filter((option) => options.includes(option) && option !== 'nosuid')
    .map((option) => `,${option}`)
    .join('');
}
