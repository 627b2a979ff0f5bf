/** Which of the files that GitHub lists without a patch are binary, by what is in the checkout. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { createHunk, type FileChange } from '../evidence/change.ts';
import { linesOf } from '../evidence/lines.ts';
import { isBinaryText } from '../evidence/parse-diff.ts';
import type { ChangedFile } from '../github/changed-files.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';

/** Bytes of a file without a patch that is read to see whether it is binary, and of all such files. */
const MAX_BINARY_FILE = 8 * 1024 ** 2;
const MAX_BINARY_FILES = 64 * 1024 ** 2;

/** Bytes at the start of a file in which git looks for a NUL, with which it takes the file for a binary one. */
const LOOKED_AT = 8_000;

/**
 * Marks files as binary whose lines are not known because they have none: without this, a pull request with an image could
 * be judged in a deep clone only. A file has to be the very blob that GitHub lists, whatever is checked out. A text that
 * GitHub takes for a binary file and lists as renamed may have been edited as well: it counts as a new file.
 * @param rows the files as GitHub lists them, in the same order.
 * @param root of the repository, as the tools see it.
 */
export async function markBinaryFiles(
  files: readonly FileChange[],
  rows: readonly ChangedFile[],
  sandbox: Pick<OpenedSandbox, 'read'>,
  root: string,
): Promise<readonly FileChange[]> {
  let left: number = MAX_BINARY_FILES;
  const marked: FileChange[] = [];
  for (const [at, file] of files.entries()) {
    const row = rows[at];
    const name = path.posix.join(root, file.path);
    const hidesLines = row?.patch === null && row.additions + row.deletions === 0;
    const isRename = file.kind === 'unit' && row?.status === 'renamed';
    if (!hidesLines || !(file.kind === 'unknown' || (isRename && (await startsBinary(name, sandbox))))) {
      marked.push(file);
      continue;
    }
    const bytes = left > 0 ? await readFile(name, sandbox, left) : null;
    // Only a file that is larger than any text is left as it is: GitHub lists a rename only beside a similar old file.
    if (bytes === null) marked.push(left < MAX_BINARY_FILE ? { ...file, kind: 'unknown' } : file);
    else marked.push(describeFile(file, bytes, row.blob));
    left -= bytes?.length ?? 0;
  }
  return marked;
}

/** @param bytes the contents of a file whose lines are not known, or may have changed. */
function describeFile(file: FileChange, bytes: Buffer, blob: string): FileChange {
  const lines = [...linesOf(bytes.toString('utf8'))];
  if (isBinaryText(lines)) return blobId(bytes) === blob ? { ...file, kind: 'unit', isBinary: true } : file;
  if (file.kind === 'unknown') return file;
  const hunk = createHunk(
    0,
    1,
    lines.map((each) => `+${each}`),
  );
  return { ...file, kind: 'text', hunks: [hunk] };
}

async function startsBinary(file: string, sandbox: Pick<OpenedSandbox, 'read'>): Promise<boolean> {
  const view = await sandbox.read(file, LOOKED_AT).catch(() => null);
  return view?.kind === 'file' && view.bytes.includes(0);
}

/** Returns a whole file; null if it is longer than allowed, or cannot be read. */
async function readFile(
  file: string,
  sandbox: Pick<OpenedSandbox, 'read'>,
  maxBytes: number,
): Promise<Buffer | null> {
  const view = await sandbox.read(file, Math.min(maxBytes, MAX_BINARY_FILE)).catch(() => null);
  return view?.kind === 'file' && !view.truncated ? view.bytes : null;
}

function blobId(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
