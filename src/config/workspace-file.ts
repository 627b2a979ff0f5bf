/** Reads files that the user named (schema, gate, prompt) before the model is called. */

import { realpathSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { refuseComponents } from '../files/protected-names.ts';
import { type ReadFailure, readBounded, readBoundedText } from '../files/read-bounded.ts';
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
  const read = readBounded(target, {
    maxBytes: limits.maxBytes,
    links: 'follow',
    refuse: (real) => refusePlace(real, target, limits),
  });
  return read.ok ? decode(read.bytes, name) : problemOf(read.failure, read.detail, name, limits.maxBytes);
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
  const names = relative(realRoot, real).split(sep);
  const typedNames = relative(typedRoot ?? realRoot, typed).split(sep);
  if (outside === 'allowed' && refuseComponents(typedNames, 'read', true) !== null) return null;
  if (refuseComponents(names, 'read', true) !== null || liesInGitFolder(real, realRoot)) return CLOSED;
  return null;
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

function decode(bytes: Buffer, name: string): Reading {
  try {
    // TextDecoder removes a BOM.
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return refusal(`${name} is not valid UTF-8 text. Save it as UTF-8.`);
  }
}

function problemOf(failure: ReadFailure, detail: string | null, name: string, maxBytes: number): Reading {
  switch (failure) {
    case 'missing':
      return {
        ...refusal(
          `could not read ${name}: there is no such file. Check the path; in a workflow, also that the repository is checked out before this step.`,
        ),
        isMissing: true,
      };
    case 'refused':
      return refusal(`${name} ${detail}`);
    case 'denied':
      return refusal(`could not read ${name}: permission denied.`);
    case 'link':
    case 'loop':
      return refusal(`could not read ${name}: too many symbolic links.`);
    case 'special':
      return refusal(
        `${name} must be a regular file, but is a device, a pipe, a socket, or a file of /proc or /sys.`,
      );
    case 'folder':
      return refusal(`${name} must be a regular file, but is a directory.`);
    case 'too_large':
      return refusal(`${name} is larger than ${sizeOf(maxBytes)}; only smaller files are read.`);
    case 'other':
      return refusal(`could not read ${name}: ${detail ?? 'it changed while it was read'}.`);
  }
}

function sizeOf(bytes: number): string {
  const mib = bytes / 1024 / 1024;
  return Number.isInteger(mib) ? `${mib} MiB` : `${bytes.toLocaleString('en-US')} bytes`;
}

function refusal(problem: string) {
  return { ok: false, problem } as const;
}
