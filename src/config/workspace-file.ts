/** Reads files that the user named (schema, gate, prompt) before the model is called. */

import { realpathSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isClosedPath } from '../files/names.ts';
import { type BoundedRead, decodeUtf8, readBounded, readBoundedText } from '../files/read-bounded.ts';
import { READ } from '../text/limits.ts';
import { quote } from '../text/messages.ts';
import type { Reading } from '../types.ts';
import { isInside } from './paths.ts';

const LEAVES = {
  refused: 'leaves the workspace; only files inside it are read.',
  allowed: 'is a symbolic link that leaves the workspace. Give the path of the file itself.',
} as const;
const CLOSED =
  'leads to a git folder or a credential file, which are never read. Name a file that holds only what the model may see.';

/** Restrictions on the path and size of a file. */
export interface TrustedFileLimits {
  /** The checkout, to which paths are relative. A link in it must not lead out of it or into git's folders. */
  readonly root: string;
  /** Whether the user may name a file outside it, as on the command line, whose user can read any file anyway. */
  readonly outside: 'refused' | 'allowed';
  /** Inclusive. */
  readonly maxBytes: number;
}

/**
 * Reads a file as UTF-8, without a BOM; a problem is a sentence with the path and the reason. Only regular files are
 * read; a FIFO or a device is refused without blocking.
 */
export async function readTrustedFile(path: string, limits: TrustedFileLimits): Promise<Reading> {
  const name = quote(path);
  const target = resolve(limits.root, path);
  const read = readBounded(target, { maxBytes: limits.maxBytes, links: 'follow' });
  if (!read.ok) return problemOf(read, name, limits.maxBytes);
  const reason = refusePlace(read.realPath, target, limits);
  if (reason !== null) return refusal(`${name} ${reason}`);
  const text = decodeUtf8(read.bytes);
  return text === null ? refusal(`${name} is not valid UTF-8 text. Save it as UTF-8.`) : { ok: true, text };
}

/**
 * Returns why a file is not read, based on its real path. On the command line the user decides: paths outside the
 * checkout, or paths that explicitly name a protected folder such as `.git/COMMIT_EDITMSG`, are allowed. The target of
 * a link in the checkout was chosen by the author of the checkout.
 */
function refusePlace(real: string, typed: string, { root, outside }: TrustedFileLimits): string | null {
  const realRoot = realpathSync.native(root);
  const roots = [realRoot, resolve(root)];
  const typedRoot = roots.find((each) => isInside(typed, each));
  if (outside === 'allowed' && typedRoot === undefined) return null;
  if (!isInside(real, realRoot)) return LEAVES[outside];
  if (outside === 'allowed' && isClosedPath(relative(typedRoot ?? realRoot, typed))) return null;
  return isClosedPath(relative(realRoot, real)) || liesInGitFolder(real, realRoot) ? CLOSED : null;
}

/** Whether a path is in the git folder of a checkout that keeps it under another name. */
function liesInGitFolder(real: string, realRoot: string): boolean {
  const pointer = readBoundedText(join(realRoot, '.git'), READ.pointer);
  const folder = pointer === null ? null : pointer.trim().replace(/^gitdir: /u, '');
  if (folder === null || folder === '') return false;
  try {
    return isInside(real, realpathSync.native(resolve(realRoot, folder)));
  } catch {
    // It names a folder that does not exist.
    return false;
  }
}

function problemOf(
  { failure, code }: Extract<BoundedRead, { ok: false }>,
  name: string,
  maxBytes: number,
): Reading {
  switch (failure) {
    case 'missing':
      return {
        ...refusal(
          `could not read ${name}: there is no such file. Check the path; in a workflow, also that the repository is checked out before this step.`,
        ),
        isMissing: true,
      };
    case 'not_regular':
      return refusal(`${name} must be a regular file, but is a folder, a device, a pipe or the like.`);
    case 'too_large':
      return refusal(`${name} is larger than ${sizeOf(maxBytes)}; only smaller files are read.`);
    case 'unreadable':
      return refusal(`could not read ${name} (${code}).`);
  }
}

function sizeOf(bytes: number): string {
  const mib = bytes / 1024 / 1024;
  return Number.isInteger(mib) ? `${mib} MiB` : `${bytes.toLocaleString('en-US')} bytes`;
}

function refusal(problem: string) {
  return { ok: false, problem } as const;
}
