/** What is piped in, read whole or not at all: half a diff would be judged as if it were the change. And its part in the task. */
import { addAbortSignal, type Readable } from 'node:stream';
import type { RawInputs } from '../config/inputs.ts';
import { errorCode, InputError } from '../errors.ts';
import type { Reading } from '../types.ts';
import type { RunCommand } from './args.ts';

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
  const code = errorCode(error);
  return `Stdin cannot be read${code === null ? '' : ` (${code})`}. Pipe text in, or redirect it: </dev/null.`;
}

/** What the task may have to be read from. */
export interface TaskSources {
  /** All of stdin. */
  readonly stdin: () => Promise<string>;
  /** The file of `prompt-file`, which the user named. */
  readonly file: (path: string) => Promise<Reading>;
}

/**
 * The inputs of a run with stdin in its place: the whole task, or before the task with an empty line between. Stdin that
 * is blank beside a task changes nothing.
 * @throws InputError where the task is nowhere, or its file cannot be read.
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
  if (!reading.ok) throw new InputError('prompt-file', `--prompt-file: ${reading.problem}`);
  if (reading.text.trim() === '')
    throw new InputError('prompt-file', `The file of --prompt-file is empty. Write the task into it.`);
  return reading.text;
}
