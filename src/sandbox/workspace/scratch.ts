/**
 * Provides the files in which the agent works: the checkout itself, an overlay over it, or a copy of it where no overlay
 * can be mounted. With the last two, the checkout is never written to.
 */
import { realpathSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InputError, messageOf, SandboxError, WorkspaceError } from '../../errors.ts';
import { findHelper, type ProgramResult, runHelper, runProgram } from '../exec/host-program.ts';
import type { Identity } from '../exec/shell-line.ts';
import type { WorkspaceAccess } from '../sandbox.ts';
import { holdsForeignFiles, type Mounter, mountOverlay, type Overlay } from './overlay.ts';

/** The files in which the agent works. */
export interface Layer {
  readonly kind: 'checkout' | 'overlay' | 'copy';
  /** Their folder, as a path for this process. */
  readonly tree: string;
  /** Their folder, as a path in the mount namespace in which a backend starts. Real. */
  readonly source: string;
  /** The words that start a program in that namespace; empty if it is that of this process. */
  readonly enter: readonly string[];
  /** The user who is root in that namespace, and whom a command must be again; null if users are the same there. */
  readonly mappedUser: Identity | null;
  /** What commands changed, as a path for this process; null if it is not kept apart. */
  readonly upper: string | null;
  /** Whether what commands change is kept in memory. */
  readonly inMemory: boolean;
  /** Whether the files are still there: the mount of an overlay ends with the process that holds it. */
  isMounted(): boolean;
  /** Resolves once all files are there, with what could not be copied because it could not be read; null if nothing. */
  filled(): Promise<string | null>;
}

/** The layers of a run; at most one is used. */
export interface Layers {
  /**
   * The checkout, or an overlay over it; null if none can be used in this way.
   * @param isQuick whether to resolve before the checkout has been searched for files of other users, if a copy is sure to
   *   fit in case there are any.
   */
  mounted(mounter: Mounter | null, isQuick?: boolean): Promise<Layer | null>;
  /**
   * The copy; resolves once it is known to fit, before anything is copied.
   * @throws InputError if it is too large for the disk, WorkspaceError if its size cannot be determined.
   */
  copied(): Promise<Layer>;
  /** Why no overlay was mounted, in the words of the system. */
  reasons(): readonly string[];
  /** Unmounts the overlays and stops copying. */
  close(): Promise<void>;
}

interface Mounted {
  readonly overlay: Promise<Overlay>;
  /** Whether the checkout holds files that could not be changed in the overlay. */
  readonly foreign: Promise<boolean>;
}

export interface LayerOptions {
  /** A real path. */
  readonly workspace: string;
  readonly access: WorkspaceAccess;
  readonly runFolder: string;
  /** Whether the copy needs the top-level `.git`; a sandbox mounts that of the checkout. */
  readonly withGit: boolean;
}

/** The folder of the copy or the overlay, in the folder of the run. */
export const SCRATCH_FOLDER = 'scratch/workspace';

/** If a copy fails with less free disk space than this, in bytes, the cause is a full disk. */
const FULL_DISK_BYTES = 4 * 1024 ** 2;
/** Disk space in bytes that a copy leaves for the commands and the results of the run. */
const RESERVED_BYTES = 256 * 1024 ** 2;

export function createLayers({ workspace, access, runFolder, withGit }: LayerOptions): Layers {
  const closing = new AbortController();
  const { signal } = closing;
  const overlays = new Map<Mounter, Mounted>();
  const reasons = new Set<string>();
  const checkout: Layer = {
    kind: 'checkout',
    tree: workspace,
    source: workspace,
    enter: [],
    mappedUser: null,
    upper: null,
    inMemory: false,
    isMounted: () => true,
    filled: async () => null,
  };
  const place = () => join(realpathSync(runFolder), SCRATCH_FOLDER);
  const mount = (mounter: Mounter): Mounted => {
    const folder = join(realpathSync(runFolder), `layer-${overlays.size}`);
    const overlay = mountOverlay({ checkout: workspace, at: place(), folder, mounter });
    const foreign = holdsForeignFiles(workspace, mounter, signal);
    foreign.catch(() => undefined);
    return { overlay, foreign };
  };
  let copying: Promise<string | null> | null = null;
  const makeCopy = async (): Promise<Layer> => {
    const source = place();
    const names = await namesOf(workspace, withGit);
    await mkdir(dirname(source), { recursive: true, mode: 0o700 });
    await refuseLarge(names, dirname(source), signal);
    const filled = () => {
      copying ??= copyInto(source, workspace, names, signal);
      return copying;
    };
    return { ...checkout, kind: 'copy', tree: source, source, filled };
  };
  let copy: Promise<Layer> | null = null;
  return {
    async mounted(mounter, isQuick = false) {
      if (access !== 'scratch') return checkout;
      signal.throwIfAborted();
      try {
        if (mounter === null)
          throw new SandboxError('unshare, nsenter and setpriv of util-linux are not installed');
        const mounting = overlays.get(mounter) ?? mount(mounter);
        overlays.set(mounter, mounting);
        const overlay = await mounting.overlay;
        if (!(isQuick && (await isSureToFit(workspace, runFolder))) && (await mounting.foreign))
          throw new SandboxError('the checkout holds files of another user or group');
        return { ...checkout, ...overlay, kind: 'overlay', source: place() };
      } catch (error) {
        reasons.add(messageOf(error));
        return null;
      }
    },
    copied() {
      copy ??= makeCopy();
      return copy;
    },
    reasons: () => [...reasons],
    async close() {
      closing.abort(new Error('The sandbox was closed.'));
      const mounted = [...overlays.values()];
      const unmounted = mounted.map(({ overlay }) => overlay.then(({ close }) => close()));
      await Promise.allSettled([...unmounted, ...mounted.map(({ foreign }) => foreign), copying]);
    },
  };
}

/**
 * Returns the paths of what is copied, each followed by a NUL. As bytes: a commit may contain names that are not UTF-8,
 * and a copy without them would be judged in place of the checkout.
 */
async function namesOf(workspace: string, withGit: boolean): Promise<Buffer> {
  const names = await readdir(workspace, 'buffer');
  const isCopied = (name: Buffer) => withGit || !name.equals(Buffer.from('.git'));
  const parts = names.filter(isCopied).flatMap((name) => [Buffer.from(`${workspace}/`), name, Buffer.of(0)]);
  return Buffer.concat(parts);
}

/** Whether the disk of the folder has room for everything that is on the disk of the workspace. */
async function isSureToFit(workspace: string, folder: string): Promise<boolean> {
  const [from, into] = await Promise.all([statfs(workspace), statfs(folder)]);
  return (from.blocks - from.bfree) * from.bsize + RESERVED_BYTES <= into.bavail * into.bsize;
}

/** @throws InputError if the paths need more space than the disk of the folder has. */
async function refuseLarge(paths: Buffer, folder: string, signal: AbortSignal): Promise<void> {
  const { stdout } = await runForEach('du -skc -- "$@" | tail -n 1', [], paths, signal);
  const sizes = [...stdout.matchAll(/^(\d+)\s/gmu)].map((match) => Number(match[1]) * 1024);
  if (sizes.length === 0 && paths.length > 0)
    throw new WorkspaceError('The size of the workspace could not be determined, so it was not copied.');
  const needed = sizes.reduce((sum, size) => sum + size, 0);
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (needed + RESERVED_BYTES <= free) return;
  throw new InputError(
    null,
    `The workspace holds ${gibibytes(needed)}, and the disk of RUNNER_TEMP has ${gibibytes(free)} left: too little for a scratch copy, which this machine needs because it cannot mount an overlay. Free some space, or check out less.`,
  );
}

function gibibytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

/**
 * Copies with the system's `cp`, which clones blocks where the file system supports it (reflinks) and preserves times,
 * modes and links.
 * @param paths each followed by a NUL.
 * @returns what could not be read; null if the copy is complete.
 * @throws WorkspaceError if the disk is full.
 */
async function copyInto(
  into: string,
  workspace: string,
  paths: Buffer,
  signal: AbortSignal,
): Promise<string | null> {
  const top = await stat(workspace);
  // It exists where an overlay was to be mounted.
  await mkdir(into, { recursive: true });
  await chmod(into, top.mode & 0o777);
  // Root copies on behalf of another user, who must be able to write here.
  if (process.getuid?.() === 0) await chown(into, top.uid, top.gid);
  const cp = await findHelper(['cp']);
  const clone =
    cp !== null && (await runHelper(cp, ['--reflink=auto', '--version'], { signal }))?.exitCode === 0;
  const options = clone ? '-a --reflink=auto' : '-a';
  const copy = `into=$1; shift; exec cp ${options} -- "$@" "$into"`;
  const { exitCode, stderr } = await runForEach(copy, [into], paths, signal);
  if (exitCode === 0) return null;
  const { bavail, bsize } = await statfs(into);
  if (bavail * bsize < FULL_DISK_BYTES) {
    // The run still has to write its result to this disk.
    await runProgram('rm', ['-rf', '--', into], signal);
    throw new WorkspaceError(
      'The disk of RUNNER_TEMP is full: the scratch copy of the workspace does not fit. Free some space, or check out less.',
    );
  }
  return stderr.split('\n')[0] ?? '';
}

/**
 * Runs a line of shell with some arguments followed by paths, as many at a time as fit in a command line.
 * @param paths each followed by a NUL. Passed on stdin of `xargs`, because Node.js program arguments must be UTF-8.
 */
async function runForEach(
  line: string,
  args: readonly string[],
  paths: Buffer,
  signal: AbortSignal,
): Promise<ProgramResult> {
  // Without any path, xargs would still run the line once.
  if (paths.length === 0) return { exitCode: 0, stdout: '', stderr: '' };
  try {
    return await runProgram('xargs', ['-0', 'sh', '-c', line, 'sh', ...args], signal, paths);
  } catch (cause) {
    signal.throwIfAborted();
    throw new WorkspaceError(`The workspace could not be copied: ${messageOf(cause)}.`, { cause });
  }
}
