/** The arguments of the command line → which command, its inputs and its own options. */

import type { InputName, RawInputs } from '../config/inputs.ts';
import { InputError } from '../errors.ts';
import { COMMANDS, type CommandName } from './flags.ts';
import { helpText, usageText } from './help.ts';
import {
  refuseLoneWord,
  refuseMerge,
  refuseOtherModes,
  refuseTwice,
  refuseTwoTasks,
  refuseUnknownHelp,
  refuseWords,
} from './rules.ts';
import { isAsked, type ScannedLine, scanLine, type TypedFlag } from './scan.ts';
import { refuseSecrets, secretsFromEnvironment } from './secrets.ts';
import { type OutputFormat, readOutputFormat, readSchema } from './values.ts';

/** What a run on the command line is told beside its inputs. */
export interface RunOptions {
  readonly outputFormat: OutputFormat;
  /** No progress on stderr; the one sentence of a failure stays. */
  readonly quiet: boolean;
  /** Where the model's side is recorded, as typed; null for nowhere. */
  readonly record: string | null;
  /** Where the agent's changes are written, as typed; null for nowhere. */
  readonly patchFile: string | null;
  /** What stdin is: the whole task, text that goes before the task, or not read at all. */
  readonly stdin: 'prompt' | 'beside' | 'unused';
}

/** A run as it was typed. */
export interface RunCommand {
  readonly kind: 'run';
  readonly inputs: RawInputs;
  readonly options: RunOptions;
}

/** What the user asked for. */
export type CliCommand =
  | RunCommand
  | { readonly kind: CommandName; readonly rest: readonly string[] }
  | { readonly kind: 'help'; readonly text: string }
  /** Nothing was typed: the text goes to stderr, and the exit code is that of a configuration error. */
  | { readonly kind: 'usage'; readonly text: string }
  | { readonly kind: 'version' };

/** What decides beside the arguments. */
export interface CliWorld {
  readonly stdinIsTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the arguments, the program's own name not among them. The order of flags never counts.
 * @throws InputError that names the flag and the fix, and shows no value.
 */
export function parseCliArgs(argv: readonly string[], world: CliWorld): CliCommand {
  const [first, ...rest] = argv;
  if (first === undefined) return { kind: 'usage', text: usageText() };
  const command = COMMANDS.find((each) => each === first);
  if (command !== undefined) return { kind: command, rest };
  const about = COMMANDS.find((each) => each === rest[0]);
  if (first === 'help' && about !== undefined && rest.length === 1) return { kind: about, rest: ['--help'] };
  refuseUnknownHelp(argv);
  // With more words behind it, "help" begins a task.
  const alone = first === 'help' && rest.length === 0;
  if (alone || isAsked('help', argv)) return { kind: 'help', text: helpText() };
  if (isAsked('version', argv)) return { kind: 'version' };
  refuseMerge(argv);
  refuseLoneWord(argv);
  return parseRun(scanLine(argv), world);
}

function parseRun(line: ScannedLine, world: CliWorld): RunCommand {
  const { flags, words } = line;
  refuseOtherModes(flags);
  refuseSecrets(flags);
  refuseTwice(flags);
  refuseTwoTasks(line);
  refuseWords(words);
  const inputs = readInputs(line);
  secretsFromEnvironment(world.environment, inputs);
  const hasTask = inputs.has('prompt') || inputs.has('prompt-file');
  if (!hasTask && world.stdinIsTerminal)
    throw new InputError(
      'prompt',
      'No task is given. Write -p "the task", name a file with --prompt-file, or pipe the task in. See structured-agent --help.',
    );
  if (!inputs.has('model') && !inputs.has('replay'))
    throw new InputError(
      'model',
      'No model is given. Add --model NAME, for example --model claude-sonnet-4-5.',
    );
  return {
    kind: 'run',
    inputs,
    options: {
      outputFormat: readOutputFormat(flags),
      quiet: typedValue(flags, 'quiet') === 'true',
      record: typedValue(flags, 'record'),
      patchFile: typedValue(flags, 'patch-file'),
      stdin: world.stdinIsTerminal ? 'unused' : hasTask ? 'beside' : 'prompt',
    },
  };
}

/** What is typed for each input; a list's entries in the order of typing, one a line. */
function readInputs({ flags, words }: ScannedLine): Map<InputName, string> {
  const inputs = new Map<InputName, string>();
  for (const { flag, value } of flags) {
    if (flag.input === null) continue;
    const before = inputs.get(flag.input);
    inputs.set(flag.input, before === undefined ? value : `${before}\n${value}`);
  }
  // As the input takes it, whichever flag gave it.
  const schema = readSchema(flags);
  if (schema !== null) inputs.set('schema', schema);
  if (words.length > 0) inputs.set('prompt', words.join(' ').trim());
  return inputs;
}

function typedValue(flags: readonly TypedFlag[], name: string): string | null {
  return flags.find((each) => each.flag.name === name)?.value ?? null;
}
