/** Reads files that the user named (schema, gate, prompt) before the model is called. */
import { realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { decodeUtf8, type ReadFailure, readBounded } from '../files/read-bounded.ts';
import { isClosedPath } from '../text/file-names.ts';
import { quote } from '../text/messages.ts';
import type { Reading } from '../types.ts';
import { isInside } from './paths.ts';

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
  const refuse = (problem: string) => ({ ok: false, problem }) as const;
  const target = resolve(limits.root, path);
  const read = readBounded(target, { maxBytes: limits.maxBytes, links: 'follow' });
  if (!read.ok) {
    const problems: Readonly<Record<ReadFailure, string>> = {
      missing: `could not read ${name}: there is no such file. Check the path; in a workflow, also that the repository is checked out before this step.`,
      not_regular: `${name} must be a regular file, but is a folder, a device, a pipe or the like.`,
      too_large: `${name} is larger than ${limits.maxBytes / 1024} KiB; only smaller files are read.`,
      unreadable: `could not read ${name} (${read.code}).`,
    };
    return refuse(problems[read.failure]);
  }
  const reason = refusePlace(read.realPath, target, limits);
  if (reason !== null) return refuse(`${name} ${reason}`);
  const text = decodeUtf8(read.bytes);
  return text === null ? refuse(`${name} is not valid UTF-8 text. Save it as UTF-8.`) : { ok: true, text };
}

/**
 * Returns why a file is not read, based on its real path. On the command line the user decides: paths outside the
 * checkout, or paths that explicitly name a protected folder such as `.git/COMMIT_EDITMSG`, are allowed. The target of
 * a link in the checkout was chosen by the author of the checkout.
 */
function refusePlace(real: string, typed: string, { root, outside }: TrustedFileLimits): string | null {
  const realRoot = realpathSync.native(root);
  const typedRoot = [realRoot, resolve(root)].find((each) => isInside(typed, each));
  const isUser = outside === 'allowed';
  if (isUser && typedRoot === undefined) return null;
  if (!isInside(real, realRoot))
    return isUser
      ? 'is a symbolic link that leaves the workspace. Give the path of the file itself.'
      : 'leaves the workspace; only files inside it are read.';
  const isNamed = isUser && isClosedPath(relative(typedRoot ?? realRoot, typed));
  if (isNamed || !isClosedPath(relative(realRoot, real))) return null;
  return 'leads to a git folder or a credential file, which are never read. Name a file that holds only what the model may see.';
}
