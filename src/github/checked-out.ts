/** Determines the checked-out commit from git's own files, without running a program in an untrusted checkout. */
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import { READ } from '../text/limits.ts';

/** Bytes of `packed-refs` of a repository with half a million refs. */
const MAX_PACKED_REFS = 64 * 1024 ** 2;

/** Maximum depth of symbolic refs; git follows five. */
const MAX_HOPS = 5;

/**
 * Returns the commit of the checkout at a folder: on a branch or detached, in a worktree or a submodule, with a loose
 * or packed ref. Returns null if there is none or its files are ambiguous.
 */
export function readCheckedOut(folder: string): string | null {
  const own = findGitFolder(folder);
  if (own === null) return null;
  const common = path.resolve(own, readShort(path.join(own, 'commondir')) || '.');
  let value = readShort(path.join(own, 'HEAD'));
  for (let hops = 0; hops < MAX_HOPS && value.startsWith('ref: '); hops += 1) {
    const ref = value.slice('ref: '.length);
    value = isRefName(ref) ? readShort(path.join(common, ref)) || findPacked(common, ref) : '';
  }
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(value) ? value : null;
}

/**
 * Returns the git directory of a checkout: `.git`, or its target if it is a link or the file of a worktree or
 * submodule.
 */
function findGitFolder(root: string): string | null {
  const git = path.join(root, '.git');
  try {
    if (!lstatSync(git).isFile()) return realpathSync(git);
    const named = /^gitdir: (.+)$/u.exec(readShort(git))?.[1];
    return named === undefined ? null : realpathSync(path.resolve(root, named));
  } catch {
    return null;
  }
}

/** Whether a name is a valid ref name (git-check-ref-format(1)), so that it cannot lead to another path. */
function isRefName(ref: string): boolean {
  return /^refs\/[^\p{Cc} ~^:?*[\\]+$/u.test(ref) && !/\.\.|\/[./]|\/$|\.lock(?:\/|$)/u.test(ref);
}

function findPacked(common: string, ref: string): string {
  const text = `\n${readBoundedText(path.join(common, 'packed-refs'), MAX_PACKED_REFS) ?? ''}`;
  const at = text.indexOf(` ${ref}\n`);
  return at < 0 ? '' : text.slice(text.lastIndexOf('\n', at) + 1, at);
}

/** Returns the trimmed text of a small file; empty if it cannot be read. */
function readShort(file: string): string {
  return (readBoundedText(file, READ.pointer) ?? '').trim();
}
