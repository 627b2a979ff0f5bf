/** Reads stdin completely or not at all: half a diff would be reviewed as if it were the whole change. */
import { addAbortSignal, type Readable } from 'node:stream';
import type { Config } from '../config/parse-config.ts';
import { InputError, messageOf } from '../errors.ts';
import { decodeUtf8 } from '../files/read-bounded.ts';
import { READ } from '../text/limits.ts';

/** The wait for the first byte before a notice is printed. */
const NOTICE_MS = 2_000;

/**
 * Returns all of stdin as text, without a BOM.
 * @param onWait called if nothing arrives for a while: stdin is probably not connected to a writer
 * @throws InputError when it is too large, is not UTF-8, cannot be read, or does not end before the signal
 */
export async function readStdin(stream: Readable, signal: AbortSignal, onWait: () => void): Promise<string> {
  const chunks: Buffer[] = [];
  let total = 0;
  const notice = setTimeout(onWait, NOTICE_MS);
  try {
    for await (const chunk of addAbortSignal(signal, stream)) {
      clearTimeout(notice);
      chunks.push(Buffer.from(chunk));
      total += chunk.length;
      if (total > READ.policy) break;
    }
  } catch (cause) {
    const why = signal.aborted ? 'is open and does not end' : `cannot be read (${messageOf(cause)})`;
    throw new InputError('prompt', `Stdin ${why}. Pipe text in, or redirect it: </dev/null.`, { cause });
  } finally {
    clearTimeout(notice);
  }
  const tooLarge = 'Stdin is larger than 4 MiB. Write it to a file, and name that in the task.';
  if (total > READ.policy) throw new InputError('prompt', tooLarge);
  const text = decodeUtf8(Buffer.concat(chunks));
  if (text === null) throw new InputError('prompt', 'Stdin is not valid UTF-8 text. Pipe text in.');
  return text;
}

/**
 * Puts stdin before the task, separated by an empty line. Blank stdin changes nothing.
 * @param task null if stdin is the whole task
 * @throws InputError when there is no task
 */
export function addStdin(task: Config['prompt'] | null, piped: string): Config['prompt'] {
  const isBlank = piped.trim() === '';
  if (task === null && isBlank)
    throw new InputError('prompt', 'No task is given, and nothing came in on stdin. Write -p "the task".');
  if (task === null) return { text: piped.trim() };
  if (isBlank) return task;
  const before = `${piped}\n\n`;
  return 'text' in task ? { text: before + task.text } : { ...task, before };
}
