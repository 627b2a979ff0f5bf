/** The isolation backends that this machine may have, in the order in which they are tried. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError } from '../../errors.ts';
import type { Isolation } from '../../types.ts';
import { findHelper, HELPER_FOLDERS, runHelper } from '../exec/host-program.ts';
import type { Identity } from '../exec/shell-line.ts';
import type { SandboxOptions } from '../sandbox.ts';
import type { BackendOptions, IsolationBackend } from './backend.ts';
import { type ByRoot, bwrapProbe, createBwrapBackend } from './bwrap.ts';
import { describeBrokenSandbox, describeMissingSandbox, findPrivilege, isContainer } from './host.ts';
import { filteredByPerl, systemCallFilter } from './system-calls.ts';
import { startUnshareBackend, unshareProbe } from './unshare.ts';

/** A backend that may be tried. */
export interface Candidate {
  readonly isolation: Isolation;
  /**
   * A harmless command in new namespaces with the mounts that every backend of this kind needs. Its failure shows that it
   * cannot start; its success shows nothing more. It names nothing of this run, so that sudo may log it.
   */
  readonly probe: readonly string[];
  start(options: BackendOptions): Promise<IsolationBackend>;
}

/**
 * On Linux bubblewrap, bubblewrap made by root, util-linux's namespaces made by root; root is this process itself or a
 * sudo that asks for nothing. As root, commands run as the workspace's owner. Elsewhere none.
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
  const filter = (await kernelFilters()) ? systemCallFilter(process.arch) : null;
  const identity = await agentOf(workspace);
  const isSelf = identity.uid === process.getuid?.();
  const candidates: Candidate[] = [];
  const addBwrap = (program: string, isolation: Isolation, byRoot: ByRoot | null) =>
    candidates.push({
      isolation,
      probe: [...(byRoot?.privilege.prefix ?? []), program, ...bwrapProbe({ ...probed, byRoot })],
      start: async (options) => {
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
    const filtered = filter === null || perl == null ? [] : filteredByPerl(perl, process.arch);
    candidates.push({
      isolation: viaSudo ? 'sudo-unshare' : 'unshare',
      probe: [...privilege.prefix, unshare, ...unshareProbe(probed)],
      start: (options) => startUnshareBackend({ ...options, unshare, nsenter, byRoot, filtered }),
    });
  }
  return candidates;
}

/** Whether the kernel takes filters of system calls (seccomp(2)). */
async function kernelFilters(): Promise<boolean> {
  const actions = await readFile('/proc/sys/kernel/seccomp/actions_avail', 'utf8').catch(() => '');
  return actions.split(/\s/u).includes('errno');
}

/** Who runs the commands. Never more rights than the workspace's owner has: who else made these files may be anybody. */
export async function agentOf(workspace: string): Promise<Identity> {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  if (own.uid !== 0) return own;
  const { uid, gid } = await stat(workspace);
  return { uid, gid };
}

const MAX_COMPLAINT = 1_000;

/** What this machine has for a sandbox. */
export interface DetectedBackends {
  readonly shell: string;
  /** In the order in which they are tried; none with `off`. */
  readonly candidates: readonly Candidate[];
  /**
   * Resolves once one of them was seen to start; at once with `auto` and `off`. Handled: nobody need await it.
   * @throws SandboxError as `requireStart` does.
   */
  readonly started: Promise<void>;
}

/** Looks for the isolation backends of this machine, and tries them; needs nothing of what a run finds out later. */
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
 * Resolves with the first candidate that starts, some milliseconds after it was called. The self-test tries the sandbox itself.
 * @throws SandboxError with what is wrong with each, or that there is none to try.
 */
async function requireStart(
  candidates: readonly Candidate[],
  platform: NodeJS.Platform,
  signal: AbortSignal,
): Promise<void> {
  if (candidates.length === 0) throw new SandboxError(describeMissingSandbox(platform, await isContainer()));
  const problems: string[] = [];
  for (const { isolation, probe } of candidates) {
    // Twice: a mount of this machine may go away while the new root is made of all of them.
    const complaint = (await complaintOf(probe, signal)) === null ? null : await complaintOf(probe, signal);
    if (complaint === null) return;
    problems.push(`${isolation}: The sandbox did not come up: ${complaint || 'no reason was given'}`);
  }
  throw new SandboxError(describeBrokenSandbox(problems.join('; '), await isContainer()));
}

/** What a probe said when it failed; null where it did not, or could not be waited for. */
async function complaintOf(
  [file = '', ...args]: Candidate['probe'],
  signal: AbortSignal,
): Promise<string | null> {
  const ended = await runHelper(file, args, { signal }).catch((error: Error) => ({
    exitCode: 127,
    stderr: error.message,
  }));
  if (ended === null || ended.exitCode === 0 || ended.exitCode === null) return null;
  return ended.stderr.trim().slice(0, MAX_COMPLAINT);
}
