/** Which of the files that GitHub lists without a patch are binary, by what is in the checkout. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { FileChange } from '../evidence/change.ts';
import { linesOf } from '../evidence/lines.ts';
import { isBinaryText } from '../evidence/parse-diff.ts';
import type { ChangedFile } from '../github/changed-files.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import { GITHUB } from '../text/limits.ts';

/**
 * Marks files as binary whose lines are not known because they have none: without this, a pull request with an image could
 * be judged in a deep clone only. A file has to be the very blob that GitHub lists, whatever is checked out.
 * @param rows the files as GitHub lists them, in the same order.
 * @param root of the repository, as the tools see it.
 */
export async function markBinaryFiles(
  files: readonly FileChange[],
  rows: readonly ChangedFile[],
  sandbox: Pick<OpenedSandbox, 'read'>,
  root: string,
): Promise<readonly FileChange[]> {
  let left: number = GITHUB.binaryFiles;
  const marked: FileChange[] = [];
  for (const [at, file] of files.entries()) {
    const row = rows[at];
    const mayBeBinary =
      file.kind === 'unknown' && row?.patch === null && row.additions + row.deletions === 0 && left > 0;
    const bytes = mayBeBinary ? await readFile(path.posix.join(root, file.path), sandbox, left) : null;
    left -= bytes?.length ?? 0;
    const isBinary =
      bytes !== null && blobId(bytes) === row?.blob && isBinaryText(linesOf(bytes.toString('utf8')));
    marked.push(isBinary ? { ...file, kind: 'unit', isBinary } : file);
  }
  return marked;
}

/** Returns a whole file; null if it is longer than allowed, or cannot be read. */
async function readFile(
  file: string,
  sandbox: Pick<OpenedSandbox, 'read'>,
  maxBytes: number,
): Promise<Buffer | null> {
  const view = await sandbox.read(file, Math.min(maxBytes, GITHUB.binaryFile)).catch(() => null);
  return view?.kind === 'file' && !view.truncated ? view.bytes : null;
}

function blobId(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
