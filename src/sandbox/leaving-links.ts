/** Links out of what is judged: what lies behind them could change, and the name of the tree would not. */
import { lstat, readlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { isInside } from './confine.ts';
import { errorCode } from './error-code.ts';
import { placeOf } from './git-tree.ts';

/** As many as Linux follows. */
const MAX_HOPS = 40;
/** What lies there depends on who looks: `/proc/self/cwd` is another folder for the agent than for this process. */
const KERNEL_FOLDERS = ['/proc', '/dev', '/sys'];

/**
 * The first link that leads out of the judged places, also by way of a link that is not judged itself; null where each
 * one stays, or leads nowhere.
 * @param root absolute and real.
 * @param links relative to the root, latin1 like `GitPath.path`; nothing on the way to them is a link.
 * @param judged absolute and real.
 */
export async function findLeaving(
  root: string,
  links: readonly string[],
  judged: readonly string[],
): Promise<string | null> {
  const places = judged.map((place) => Buffer.from(place).toString('latin1'));
  for (const link of links) if (await leaves(placeOf(root, link).toString('latin1'), places)) return link;
  return null;
}

/** Goes the way that the kernel goes, because only so is seen where it leads through; paths are latin1. */
async function leaves(link: string, judged: readonly string[]): Promise<boolean> {
  const stays = (at: string) => judged.some((place) => isInside(at, place));
  let at = posix.dirname(link);
  let rest: readonly string[] = [posix.basename(link)];
  for (let hops = 0; hops <= MAX_HOPS; ) {
    const [name, ...behind] = rest;
    if (name === undefined) return !stays(at);
    const next = posix.join(at, name);
    if (KERNEL_FOLDERS.some((folder) => isInside(next, folder))) return true;
    const place = Buffer.from(next, 'latin1');
    try {
      const isLink = (await lstat(place)).isSymbolicLink();
      if (isLink && !stays(next)) return true;
      const target = isLink ? (await readlink(place, 'buffer')).toString('latin1') : null;
      if (target !== null) hops += 1;
      at = target === null ? next : target.startsWith('/') ? '/' : at;
      rest = target === null ? behind : [...target.split('/'), ...behind];
    } catch (error) {
      // Where nothing lies nothing can be read.
      return !['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');
    }
  }
  // In a circle, all of it judged.
  return false;
}
