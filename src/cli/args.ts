/** The flags of the command line, and the parsing of its arguments, with all problems at once. */
import {
  didYouMean,
  type FlagSpec,
  findMisused,
  parseFlags,
  spellings,
  type TypedFlag,
} from '../commands/flags.ts';
import {
  INPUTS,
  type Input,
  type InputName,
  LOCAL_INPUTS,
  MAIN_INPUTS,
  type RawInputs,
} from '../config/inputs.ts';
import { InputError } from '../errors.ts';
import type { OutputFormat } from '../reporters/stdout.ts';
import { DISPLAY } from '../text/limits.ts';
import { joinWithOr, KEY_VARIABLE, quote } from '../text/messages.ts';

/** The commands other than a run, with one sentence each. Each has its own arguments and `--help`. */
export const COMMANDS = {
  check: 'Checks workflow files; asks no model.',
  init: 'Writes a workflow, and a schema if asked, to begin with.',
  report: 'Makes a page of a results folder.',
} as const;
export type CommandName = keyof typeof COMMANDS;

/** A flag with its sentence for `--help`. */
export type Flag = FlagSpec & Pick<Input, 'description' | 'default'>;

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

const MAIN = new Set<Input>(MAIN_INPUTS);

/** All flags under the headings of `--help`: the inputs that apply outside GitHub, and those that exist only here. */
export const FLAGS: Readonly<Record<string, readonly Flag[]>> = {
  Flags: LOCAL_INPUTS.filter((input) => input.name !== 'api-key' && MAIN.has(input)),
  Advanced: LOCAL_INPUTS.filter((input) => !MAIN.has(input)),
  'Command line': OWN_FLAGS,
};

/** A run, and the options of it that exist only on the command line. */
export interface RunCommand {
  readonly kind: 'run';
  readonly inputs: RawInputs;
  readonly outputFormat: OutputFormat;
  /** No progress on stderr; the sentence that explains a failure is still written. */
  readonly quiet: boolean;
  /** The file to record the model's side in, as typed; null for none. */
  readonly record: string | null;
  /** The folder for the files that the run writes, as typed; null for none. */
  readonly results: string | null;
  /** The problems with the command line itself; the values of inputs are not checked yet. */
  readonly problems: readonly InputError[];
  /** Whether every argument was understood. If not, what seems to be missing may be in the others. */
  readonly isUnderstood: boolean;
  /** The other names under which inputs were typed, without dashes. */
  readonly aliases: ReadonlyMap<string, string>;
}

export type CliCommand =
  | RunCommand
  | { readonly kind: CommandName; readonly rest: readonly string[] }
  /** `usage`: no arguments were given. */
  | { readonly kind: 'help' | 'version' | 'usage' };

type Environment = Readonly<Record<string, string | undefined>>;

const OUTPUT_FORMATS: readonly OutputFormat[] = ['text', 'json', 'stream-json', 'object'];
const ALL_FLAGS = Object.values(FLAGS).flat();

/** Parses the arguments, without the program's own name. The order of flags does not matter. */
export function parseCliArgs(argv: readonly string[], environment: Environment): CliCommand {
  const [first, ...rest] = argv;
  if (first === undefined) return { kind: 'usage' };
  if (Object.hasOwn(COMMANDS, first)) return { kind: first as CommandName, rest };
  const { flags, words, problems: unknown } = parseFlags(argv, ALL_FLAGS, describeUnknownFlag);
  const value = (name: string) => flags.find(({ flag }) => flag.name === name)?.value ?? null;
  if (value('help') !== null || (first === 'help' && rest.length === 0)) return { kind: 'help' };
  if (value('version') !== null) return { kind: 'version' };

  // A word may be the value of an unknown flag.
  const task = unknown.length > 0 ? [] : readWords(words);
  const typed = [...flags.map(readSchemaFormat), ...task];
  const format = typed.find(({ flag }) => flag.name === 'output-format')?.value ?? 'text';
  const outputFormat = OUTPUT_FORMATS.find((each) => each === format.toLowerCase());
  const problems = [...unknown, ...findMisused(typed)];
  if (outputFormat === undefined && format !== '') {
    const why = `${quote(format, DISPLAY.name)} is not a format. Use ${joinWithOr(OUTPUT_FORMATS)}.`;
    problems.push(new InputError('output-format', why));
  }
  return {
    kind: 'run',
    inputs: collectInputs(typed, environment),
    outputFormat: outputFormat ?? 'text',
    quiet: value('quiet') !== null,
    record: value('record'),
    results: value('results'),
    problems,
    isUnderstood: unknown.length === 0,
    aliases: new Map(
      flags.filter(({ as }) => /^--/u.test(as)).map(({ flag, as }) => [flag.name, as.slice(2)]),
    ),
  };
}

/**
 * Returns the problems of a run, with inputs named as typed. If an argument was not understood, inputs that seem to be
 * missing are not reported.
 */
export function describeProblems(run: RunCommand, problems: readonly InputError[]): readonly InputError[] {
  const { inputs, problems: ofLine, isUnderstood, aliases } = run;
  const isGiven = ({ input }: InputError) => [...inputs.keys()].some((name) => name === input);
  return problems
    .filter((each) => isUnderstood || ofLine.includes(each) || isGiven(each))
    .map((each) => {
      const alias = aliases.get(each.input ?? '');
      return alias === undefined ? each : new InputError(alias, each.message);
    });
}

/** Collects the value of each input, and the key from its variable. The entries of a list are joined with line breaks. */
function collectInputs(typed: readonly TypedFlag<Flag>[], environment: Environment): RawInputs {
  const inputs = new Map<InputName, string>();
  for (const { flag, value } of typed) {
    const name = LOCAL_INPUTS.find((input) => input.name === flag.name)?.name;
    const before = name === undefined ? undefined : inputs.get(name);
    if (name !== undefined) inputs.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  const key = environment[KEY_VARIABLE]?.trim() ?? '';
  if (key !== '') inputs.set('api-key', key);
  return inputs;
}

/** Treats `--output-format json_schema=SCHEMA` as `--schema SCHEMA`. */
function readSchemaFormat(typed: TypedFlag<Flag>): TypedFlag<Flag> {
  const match =
    typed.flag.name === 'output-format' ? /^json_schema(?:=([\s\S]*))?$/u.exec(typed.value) : null;
  return match === null ? typed : flagFor('schema', `${typed.as} json_schema`, match[1] ?? '');
}

/** Treats the words that belong to no flag as `--prompt`. */
function readWords(words: readonly string[]): readonly TypedFlag<Flag>[] {
  return words.length === 0 ? [] : [flagFor('prompt', 'words that belong to no flag', words.join(' '))];
}

function flagFor(name: string, as: string, text: string): TypedFlag<Flag> {
  return { flag: { name, description: '', default: '' }, as, value: text.trim() };
}

function describeUnknownFlag(as: string): InputError {
  const name = as.replace(/^-+/u, '');
  if (/api[-_]?key$/iu.test(name)) {
    const why = 'every user of this machine can read a command line, and shells remember it';
    const instead = `Put the key into ${KEY_VARIABLE}, or the provider's own variable, such as ANTHROPIC_API_KEY.`;
    return new InputError(null, `${quote(as, DISPLAY.name)} is refused: ${why}. ${instead}`);
  }
  if (INPUTS.some((input) => input.where === 'github' && input.name === name))
    return new InputError(null, `${as} is an input of the GitHub Action only. Leave it out.`);
  const near = didYouMean(as, ALL_FLAGS.flatMap(spellings), 'See structured-agent --help.');
  return new InputError(null, `There is no flag ${quote(as, DISPLAY.name)}. ${near}`);
}

function own(name: string, description: string, more: Partial<Flag> = {}): Flag {
  return { name, description, default: '', ...more };
}
