/**
 * Captures the output of a command: head and tail in bounded memory, and the full output in a file once it exceeds the
 * limit.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TOOL } from '../../text/limits.ts';

export interface Captured {
  /** Valid Unicode text: the full output, or head and tail with a line between them that states how much is missing. */
  readonly text: string;
  readonly totalBytes: number;
  /** The name of the file in the spill folder; null if nothing was cut. */
  readonly spillName: string | null;
  readonly keptBytes: number;
}

export interface Capture {
  /** Resolves when the next chunk can be accepted. */
  add(chunk: Buffer): Promise<void>;
  finish(): Promise<Captured>;
}

/**
 * @param maxBytes maximum size of the text returned by `finish`, not counting the line about the cut.
 * @param spillFolder folder for the full output if it is longer than that; commands can write to it, too.
 */
export function createCapture(maxBytes: number, spillFolder: string): Capture {
  const headBytes = Math.ceil(maxBytes / 2);
  const tailBytes = maxBytes - headBytes;
  let total = 0;
  let kept = 0;
  /** The full output while it fits, then the first half of `maxBytes`. */
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer[] = [];
  let tailLength = 0;
  let spill: { readonly name: string; readonly file: FileHandle } | null = null;

  function keepTail(chunk: Buffer): void {
    tail.push(chunk);
    tailLength += chunk.length;
    while (tail.length > 1 && tailLength - (tail[0]?.length ?? 0) >= tailBytes) {
      tailLength -= tail.shift()?.length ?? 0;
    }
  }

  async function writeSpill(chunk: Buffer): Promise<void> {
    if (spill === null || kept >= TOOL.spill) return;
    const part = chunk.subarray(0, TOOL.spill - kept);
    kept += part.length;
    try {
      await spill.file.appendFile(part);
    } catch {
      // A full disk must not fail the command; the file just ends earlier.
      kept = TOOL.spill;
    }
  }

  return {
    async add(chunk) {
      total += chunk.length;
      if (spill === null && total <= maxBytes) {
        head = Buffer.concat([head, chunk]);
        return;
      }
      if (spill === null) {
        spill = await openSpill(spillFolder);
        await writeSpill(head);
        keepTail(head.subarray(headBytes));
        const missing = Math.max(0, headBytes - head.length);
        head = Buffer.concat([head.subarray(0, headBytes), chunk.subarray(0, missing)]);
        keepTail(chunk.subarray(missing));
      } else {
        keepTail(chunk);
      }
      await writeSpill(chunk);
    },
    async finish() {
      await spill?.file.close();
      if (spill === null) {
        return { text: decode(head), totalBytes: total, spillName: null, keptBytes: total };
      }
      const rest = Buffer.concat(tail);
      const first = cutEnd(head);
      const last = cutStart(rest.subarray(Math.max(0, rest.length - tailBytes)));
      const gap = `\n[… ${total - first.length - last.length} bytes left out here …]\n`;
      tail = [];
      return {
        text: `${decode(first)}${gap}${decode(last)}`,
        totalBytes: total,
        spillName: spill.name,
        keptBytes: kept,
      };
    },
  };
}

/**
 * Opens the spill file under an unpredictable name and with O_EXCL, because a link planted under a known name would
 * redirect the write. As root, commands run as the owner of the private /tmp, who must be able to read the file.
 */
async function openSpill(folder: string): Promise<{ name: string; file: FileHandle }> {
  const name = `shell-output-${randomBytes(6).toString('hex')}.txt`;
  const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const file = await open(join(folder, name), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, 0o600);
  if (process.getuid?.() === 0) {
    const { uid, gid } = await stat(folder);
    await file.chown(uid, gid);
  }
  return { name, file };
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** Removes an incomplete code point from the end. */
function cutEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < length ? bytes.subarray(0, bytes.length - back) : bytes;
    }
    if (byte < 0x80) return bytes;
  }
  return bytes;
}

/** Removes the rest of a code point from the start. */
function cutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}
