/** What is kept of the output of a command: what the model sees, and the file that holds all of it. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/**
 * Keeps head and tail of an output in memory, and the full output in a file once it exceeds the limit.
 * @param maxBytes maximum size of the text, not counting the line about the cut.
 * @param file a path in a folder that no command can write to.
 * @param maxFileBytes maximum size of the file.
 */
export function createOutput(maxBytes: number, file: string, maxFileBytes: number) {
  const headBytes = Math.ceil(maxBytes / 2);
  let total = 0;
  let kept = 0;
  /** All of it as long as it fits, then its beginning. */
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  let full: FileHandle | null = null;

  async function keep(chunk: Buffer): Promise<void> {
    const part = chunk.subarray(0, maxFileBytes - kept);
    try {
      if (part.length > 0) await full?.appendFile(part);
      kept += part.length;
    } catch {
      // A full disk must not fail the command; the file just ends earlier.
      maxFileBytes = kept;
    }
  }

  return {
    async add(chunk: Buffer): Promise<void> {
      total += chunk.length;
      if (full === null) {
        head = Buffer.concat([head, chunk]);
        if (total <= maxBytes) return;
        full = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
        await keep(head);
        tail = head.subarray(headBytes);
        head = head.subarray(0, headBytes);
      } else {
        await keep(chunk);
        tail = Buffer.concat([tail, chunk]);
      }
      tail = tail.subarray(-(maxBytes - headBytes));
    },
    /** Returns the full output, or head and tail with a line between them that states how much is missing. */
    async finish() {
      await full?.close();
      if (full === null) return { output: decode(head), totalBytes: total, keptBytes: total, isCut: false };
      const gap = `\n[… ${total - head.length - tail.length} bytes left out here …]\n`;
      // What is left of a code point at both sides of the cut is left out, too.
      const first = decode(head).replace(/\uFFFD{1,3}$/u, '');
      const last = decode(tail).replace(/^\uFFFD{1,3}/u, '');
      return { output: `${first}${gap}${last}`, totalBytes: total, keptBytes: kept, isCut: true };
    },
  };
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
