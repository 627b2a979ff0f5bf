/** The kinds of wall that this machine may have, in the order in which they are tried. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Isolation } from '../../types.ts';
import { findHelper } from '../exec/host-program.ts';
import type { Identity } from '../exec/shell-line.ts';
import type { Mount, Wall } from './backend.ts';
import { type ByRoot, bwrapProbe, createBwrapWall } from './bwrap.ts';
import { findPrivilege, type Privilege } from './host.ts';
import { filteredByPerl, systemCallFilter } from './system-calls.ts';
import { raiseUnshareWall, unshareProbe } from './unshare.ts';

/** A wall that may be tried. */
export interface Candidate {
  readonly isolation: Isolation;
  /** A harmless command in new namespaces with the mounts that every wall of this kind needs. */
  readonly probe: Probe;
  raise(place: Place): Promise<Wall>;
}

/** A command whose failure shows that a wall of this kind cannot start; its success shows nothing more. */
export interface Probe {
  readonly file: string;
  readonly args: readonly string[];
}

/** What a probe must know of the walls that it stands for. */
export interface ProbePlace {
  readonly shell: string;
  readonly shellNetwork: boolean;
}

/** What a wall is put up around. */
export interface Place {
  readonly shell: string;
  readonly mounts: readonly Mount[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly shellNetwork: boolean;
  readonly runFolder: string;
}

/**
 * On Linux bubblewrap, bubblewrap made by root, util-linux's namespaces made by root; root is this process itself or a
 * sudo that asks for nothing. As root, commands run as the workspace's owner. Elsewhere none.
 */
export async function findCandidates(
  workspace: string,
  folders: readonly string[],
  platform: NodeJS.Platform,
  place: ProbePlace,
): Promise<readonly Candidate[]> {
  if (platform !== 'linux') return [];
  const helper = (name: string) => findHelper([name], folders);
  const [bwrap, setpriv, unshare, nsenter, sudo, perl] = await Promise.all(
    ['bwrap', 'setpriv', 'unshare', 'nsenter', 'sudo', 'perl'].map(helper),
  );
  const filter = (await kernelFilters()) ? systemCallFilter(process.arch) : null;
  const identity = await agentOf(workspace);
  const isSelf = identity.uid === process.getuid?.();
  const candidates: Candidate[] = [];
  if (bwrap != null && isSelf) {
    candidates.push({
      isolation: 'bwrap',
      probe: { file: bwrap, args: bwrapProbe({ ...place, byRoot: null }) },
      raise: async (around) =>
        createBwrapWall({ ...around, bwrap, byRoot: null, filter: await placeFilter(filter, around) }),
    });
  }
  const privilege = setpriv == null ? null : await findPrivilege(sudo ?? null);
  if (setpriv == null || privilege === null) return candidates;
  const byRoot: ByRoot = { privilege, setpriv, identity };
  const viaSudo = privilege.prefix.length > 0;
  if (bwrap != null && (viaSudo || !isSelf)) {
    candidates.push({
      isolation: viaSudo ? 'sudo-bwrap' : 'bwrap',
      probe: asRoot(privilege, [bwrap, ...bwrapProbe({ ...place, byRoot })]),
      raise: async (around) =>
        createBwrapWall({ ...around, bwrap, byRoot, filter: await placeFilter(filter, around) }),
    });
  }
  if (unshare != null && nsenter != null) {
    const filtered = filter === null || perl == null ? [] : filteredByPerl(perl, process.arch);
    candidates.push({
      isolation: viaSudo ? 'sudo-unshare' : 'unshare',
      probe: asRoot(privilege, [unshare, ...unshareProbe(place)]),
      raise: (around) => raiseUnshareWall({ ...around, helpers: { unshare, nsenter }, byRoot, filtered }),
    });
  }
  return candidates;
}

/** Whether the kernel takes filters of system calls (seccomp(2)). */
async function kernelFilters(): Promise<boolean> {
  const actions = await readFile('/proc/sys/kernel/seccomp/actions_avail', 'utf8').catch(() => '');
  return actions.split(/\s/u).includes('errno');
}

/** The file that bubblewrap reads the filter from. */
async function placeFilter(filter: Buffer | null, { runFolder }: Place): Promise<string | null> {
  if (filter === null) return null;
  const file = join(runFolder, 'walls', 'system-calls');
  await writeFile(file, filter);
  return file;
}

/** As arguments: they name nothing of this run, so that it does no harm that sudo logs them. */
function asRoot({ prefix }: Privilege, command: readonly string[]): Probe {
  const [file = '', ...args] = [...prefix, ...command];
  return { file, args };
}

/** Who runs the commands. Never more rights than the workspace's owner has: who else made these files may be anybody. */
export async function agentOf(workspace: string): Promise<Identity> {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  if (own.uid !== 0) return own;
  const { uid, gid } = await stat(workspace);
  return { uid, gid };
}
