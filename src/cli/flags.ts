/** The flags of the command line: the inputs that apply outside GitHub, and the flags that exist only here. */
import type { FlagSpec } from '../commands/flags.ts';
import { type Input, LOCAL_INPUTS, MAIN_INPUTS } from '../config/inputs.ts';

/** The commands other than a run, with one sentence each. Each has its own arguments and `--help`. */
export const COMMANDS = {
  check: 'Checks workflow files; asks no model.',
  init: 'Writes a workflow, and a schema if asked, to begin with.',
  report: 'Makes a page of a results folder.',
} as const;
export type CommandName = keyof typeof COMMANDS;

/** A flag with its sentence for `--help`. */
export type Flag = FlagSpec & Pick<Input, 'description' | 'default'>;

const INPUT_FLAGS = LOCAL_INPUTS.filter(({ name }) => name !== 'api-key');

/** Flags that set no input. */
const OWN_FLAGS: readonly Flag[] = [
  own(
    'output-format',
    "What stdout gets: text (the payload), json (an array of messages, the result last), stream-json (one message a line) or object (the result alone). json_schema='SCHEMA' sets the schema.",
    { default: 'text', also: ['o', 'f'] },
  ),
  own('quiet', 'No progress on stderr.', { kind: 'boolean', also: ['q'] }),
  own('results', 'A new or empty folder for the envelope, transcript, SARIF, patch and page of the run.'),
  own('record', "Where the model's side of the run is written for --replay. It holds the payload."),
  own('bare', 'Accepted, and always so: nothing of this machine is discovered.', { kind: 'boolean' }),
  own('help', 'This text.', { kind: 'boolean', also: ['h'] }),
  own('version', 'The version.', { kind: 'boolean', also: ['v'] }),
];

/** All flags under the headings of `--help`. */
export const FLAGS: Readonly<Record<string, readonly Flag[]>> = {
  Flags: INPUT_FLAGS.filter((input) => !isAdvanced(input)),
  Advanced: INPUT_FLAGS.filter(isAdvanced),
  'Command line': OWN_FLAGS,
};

function isAdvanced({ name }: Flag): boolean {
  return !MAIN_INPUTS.some((input) => input.name === name);
}

function own(name: string, description: string, more: Partial<Flag> = {}): Flag {
  return { name, description, default: '', ...more };
}
