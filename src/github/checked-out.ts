/** Which commit lies in a checkout, as git's own files tell it: no program is run in what a stranger wrote. */
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import { readParents } from './git-commit.ts';

/** A commit whose files were judged. */
export interface JudgedCommit {
  readonly sha: string;
  /** null where its object could not be read. */
  readonly parents: readonly string[] | null;
}

const MAX_BYTES = 4_096;
const MAX_PACKED_REFS_BYTES = 64 * 1024 * 1024;
/** Refs that name another one; git follows five. */
const MAX_HOPS = 5;

/**
 * The commit of the checkout at a folder: on a branch, on none, in a worktree or a submodule, its ref loose or packed.
 * null where there is none, or its files do not say it plainly.
 */
export function readCheckedOut(folder: string): JudgedCommit | null {
  const own = findGitFolder(folder);
  if (own === null) return null;
  const common = path.resolve(own, readShort(path.join(own, 'commondir')) || '.');
  let value = readShort(path.join(own, 'HEAD'));
  for (let hops = 0; hops < MAX_HOPS && value.startsWith('ref: '); hops += 1) {
    const ref = value.slice('ref: '.length);
    value = isRefName(ref) ? readShort(path.join(common, ref)) || findPacked(common, ref) : '';
  }
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(value)) return null;
  return { sha: value, parents: readParents(path.join(common, 'objects'), value) };
}

/** Git's own folder of a checkout: `.git`, or what it names where it is a link or the file of a worktree or submodule. */
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

/** Whether a name is one of a ref (git-check-ref-format(1)), so that it leads nowhere else. */
function isRefName(ref: string): boolean {
  return /^refs\/[^\p{Cc} ~^:?*[\\]+$/u.test(ref) && !/\.\.|\/[./]|\/$|\.lock(?:\/|$)/u.test(ref);
}

function findPacked(common: string, ref: string): string {
  const text = `\n${readBoundedText(path.join(common, 'packed-refs'), MAX_PACKED_REFS_BYTES) ?? ''}`;
  const at = text.indexOf(` ${ref}\n`);
  return at < 0 ? '' : text.slice(text.lastIndexOf('\n', at) + 1, at);
}

/** The text of a small file on one line; empty for anything else. */
function readShort(file: string): string {
  return (readBoundedText(file, MAX_BYTES) ?? '').trim();
}
