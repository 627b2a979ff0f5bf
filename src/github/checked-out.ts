/** Determines what is checked out from git's own files, without running a program in an untrusted checkout. */
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import { READ } from '../text/limits.ts';

/** Bytes of `packed-refs` of a repository with half a million refs. */
const MAX_PACKED_REFS = 64 * 1024 ** 2;

/** What is checked out at a folder. */
export interface CheckedOut {
  /** null if there is none. */
  readonly commit: string | null;
  /** Such as `refs/heads/main`; empty if HEAD is detached. */
  readonly ref: string;
  /** `owner/name` of the remote `origin`; empty if there is none. */
  readonly repository: string;
}

/** Reads what is checked out: on a branch or detached, in a worktree or a submodule, with a loose or packed ref. */
export function readCheckedOut(folder: string): CheckedOut {
  // A worktree and a submodule have a file that names the git folder.
  const named = /^gitdir: (.+)$/u.exec(readShort(path.join(folder, '.git')))?.[1] ?? '.git';
  const own = path.resolve(folder, named);
  const common = path.resolve(own, readShort(path.join(own, 'commondir')) || '.');
  const head = readShort(path.join(own, 'HEAD'));
  const ref = /^ref: (refs\/(?!.*\.\.).+)$/u.exec(head)?.[1] ?? '';
  const commit = ref === '' ? head : readShort(path.join(common, ref)) || findPacked(ref, common);
  const isCommit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(commit);
  return { commit: isCommit ? commit : null, ref, repository: findOrigin(common) };
}

function findPacked(ref: string, common: string): string {
  const text = readBoundedText(path.join(common, 'packed-refs'), MAX_PACKED_REFS) ?? '';
  const line = text.split('\n').find((each) => each.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? '';
}

/** Returns the end of the remote's URL only: what stands before it may hold a token. */
function findOrigin(common: string): string {
  const [, after = ''] = readShort(path.join(common, 'config')).split('[remote "origin"]');
  const [section = ''] = after.split('\n[');
  const url = /^[ \t]*url = (.+)$/mu.exec(section)?.[1] ?? '';
  const name = url
    .replace(/\.git$/u, '')
    .split(/[/:]/u)
    .slice(-2)
    .join('/');
  return /^[\w.-]+\/[\w.-]+$/u.test(name) ? name : '';
}

/** Returns the trimmed text of a small file; empty if it cannot be read. */
function readShort(file: string): string {
  return (readBoundedText(file, READ.pointer) ?? '').trim();
}
