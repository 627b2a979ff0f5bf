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
  const isSelf = identity.uid === process.getuid?.();
  const candidates: Candidate[] = [];
  const addBwrap = (program: string, isolation: Isolation, byRoot: ByRoot | null) =>
    candidates.push({
      isolation,
      probe: [...(byRoot?.privilege.prefix ?? []), program, ...bwrapProbe({ ...probed, byRoot })],
      start: async (options) => {
        const filter = filters ? systemCallFilter(process.arch) : null;
        const file = filter === null ? null : join(options.runFolder, 'mounts', 'system-calls');
        if (filter !== null && file !== null) await writeFile(file, filter);
        return createBwrapBackend({ ...options, bwrap: program, byRoot, filter: file });
      },
    });
  if (bwrap != null && isSelf) addBwrap(bwrap, 'bwrap', null);
  const privilege = setpriv == null ? null : await findPrivilege(sudo ?? null);
  if (setpriv == null || privilege === null) return candidates;
  const byRoot: ByRoot = { privilege, setpriv, identity };
  const viaSudo = privilege.prefix.length > 0;
  if (bwrap != null && (viaSudo || !isSelf)) addBwrap(bwrap, viaSudo ? 'sudo-bwrap' : 'bwrap', byRoot);
  if (unshare != null && nsenter != null) {
    candidates.push({
      isolation: viaSudo ? 'sudo-unshare' : 'unshare',
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
  /**
   * Resolves once one of them is known to start; immediately in the modes `auto` and `off`. Rejections are handled, so
   * callers need not await it.
   * @throws SandboxError as `requireStart` does.
   */
  readonly started: Promise<void>;
}

/** Detects and probes the isolation backends of this machine; needs nothing that is determined later in a run. */
export async function detectBackends(
  options: Pick<
    SandboxOptions,
    'workspace' | 'mode' | 'shellNetwork' | 'kinds' | 'helperFolders' | 'platform'
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
  const started = mode === 'required' ? requireStart(candidates, platform, signal) : Promise.resolve();
  started.catch(() => undefined);
  return { shell, candidates, started };
}

/**
 * Resolves with the first candidate that starts, usually within milliseconds. The self-test checks the sandbox itself.
 * @throws SandboxError with the problem of each candidate, or because there is none to try.
 */
async function requireStart(
  candidates: readonly Candidate[],
  platform: NodeJS.Platform,
  signal: AbortSignal,
): Promise<void> {
  if (candidates.length === 0) throw new SandboxError(describeMissingSandbox(platform, await isContainer()));
  const problems: string[] = [];
  for (const { isolation, probe } of candidates) {
    // Twice, because a mount of the host may be removed while the new root is assembled from all of them.
    const complaint = (await complaintOf(probe, signal)) === null ? null : await complaintOf(probe, signal);
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
