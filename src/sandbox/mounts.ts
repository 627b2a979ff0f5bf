/** The mounts of a sandbox, in their order, for both backends. */
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GitPlan } from './git-config.ts';
import { isWithin, type RootEntry } from './system-root.ts';

/** What both backends build the root file system from. */
export interface RootPlan {
  /** The folder of the run, as `makeRunFolders` leaves it. */
  readonly run: string;
  readonly workspace: string;
  readonly home: string;
  readonly entries: readonly RootEntry[];
  readonly git: GitPlan;
  readonly shellNetwork: boolean;
}

/** Where commands see the context folder. */
export const CONTEXT = '/tmp/context';

/** Where the folders that commands write to lie on this machine. */
export interface Writable {
  readonly tmp: string;
  readonly home: string;
  readonly layer: string;
}

export type Mount =
  /** `pin` stands for a folder in a writable one, at its own place. */
  | { readonly kind: 'read-only' | 'read-write' | 'pin'; readonly from: string; readonly at: string }
  | { readonly kind: 'link'; readonly to: string; readonly at: string };

/** Returns all mounts, a folder before what lies in it, and then the links: no mount is made through one. */
export function listMounts(plan: RootPlan, { tmp, home, layer }: Writable): readonly Mount[] {
  const { run, workspace, git } = plan;
  const readOnly = (from: string, at: string): Mount => ({ kind: 'read-only', from, at });
  const readWrite = (from: string, at: string): Mount => ({ kind: 'read-write', from, at });
  const mounts: Mount[] = [
    readWrite(tmp, '/tmp'),
    readWrite(tmp, '/var/tmp'),
    readWrite(home, plan.home),
    readOnly(join(run, 'context'), CONTEXT),
    readWrite(layer, workspace),
    ...git.folders.map((path) => readOnly(join(layer, path), join(workspace, path))),
    ...git.outside.map((path) => readOnly(path, path)),
    ...[...git.outsideConfigs.keys()].map((path) => readOnly(join(run, 'git', 'outside', path), path)),
  ];
  for (const entry of plan.entries) if (entry.kind === 'show') mounts.push(readOnly(entry.from, entry.at));
  return pinMounts([
    ...mounts.sort((a, b) => (a.at < b.at ? -1 : 1)),
    ...plan.entries.filter((entry) => entry.kind === 'link'),
  ]);
}

/**
 * Adds a mount for each folder that leads from a writable folder to a mount in it. A mount point cannot be renamed or
 * replaced: without this, a command could put a folder of its own in place of the workspace, or a link on the way, which
 * the mounts of the next command would follow.
 */
function pinMounts(mounts: readonly Mount[]): readonly Mount[] {
  const pinned = new Map<string, Mount>();
  for (const mount of mounts) {
    const outer = findWritable(mount, [...pinned.values()]);
    const names = outer === null ? [] : dirname(mount.at).slice(outer.at.length).split('/').filter(Boolean);
    for (const [index] of names.entries()) {
      const path = names.slice(0, index + 1).join('/');
      const at = join(outer?.at ?? '', path);
      if (!pinned.has(at)) pinned.set(at, { kind: 'pin', from: join(outer?.from ?? '', path), at });
    }
    pinned.set(mount.at, mount);
  }
  return [...pinned.values()];
}

function findWritable({ at }: Mount, mounts: readonly Mount[]) {
  const found = mounts.findLast((one) => one.kind === 'read-write' && isWithin(at, one.at) && one.at !== at);
  return found?.kind === 'read-write' ? found : null;
}

/** Makes the folders and the links in writable folders; returns the mounts, which are made for each command. */
export async function prepareMounts(mounts: readonly Mount[]): Promise<readonly Mount[]> {
  const remaining: Mount[] = [];
  for (const mount of mounts) {
    const outer = findWritable(mount, mounts);
    if (mount.kind === 'pin') await mkdir(mount.from, { recursive: true, mode: 0o700 });
    if (mount.kind !== 'link' || outer === null) remaining.push(mount);
    else await symlink(mount.to, join(outer.from, mount.at.slice(outer.at.length)));
  }
  return remaining;
}
