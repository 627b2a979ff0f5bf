/** Reads what is piped in, whole or not at all: half a diff would be judged as if it were the change. */
import { addAbortSignal, type Readable } from 'node:stream';
import { InputError } from '../errors.ts';

/** How long and how much is read. */
export interface StdinLimits {
  /** Inclusive. */
  readonly maxBytes: number;
  /** Without a first byte for so long, in milliseconds, `onWait` is called once: most likely nobody writes. */
  readonly noticeAfterMs: number;
  readonly onWait: () => void;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * All of stdin as text, without a BOM.
 * @throws InputError where it is too large, no UTF-8, cannot be read, or does not end before the signal.
 */
export async function readStdin(stream: Readable, limits: StdinLimits): Promise<string> {
  const chunks: Buffer[] = [];
  let total = 0;
  const notice = setTimeout(limits.onWait, limits.noticeAfterMs);
  try {
    for await (const chunk of addAbortSignal(limits.signal, stream)) {
      clearTimeout(notice);
      const bytes = Buffer.from(chunk);
      total += bytes.length;
      if (total > limits.maxBytes) throw tooLarge(limits.maxBytes);
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError('prompt', problemOf(error, limits.signal), { cause: error });
  } finally {
    clearTimeout(notice);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new InputError(
      'prompt',
      'Stdin is not valid UTF-8 text. Pipe text in, or redirect stdin: </dev/null.',
    );
  }
}

function tooLarge(maxBytes: number): InputError {
  return new InputError(
    'prompt',
    `Stdin is larger than ${maxBytes / 1024 / 1024} MiB. Write it to a file that the agent reads by itself, and name that file in the task.`,
  );
}

function problemOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted)
    return 'Stdin is open and does not end. Close it where it has nothing to say: </dev/null.';
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return `Stdin cannot be read${code}. Pipe text in, or redirect it: </dev/null.`;
}
