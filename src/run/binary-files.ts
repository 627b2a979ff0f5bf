/** Files of which GitHub lists no lines, by what is in the checkout: binary ones, and texts that count as a whole. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { type FileChange, wholeFile } from '../evidence/change.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import { BINARY_LOOK, isBinaryName } from '../text/file-names.ts';
import type { ChangedFile } from '../types.ts';

/** Bytes of a file that is read, and of all such files. */
const MAX_FILE = 8 * 1024 ** 2;
const MAX_FILES = 64 * 1024 ** 2;

/**
 * Completes the files that GitHub lists without a patch. It gives none for a file with a NUL, and lists such a one as only
 * renamed if it was edited as well. A file has to be the very blob that GitHub lists, whatever is checked out.
 * @param rows the files as GitHub lists them, in the same order.
 * @param root of the repository, as the tools see it.
 */
export async function readHeads(
  files: readonly FileChange[],
  rows: readonly ChangedFile[],
  { read }: Pick<OpenedSandbox, 'read'>,
  root: string,
): Promise<readonly FileChange[]> {
  let left: number = MAX_FILES;
  const completed: FileChange[] = [];
  for (const [at, file] of files.entries()) {
    const { patch, status, blob } = rows[at] ?? { patch: '', status: '', blob: '' };
    const isOpen = patch === null && (file.kind === 'unknown' || status === 'renamed') && !file.isRemoved;
    const name = path.posix.join(root, file.path);
    const view = isOpen ? await read(name, Math.min(left, MAX_FILE)).catch(() => null) : null;
    const bytes = view?.kind === 'file' && !view.truncated ? view.bytes : null;
    left -= bytes?.length ?? 0;
    completed.push(bytes === null ? file : describeHead(file, bytes, blob));
  }
  return completed;
}

function describeHead(file: FileChange, bytes: Buffer, blob: string): FileChange {
  const hasNul = bytes.subarray(0, BINARY_LOOK).includes(0);
  if (file.kind === 'unit' && !hasNul) return file;
  const hash = createHash(blob.length === 64 ? 'sha256' : 'sha1');
  const id = hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  if (id !== blob) return { ...file, kind: 'unknown' };
  if (hasNul && isBinaryName(file.path)) return { ...file, kind: 'binary' };
  return wholeFile(file, bytes.toString('utf8'));
}
