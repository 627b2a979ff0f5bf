/**
 * Mounts an overlay over the checkout: commands see the files of the checkout, and what they write goes to a folder of
 * the run. The mount exists in a mount namespace of its own, which a holder keeps alive; nothing is mounted on the
 * machine itself, and nothing stays when the holder ends.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { SandboxError } from '../../errors.ts';
import { WAIT } from '../../text/limits.ts';
import { startHolder } from '../exec/holder.ts';
import { runProgram } from '../exec/host-program.ts';
import { type Identity, quote } from '../exec/shell-line.ts';
import { readMountInfo } from '../isolation/host.ts';
import { isInside } from './path-policy.ts';

/** How mounts are made on this machine; programs as absolute paths. */
export interface Mounter {
  readonly unshare: string;
  readonly nsenter: string;
  readonly setpriv: string;
  /** The words with which root starts a program; null if an ordinary user mounts in a user namespace. */
  readonly byRoot: readonly string[] | null;
  /** The user who runs the commands and owns what they write. */
  readonly identity: Identity;
}

export interface Overlay {
  /** The merged tree, as a path for this process, which is not in the namespace of the mount. */
  readonly tree: string;
  /** What commands changed in it, as a path for this process. */
  readonly upper: string;
  /** The words before a program that start it in the namespace of the mount, where the tree is at the given path. */
  readonly enter: readonly string[];
  /** The user who is root there, and whom a command must be again; null if users are the same as outside. */
  readonly mappedUser: Identity | null;
  /** Whether the changes are kept in memory rather than in the folder. */
  readonly inMemory: boolean;
  /** Whether the tree is still that of this mount. */
  isMounted(): boolean;
  /** Unmounts the tree. */
  close(): void;
}

interface OverlayOptions {
  /** A real path; never written to. */
  readonly checkout: string;
  /** The path of the merged tree in the namespace; created here as an empty folder. */
  readonly at: string;
  /** A folder for the changed files, created here. */
  readonly folder: string;
  readonly mounter: Mounter;
}

/** The most that the changes may hold in memory, for machines whose RUNNER_TEMP is itself an overlay. */
const MEMORY_SIZE = '25%';

/**
 * Mounts the overlay and checks that it works as one. Starts the mount before it returns: while a run is being loaded, a
 * step that waits for the event loop waits long.
 * @throws SandboxError with the reason why none can be mounted.
 */
export async function mountOverlay(options: OverlayOptions): Promise<Overlay> {
  const { checkout, at, folder, mounter } = options;
  // An overlay shows the folder below such a mount.
  const inner = readMountInfo(readFileSync('/proc/self/mountinfo', 'utf8')).find(
    (mount) => mount.at !== checkout && isInside(mount.at, checkout),
  );
  if (inner !== undefined) throw new SandboxError('another file system is mounted in the checkout');
  const trial = `.structured-agent-${randomBytes(8).toString('hex')}`;
  makeFolders(options, trial);
  const { byRoot } = mounter;
  const kinds = ['--mount', '--propagation', 'slave'];
  const own = byRoot === null ? ['--user', '--map-root-user', ...kinds] : kinds;
  const words = [...(byRoot ?? []), mounter.unshare, ...own, '--', '/bin/sh', '-s'];
  const holder = await startHolder(words, mountScript(options));
  const root = `/proc/${holder.pid}/root`;
  const tree = root + at;
  try {
    // The kernel makes it for its own use, closed, so that it could not be removed at the end of the run.
    chmodSync(`${root}${folder}/data/work/work`, 0o700);
    if (!worksAsOverlay(tree, checkout, trial))
      throw new SandboxError('an overlay here does not work as one');
  } catch (error) {
    holder.close();
    throw error;
  }
  const joined = byRoot === null ? ['--user', '--mount', '--preserve-credentials'] : ['--mount'];
  const { dev, ino } = lstatSync(tree);
  return {
    tree,
    upper: `${root}${folder}/data/upper`,
    enter: [mounter.nsenter, '--target', String(holder.pid), ...joined, '--'],
    mappedUser: byRoot === null ? mounter.identity : null,
    inMemory: statSync(`${root}${folder}/data`).dev !== statSync(join(folder, 'data')).dev,
    // After the holder has ended, another process may get its pid.
    isMounted() {
      const stats = lstatSync(tree, { throwIfNoEntry: false });
      return stats?.dev === dev && stats.ino === ino;
    },
    close: holder.close,
  };
}

/**
 * Makes the folders of the layers and the mount point.
 * @param trial the name of a folder in a layer between the checkout and the changes, to try out the overlay with.
 */
function makeFolders({ checkout, at, folder, mounter }: OverlayOptions, trial: string): void {
  for (const name of ['data/upper', 'data/work', `trial/${trial}`])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'trial', trial, 'file'), '');
  // Under a name without characters that have a meaning in mount options.
  symlinkSync(checkout, join(folder, 'lower'));
  // The root of the tree gets the owner and the mode of this folder.
  const upper = join(folder, 'data', 'upper');
  chmodSync(upper, statSync(checkout).mode & 0o7777);
  if (process.getuid?.() === 0) chownSync(upper, mounter.identity.uid, mounter.identity.gid);
  mkdirSync(at, { recursive: true, mode: 0o700 });
}

/**
 * Whether the overlay shows the checkout, keeps what is written out of it, and shows nothing of a folder that was
 * removed and made again, which needs extended attributes that some file systems lack.
 */
function worksAsOverlay(tree: string, checkout: string, trial: string): boolean {
  const folder = join(tree, trial);
  const names = (place: string) => readdirSync(place, 'latin1').sort().join('/');
  rmSync(join(folder, 'file'));
  rmdirSync(folder);
  mkdirSync(folder);
  const isEmpty = names(folder) === '';
  const isApart = !existsSync(join(checkout, trial));
  rmdirSync(folder);
  return isEmpty && isApart && names(tree) === names(checkout);
}

/**
 * Whether the checkout holds files that would be closed to this user in an overlay: in a user namespace of one user, files
 * of others can be neither changed nor removed; with sudo they could be copied into the layer, which this user could then
 * not remove. Takes a quarter of a second for 100,000 files in the cache; on a slow disk, the look is cut short.
 */
export async function holdsForeignFiles(
  checkout: string,
  { byRoot }: Mounter,
  signal: AbortSignal,
): Promise<boolean> {
  const [uid, gid] = [String(process.getuid?.() ?? 0), String(process.getgid?.() ?? 0)];
  if (byRoot !== null && uid === '0') return false;
  // Not `! -uid`: that is also true of a file that is gone when find looks at it, and git packs objects in the background.
  const othersThan = (option: string, id: string) => [option, `+${id}`, '-o', option, `-${id}`];
  const others = [...othersThan('-uid', uid), ...(byRoot === null ? ['-o', ...othersThan('-gid', gid)] : [])];
  const over = AbortSignal.any([signal, AbortSignal.timeout(WAIT.foreignFiles)]);
  try {
    const { stdout } = await runProgram(
      'find',
      [checkout, '-xdev', '(', ...others, ')', '-print', '-quit'],
      over,
    );
    return stdout !== '';
  } catch (error) {
    if (over.aborted) return false;
    throw error;
  }
}

/** Returns a script that mounts the overlay, prints `up` and stays until its stdin ends; it stops at a failed step. */
function mountScript({ at, folder, mounter }: OverlayOptions): string {
  const { byRoot, identity, setpriv } = mounter;
  const isUser = byRoot === null;
  // Attributes of the kind `trusted` are reserved for root.
  const features = isUser ? 'userxattr' : 'redirect_dir=off,metacopy=off,index=off';
  const layers = `lowerdir=trial:lower,upperdir=data/upper,workdir=data/work,${features}`;
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const stay = '/bin/sh -c \'echo "up $$"; read -r line\'';
  const overlay = `mount -t overlay -o ${layers} overlay ${quote(at)}`;
  const owner = `${identity.uid}:${identity.gid}`;
  const inMemory = [
    `mount -t tmpfs -o size=${MEMORY_SIZE},mode=0700 none data`,
    'mkdir data/upper data/work',
    'chmod --reference=lower/. data/upper',
    ...(isUser ? [] : [`chown ${owner} data data/upper`]),
    overlay,
  ];
  return [
    'set -eu',
    'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    `cd ${quote(folder)}`,
    // On an overlay, for example in a container, there can be no other: then the changes are kept in memory.
    `${overlay} 2>/dev/null || { ${inMemory.join(' && ')}; }`,
    // What the kernel made for its own use belongs to root, who is gone at the end of the run.
    ...(byRoot === null || byRoot.length === 0 ? [] : [`chown -R ${owner} data/work`]),
    isUser || uid === 0
      ? `exec ${stay}`
      : `exec ${quote(setpriv)} --reuid ${uid} --regid ${gid} --clear-groups --no-new-privs -- ${stay}`,
  ].join('\n');
}
