/** Determines the checked-out commit from git's own files, without running a program in an untrusted checkout. */
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import { READ } from '../text/limits.ts';

/** Bytes of `packed-refs` of a repository with half a million refs. */
const MAX_PACKED_REFS = 64 * 1024 ** 2;

/**
 * Returns the commit of the checkout at a folder: on a branch or detached, in a worktree or a submodule, with a loose
 * or packed ref. Returns null if there is none.
 */
export function readCheckedOut(folder: string): string | null {
  // A worktree and a submodule have a file that names the git folder.
  const named = /^gitdir: (.+)$/u.exec(readShort(path.join(folder, '.git')))?.[1] ?? '.git';
  const own = path.resolve(folder, named);
  const common = path.resolve(own, readShort(path.join(own, 'commondir')) || '.');
  const head = readShort(path.join(own, 'HEAD'));
  const ref = /^ref: (refs\/(?!.*\.\.).+)$/u.exec(head)?.[1];
  const commit = ref === undefined ? head : readShort(path.join(common, ref)) || findPacked(ref, common);
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(commit) ? commit : null;
}

function findPacked(ref: string, common: string): string {
  const text = readBoundedText(path.join(common, 'packed-refs'), MAX_PACKED_REFS) ?? '';
  const line = text.split('\n').find((each) => each.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? '';
}

/** Returns the trimmed text of a small file; empty if it cannot be read. */
function readShort(file: string): string {
  return (readBoundedText(file, READ.pointer) ?? '').trim();
}
