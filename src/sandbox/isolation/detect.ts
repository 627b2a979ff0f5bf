/** Detects the isolation backends that this machine may support, in the order in which they are tried. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, SandboxError } from '../../errors.ts';
import { DISPLAY, WAIT } from '../../text/limits.ts';
import { race } from '../../text/wait.ts';
import type { Isolation } from '../../types.ts';
import { findHelper, HELPER_FOLDERS, runProgram } from '../exec/host-program.ts';
import type { Identity } from '../exec/shell-line.ts';
import type { SandboxOptions } from '../sandbox.ts';
import type { Mounter } from '../workspace/overlay.ts';
import { createLayers, type Layer, type Layers } from '../workspace/scratch.ts';
import type { BackendOptions, IsolationBackend } from './backend.ts';
import { type ByRoot, bwrapProbe, createBwrapBackend } from './bwrap.ts';
import { describeBrokenSandbox, describeMissingSandbox, findPrivilege, isContainer } from './host.ts';
import { filteredByPerl, systemCallFilter } from './system-calls.ts';
import { startUnshareBackend, unshareProbe } from './unshare.ts';

export interface Candidate {
  readonly isolation: Isolation;
  /**
   * A harmless command in new namespaces with the mounts that every backend of this kind needs. If it fails, the
   * backend cannot start; its success proves nothing more. It contains no data of this run, so that sudo may log it.
   */
  readonly probe: readonly string[];
  /** How an overlay is mounted for it; null if that cannot be done. */
  readonly mounter: Mounter | null;
  start(options: BackendOptions): Promise<IsolationBackend>;
}

/**
 * On Linux, returns bubblewrap, bubblewrap run by root and util-linux namespaces created by root, where root is this
 * process itself or sudo without a password. As root, commands run as the owner of the workspace. Returns none on other
 * systems.
 */
export async function findCandidates(
  workspace: string,
  folders: readonly string[],
  platform: NodeJS.Platform,
  probed: Pick<BackendOptions, 'shell' | 'shellNetwork'>,
): Promise<readonly Candidate[]> {
  if (platform !== 'linux') return [];
  const [bwrap, setpriv, unshare, nsenter, sudo, perl] = await Promise.all(
    ['bwrap', 'setpriv', 'unshare', 'nsenter', 'sudo', 'perl'].map((name) => findHelper([name], folders)),
  );
  const filters = await kernelFilters();
  const identity = await agentOf(workspace);
  const own = process.getuid?.();
  const isSelf = identity.uid === own;
  const mounterBy = (byRoot: Mounter['byRoot']): Mounter | null =>
    unshare == null || nsenter == null || setpriv == null
      ? null
      : { unshare, nsenter, setpriv, byRoot, identity };
  const ownMounter = mounterBy(own === 0 ? [] : null);
  const candidates: Candidate[] = [];
  const addBwrap = (program: string, isolation: Isolation, byRoot: ByRoot | null, mounter: Mounter | null) =>
    candidates.push({
      isolation,
      mounter,
      probe: [...(byRoot?.privilege.prefix ?? []), program, ...bwrapProbe({ ...probed, byRoot })],
      start: async (options) => {
        const filter = filters ? systemCallFilter(process.arch) : null;
        const file = filter === null ? null : join(options.runFolder, 'mounts', 'system-calls');
        if (filter !== null && file !== null) await writeFile(file, filter);
        return createBwrapBackend({ ...options, bwrap: program, byRoot, filter: file });
      },
    });
  if (bwrap != null && isSelf) addBwrap(bwrap, 'bwrap', null, ownMounter);
  const privilege = setpriv == null ? null : await findPrivilege(sudo ?? null);
  if (setpriv == null || privilege === null) return candidates;
  const byRoot: ByRoot = { privilege, setpriv, identity };
  const viaSudo = privilege.prefix.length > 0;
  const mounter = viaSudo ? mounterBy(privilege.prefix) : ownMounter;
  if (bwrap != null && (viaSudo || !isSelf))
    addBwrap(bwrap, viaSudo ? 'sudo-bwrap' : 'bwrap', byRoot, mounter);
  if (unshare != null && nsenter != null) {
    candidates.push({
      isolation: viaSudo ? 'sudo-unshare' : 'unshare',
      mounter,
      probe: [...privilege.prefix, unshare, ...unshareProbe(probed)],
      start: (options) => {
        const filtered = filters && perl != null ? filteredByPerl(perl, process.arch) : [];
        return startUnshareBackend({ ...options, unshare, nsenter, byRoot, filtered });
      },
    });
  }
  return candidates;
}

/** Whether the kernel supports system call filters (seccomp(2)). */
async function kernelFilters(): Promise<boolean> {
  const actions = await readFile('/proc/sys/kernel/seccomp/actions_avail', 'utf8').catch(() => '');
  return actions.split(/\s/u).includes('errno');
}

/**
 * Returns the user that runs the commands. As root, this is the owner of the workspace, whose files may come from
 * anyone: commands never get more rights than that owner has.
 */
export async function agentOf(workspace: string): Promise<Identity> {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  if (own.uid !== 0) return own;
  const { uid, gid } = await stat(workspace);
  return { uid, gid };
}

export interface DetectedBackends {
  readonly shell: string;
  /** In the order in which they are tried; empty in mode `off`. */
  readonly candidates: readonly Candidate[];
  /** The files in which the agent works; the caller must close them. */
  readonly layers: Layers;
  /**
   * Resolves once one of the backends is known to start, and an overlay is mounted or a copy known to fit; in mode
   * `auto`, immediately, because `openSandbox` waits for a backend there. Rejections are handled, so callers need not await it.
   * @throws SandboxError as `requireStart` does; InputError if the workspace can be neither covered nor copied.
   */
  readonly started: Promise<void>;
}

/** Detects and probes the isolation backends of this machine; needs nothing that is determined later in a run. */
export async function detectBackends(
  options: Pick<
    SandboxOptions,
    'workspace' | 'mode' | 'access' | 'runFolder' | 'shellNetwork' | 'kinds' | 'helperFolders' | 'platform'
  >,
  signal: AbortSignal,
): Promise<DetectedBackends> {
  const { mode, shellNetwork, kinds, helperFolders = HELPER_FOLDERS, platform = process.platform } = options;
  const shell = (await findHelper(['bash', 'sh'])) ?? '/bin/sh';
  const found =
    mode === 'off'
      ? []
      : await findCandidates(options.workspace, helperFolders, platform, { shell, shellNetwork });
  const candidates = found.filter(({ isolation }) => kinds?.includes(isolation) ?? true);
  const layers = createLayers({ ...options, withGit: mode === 'off' });
  const started =
    mode === 'required'
      ? requireStart(candidates, layers, platform, signal)
      : mode === 'off' && options.access === 'scratch'
        ? layers.copied().then(() => undefined)
        : Promise.resolve();
  started.catch(() => undefined);
  return { shell, candidates, layers, started };
}

/** A backend to try, and the files over which it is started. */
export interface Attempt {
  readonly candidate: Candidate;
  readonly layer: Layer;
}

/**
 * Returns the candidates with their layers: in their order, but those for which no overlay can be mounted last, over
 * a copy.
 * @param isQuick see `Layers`.
 */
export async function* planAttempts(
  candidates: readonly Candidate[],
  layers: Layers,
  isQuick = false,
): AsyncGenerator<Attempt> {
  const left: Candidate[] = [];
  for (const candidate of candidates) {
    const layer = await layers.mounted(candidate.mounter, isQuick);
    if (layer === null) left.push(candidate);
    else yield { candidate, layer };
  }
  if (left.length === 0) return;
  const layer = await layers.copied();
  for (const candidate of left) yield { candidate, layer };
}

/**
 * Resolves with the first candidate that starts, usually within milliseconds. The self-test checks the sandbox itself.
 * @throws SandboxError with the problem of each candidate, or because there is none to try.
 */
async function requireStart(
  candidates: readonly Candidate[],
  layers: Layers,
  platform: NodeJS.Platform,
  signal: AbortSignal,
): Promise<void> {
  if (candidates.length === 0) throw new SandboxError(describeMissingSandbox(platform, await isContainer()));
  const problems: string[] = [];
  // The first is nearly always the one: its overlay is mounted while it is probed.
  const probed = complaintOf(candidates[0]?.probe ?? [], signal);
  for await (const { candidate } of planAttempts(candidates, layers, true)) {
    const { isolation, probe } = candidate;
    const first = await (candidate === candidates[0] ? probed : complaintOf(probe, signal));
    // Twice, because a mount of the host may be removed while the new root is assembled from all of them.
    const complaint = first === null ? null : await complaintOf(probe, signal);
    if (complaint === null) return;
    problems.push(`${isolation}: The sandbox did not come up: ${complaint || 'no reason was given'}`);
  }
  throw new SandboxError(describeBrokenSandbox(problems.join('; '), await isContainer()));
}

/** Returns the error output of a failed probe; null if it succeeded or did not end in time. */
async function complaintOf(
  [file = '', ...args]: Candidate['probe'],
  signal: AbortSignal,
): Promise<string | null> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(WAIT.helper)]);
  try {
    // What hangs in the kernel, or runs through sudo, cannot be killed, and is not awaited.
    const { exitCode, stderr } = await race(runProgram(file, args, over), over);
    return exitCode === 0 || exitCode === null ? null : stderr.trim().slice(0, DISPLAY.cell);
  } catch (error) {
    return over.aborted ? null : messageOf(error).slice(0, DISPLAY.cell);
  }
}
