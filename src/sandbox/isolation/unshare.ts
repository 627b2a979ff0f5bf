/**
 * The isolation backend of util-linux, for machines without bubblewrap: one mount, PID, IPC, UTS and network namespace for the run,
 * made once as root, and in it a PID and mount namespace for each command, which ends as the ordinary user.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxError } from '../../errors.ts';
import { KERNEL_FOLDERS } from '../../files/protected-names.ts';
import { dropPrivileges, quote } from '../exec/shell-line.ts';
import { type BackendOptions, byDepth, type IsolationBackend, type Mount, sorted } from './backend.ts';
import type { ByRoot } from './bwrap.ts';
import { killAll, type MountedPart, readMountInfo } from './host.ts';

/** What the sandbox is built from; the programs by their absolute paths. */
interface UnshareOptions extends BackendOptions {
  readonly unshare: string;
  readonly nsenter: string;
  readonly byRoot: ByRoot;
  /** Words that start a program with the filter of system calls; empty where there is none. */
  readonly filtered: readonly string[];
}

/** How a command finds the namespace of the run, and knows it. */
interface Holder {
  readonly target: number;
  /** A name in its /dev that nothing else has. */
  readonly mark: string;
}

const START_MS = 20_000;

/**
 * Makes the namespace of the run.
 * @throws SandboxError when it cannot be made.
 */
export async function startUnshareBackend(options: UnshareOptions): Promise<IsolationBackend> {
  const { shellNetwork } = options;
  const { privilege } = options.byRoot;
  const root = join(options.runFolder, 'root');
  // It may be there from a try before: what was mounted on it went away with that try's namespace.
  await mkdir(root, { recursive: true, mode: 0o700 });
  const mountPoints = readMountPoints(await readFile('/proc/self/mountinfo', 'utf8'));
  const mark = `sandbox-${randomBytes(8).toString('hex')}`;
  const script = rootScript({ mounts: options.mounts, root, mountPoints, shellNetwork, mark });
  const [file = '', ...args] = [
    ...privilege.prefix,
    options.unshare,
    ...namespaceArguments(shellNetwork),
    ...['--', '/bin/sh', '-s'],
  ];
  const holder = spawn(file, args, { cwd: '/', env: {}, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  return createUnshareBackend(options, holder, { target: await whenUp(holder, script), mark });
}

function namespaceArguments(shellNetwork: boolean): readonly string[] {
  return [
    ...['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--ipc', '--uts'],
    ...(shellNetwork ? [] : ['--net']),
  ];
}

/** The arguments of a command that does nothing in such namespaces but mount their own /proc. */
export function unshareProbe({ shell, shellNetwork }: Pick<UnshareOptions, 'shell' | 'shellNetwork'>) {
  return [...namespaceArguments(shellNetwork), '--mount-proc', '--', shell, '-c', ':'];
}

/** Gives the holder its script and waits for its word. The script goes on to read: its input stays open. */
function whenUp(holder: ChildProcess, script: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = '';
    let complaint = '';
    const fail = (why: string) => {
      holder.stdin?.destroy();
      reject(new SandboxError(`The sandbox did not come up: ${why.trim() || 'no reason was given'}`));
    };
    const timer = setTimeout(() => fail('its mounts took too long'), START_MS);
    holder.stdin?.on('error', () => undefined);
    holder.stdin?.write(`{\n${script}\n}; exit\n`);
    holder.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
      const pid = /^up (\d+)$/mu.exec(said)?.[1];
      if (pid === undefined) return;
      clearTimeout(timer);
      resolve(Number(pid));
    });
    holder.stderr?.on('data', (chunk: Buffer) => {
      if (complaint.length < 1_000) complaint += chunk.toString('latin1');
    });
    holder.once('error', (error) => fail(error.message));
    holder.once('exit', () => {
      clearTimeout(timer);
      fail(complaint);
    });
  });
}

function createUnshareBackend(
  options: UnshareOptions,
  holder: ChildProcess,
  place: Holder,
): IsolationBackend {
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
        // By the input, and not by arguments: sudo writes those into the system's log.
        instructions: { text: enterScript(options, place, command), channel: 'standard' },
      };
    },
    hasRun: (status) => /^in$/mu.test(status),
    // Before, its makers still make each other.
    canSweep: (status) => /^in$/mu.test(status),
    async sweep({ pid, ended }, status) {
      // It ends last: its namespace ends with the first process in it.
      if (ended) return;
      const entered = /^at (\d+)$/mu.exec(status)?.[1];
      const all = entered === undefined ? [] : await findUpToInit(Number(entered));
      if (entered !== undefined) all.push(Number(entered));
      if (pid !== undefined) all.push(pid);
      await killAll(all, privilege);
    },
    async close() {
      holder.stdin?.end();
      await Promise.race([new Promise((resolve) => holder.once('exit', resolve)), sleep(2_000)]);
    },
  };
}

/** A command's way in. Its output goes where the first process's does; what this script says goes to the status. */
function enterScript(options: UnshareOptions, { target, mark }: Holder, command: string): string {
  const { byRoot, shellNetwork } = options;
  const inside = [
    // The number of a maker that died may be another's by now, on this machine itself.
    `[ -e /dev/${mark} ] || exit 125`,
    // Root may write core_pattern, sysrq-trigger, irq and the like without any capability.
    ...(byRoot.identity.uid === 0 ? ['mount -o remount,bind,ro /proc || exit 125'] : []),
    // The keys of this machine are listed there, and no namespace holds them.
    `[ ! -e /proc/keys ] || mount --bind /dev/${mark} /proc/keys || exit 125`,
    'echo in >&3',
    // Not by exec: the first process of a namespace ignores signals, and the mark of a parent's death does not outlive
    // a change of user.
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
 * The processes below one, as the kernel lists them (proc(5)), down to process 1 of a namespace: with it the kernel kills
 * all that is in the namespace, and it ends last. Those below it, of which there may be thousands, are not looked at.
 * @param read gives the text of a file.
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

/** What the script is made from. */
interface RootScript {
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
type MountPoint = Pick<MountedPart, 'at' | 'options'>;

/** Kept when a mount is made read-only; without them a remount would take them away. */
const KEPT = ['nosuid', 'nodev', 'noexec'];

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/** Where this machine has file systems, by `/proc/self/mountinfo`; of several at one path the last one is what is seen. */
export function readMountPoints(text: string): readonly MountPoint[] {
  const points = new Map<string, MountPoint>();
  for (const { at, options } of readMountInfo(text)) {
    // A later mount on a folder hides what was mounted below it before.
    for (const known of points.keys()) if (known.startsWith(`${at}/`)) points.delete(known);
    points.delete(at);
    points.set(at, { at, options });
  }
  return [...points.values()];
}

/**
 * Builds the root, enters it, says `up`, and stays until its input ends. Every step that fails ends it: a root that is
 * not whole is no sandbox.
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
    // In the eyes of the machine's own /proc: what this process is called outside.
    'read -r self rest < /proc/self/stat',
    'empty() { mkdir -p "$1"; mount -t tmpfs -o nosuid,nodev,mode=0755 none "$1"; }',
    'place() { if [ -d "$1" ]; then mkdir -p "$2"; elif [ ! -e "$2" ]; then mkdir -p "$(dirname "$2")"; : > "$2"; fi; }',
    `readonly_bind() { place "$1" "$2"; mount --bind "$1" "$2"; mount -o "remount,bind,ro,nosuid$3" "$2"; }`,
    'writable_bind() { place "$1" "$2"; mount --rbind "$1" "$2"; mount -o remount,bind,rw,nosuid,nodev "$2"; }',
    // What goes by takes the mount over it along: once more where it is back, and done where it stays away.
    'cover() { n=0; while [ -e "$2" ]; do if mount --bind "$1" "$2" && mount -o remount,bind,ro,nosuid,nodev "$2"; then return 0; fi; n=$((n + 1)); [ $n -lt 50 ] || return 1; done 2>/dev/null; }',
    `readonly_bind / ${quote(root)} ${quote(keptOptions(rootOptions))}`,
    // What cannot be bound (a mount of another user's, an automount) is left out; the folder below it is read-only.
    ...others.map(
      (point) =>
        `[ ! -e ${quote(point.at)} ] || readonly_bind ${quote(point.at)} ${at(point.at)} ${quote(keptOptions(point.options))}`,
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
    // The sandbox lasts as long as its maker: the end of its input is the end of this namespace and all in it.
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
    .sort(byDepth)
    .map((point) => {
      const there = at(`${mount.at}${point.at.slice(mount.from.length)}`);
      return `[ ! -e ${quote(point.at)} ] || readonly_bind ${quote(point.at)} ${there} ${quote(keptOptions(point.options))}`;
    });
}

function keptOptions(options: readonly string[]): string {
  return KEPT.filter((option) => options.includes(option) && option !== 'nosuid')
    .map((option) => `,${option}`)
    .join('');
}
