/**
 * Reads stdin completely or not at all, because half a diff would be reviewed as if it were the whole change, and
 * inserts it into the task.
 */
import { addAbortSignal, type Readable } from 'node:stream';
import type { RawInputs } from '../config/inputs.ts';
import { errorCode, InputError } from '../errors.ts';
import type { Reading } from '../types.ts';
import type { RunCommand } from './args.ts';

export interface StdinLimits {
  /** Inclusive. */
  readonly maxBytes: number;
  /**
   * If no byte arrives for this long, in milliseconds, `onWait` is called once: stdin is probably not connected to a
   * writer.
   */
  readonly noticeAfterMs: number;
  readonly onWait: () => void;
  readonly signal: AbortSignal;
}

/**
 * Returns all of stdin as text, without a BOM.
 * @throws InputError when it is too large, is not UTF-8, cannot be read, or does not end before the signal
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
  const code = errorCode(error);
  return `Stdin cannot be read${code === null ? '' : ` (${code})`}. Pipe text in, or redirect it: </dev/null.`;
}

/** The sources that the task may have to be read from. */
export interface TaskSources {
  readonly stdin: () => Promise<string>;
  /** Reads the file of `prompt-file`, which the user named. */
  readonly file: (path: string) => Promise<Reading>;
}

/**
 * Adds stdin to the inputs of a run: as the whole task, or before the task, separated by an empty line. Blank stdin
 * next to a task changes nothing.
 * @throws InputError when there is no task, or its file cannot be read
 */
export async function withStdin({ inputs, options }: RunCommand, sources: TaskSources): Promise<RawInputs> {
  if (options.stdin === 'unused') return inputs;
  const piped = await sources.stdin();
  if (options.stdin === 'prompt') {
    if (piped.trim() === '')
      throw new InputError(
        'prompt',
        'No task is given, and nothing came in on stdin. Write -p "the task", name a file with --prompt-file, or pipe the task in.',
      );
    return new Map([...inputs, ['prompt', piped.trim()]]);
  }
  if (piped.trim() === '') return inputs;
  const task = await readTask(inputs, sources);
  const others = [...inputs].filter(([name]) => name !== 'prompt-file');
  return new Map([...others, ['prompt', `${piped}\n\n${task}`]]);
}

async function readTask(inputs: RawInputs, sources: TaskSources): Promise<string> {
  const file = inputs.get('prompt-file');
  if (file === undefined) return inputs.get('prompt') ?? '';
  const reading = await sources.file(file);
  if (!reading.ok) throw new InputError('prompt-file', reading.problem);
  if (reading.text.trim() === '') throw new InputError('prompt-file', 'It is empty. Write the task into it.');
  return reading.text;
}
