/** The mounts of a sandbox, in their order, for both backends. */
import { dirname, join, relative } from 'node:path';
import type { GitPlan } from './git-config.ts';
import { CONTEXT_FOLDER } from './sandbox.ts';
import type { Mount } from './system-root.ts';

/** What both backends build the root file system from. */
export interface RootPlan {
  /** The folder of the run, as `makeRunFolders` leaves it. */
  readonly run: string;
  readonly workspace: string;
  readonly home: string;
  readonly entries: readonly Mount[];
  readonly git: GitPlan;
  readonly shellNetwork: boolean;
}

/**
 * Returns all mounts, a folder before what is in it.
 * @param places where the folders that commands write to are on this machine.
 */
export function listMounts(
  plan: RootPlan,
  places: Record<'tmp' | 'home' | 'layer', string>,
): readonly Mount[] {
  const { tmp, home, layer } = places;
  const { run, workspace, git } = plan;
  const show = (from: string, at: string): Mount => ({ kind: 'show', from, at });
  const open = (from: string, at: string): Mount => ({ kind: 'open', from, at });
  const mounts: readonly Mount[] = [
    open(tmp, '/tmp'),
    open(tmp, '/var/tmp'),
    open(home, plan.home),
    show(join(run, 'context'), CONTEXT_FOLDER),
    open(layer, workspace),
    ...git.folders.map((path) => show(join(layer, path), join(workspace, path))),
    ...plan.entries,
  ];
  return pinMounts(mounts.toSorted((a, b) => (a.at < b.at ? -1 : 1)));
}

/**
 * Adds a mount for each folder that leads from a writable folder to a mount in it. A mount point cannot be renamed or
 * replaced: without this, a command could put a folder of its own in place of the workspace, or a link on the way, which
 * the mounts of the next command would follow.
 */
function pinMounts(mounts: readonly Mount[]): readonly Mount[] {
  const pinned = new Map<string, Mount>();
  for (const mount of mounts) {
    const outer = [...pinned.values()].findLast(
      ({ kind, at }) => kind === 'open' && mount.at.startsWith(`${at}/`),
    );
    const above: Mount[] = [];
    for (let at = dirname(mount.at); outer && at !== outer.at && !pinned.has(at); at = dirname(at))
      above.unshift({ kind: 'open', from: join(outer.from, relative(outer.at, at)), at });
    for (const pin of above) pinned.set(pin.at, pin);
    pinned.set(mount.at, mount);
  }
  return [...pinned.values()];
}
