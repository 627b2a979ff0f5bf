/** The task and what was piped in → the one prompt. */

import type { RawInputs } from '../config/inputs.ts';
import { InputError } from '../errors.ts';
import type { Reading } from '../types.ts';
import type { RunCommand } from './args.ts';

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
