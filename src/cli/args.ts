/** Parses the command line's arguments: the command, its inputs, its own options, and all problems with them. */
import { didYouMean, findMisused, parseFlags, spellings, type TypedFlag } from '../commands/flags.ts';
import { INPUTS, type InputName, LOCAL_INPUTS, type RawInputs } from '../config/inputs.ts';
import { InputError } from '../errors.ts';
import type { OutputFormat } from '../reporters/stdout.ts';
import { DISPLAY } from '../text/limits.ts';
import { joinWithOr, KEY_VARIABLE, quote } from '../text/messages.ts';
import { COMMANDS, type CommandName, FLAGS, type Flag } from './flags.ts';

/** The options of a run that exist only on the command line. */
export interface CliOptions {
  readonly outputFormat: OutputFormat;
  /** No progress on stderr; the sentence that explains a failure is still written. */
  readonly quiet: boolean;
  /** The file to record the model's side in, as typed; null for none. */
  readonly record: string | null;
  /** The folder for the files that the run writes, as typed; null for none. */
  readonly results: string | null;
}

export interface RunCommand {
  readonly kind: 'run';
  readonly inputs: RawInputs;
  readonly options: CliOptions;
  /** The problems with the command line itself; the values of inputs are not checked yet. */
  readonly problems: readonly InputError[];
  /** Whether every argument was understood. If not, what seems to be missing may be in the others. */
  readonly isUnderstood: boolean;
}

export type CliCommand =
  | RunCommand
  | { readonly kind: CommandName; readonly rest: readonly string[] }
  /** `usage`: no arguments were given. */
  | { readonly kind: 'help' | 'version' | 'usage' };

type Environment = Readonly<Record<string, string | undefined>>;

const OUTPUT_FORMATS: readonly OutputFormat[] = ['text', 'json', 'stream-json', 'object'];
const ALL_FLAGS = Object.values(FLAGS).flat();
/** Flags of the source designs that ask for more than one verdict. */
const OTHER_MODES = ['-i', '--prompt-interactive', '--input-format', '--acp', '--experimental-acp'];

/** Parses the arguments, without the program's own name. The order of flags does not matter. */
export function parseCliArgs(argv: readonly string[], environment: Environment): CliCommand {
  const [first, ...rest] = argv;
  if (first === undefined) return { kind: 'usage' };
  if (isCommand(first)) return { kind: first, rest };
  const { flags, words, problems: unknown } = parseFlags(argv, ALL_FLAGS, describeUnknownFlag);
  const value = (name: string) => flags.find(({ flag }) => flag.name === name)?.value ?? null;
  if (value('help') !== null || (first === 'help' && rest.length === 0)) return { kind: 'help' };
  if (value('version') !== null) return { kind: 'version' };

  const typed = [...flags.map(readSchemaFormat), ...readWords(words)];
  const format = typed.find(({ flag }) => flag.name === 'output-format')?.value ?? 'text';
  const outputFormat = OUTPUT_FORMATS.find((each) => each === format.toLowerCase());
  const problems = unknown.length > 0 ? [...unknown] : [...findMisused(typed)];
  if (outputFormat === undefined && format !== '') {
    const why = `${quote(format, DISPLAY.name)} is not a format. Use ${joinWithOr(OUTPUT_FORMATS)}.`;
    problems.push(new InputError('output-format', why));
  }
  return {
    kind: 'run',
    inputs: collectInputs(typed, environment),
    problems,
    isUnderstood: unknown.length === 0,
    options: {
      outputFormat: outputFormat ?? 'text',
      quiet: value('quiet') !== null,
      record: value('record'),
      results: value('results'),
    },
  };
}

function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
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
  if (OTHER_MODES.includes(as))
    return new InputError(null, `${as} is refused: a run asks once and ends with one verdict. Leave it out.`);
  if (INPUTS.some((input) => input.where === 'github' && input.name === name))
    return new InputError(null, `${as} is an input of the GitHub Action only. Leave it out.`);
  const near = didYouMean(as, ALL_FLAGS.flatMap(spellings), 'See structured-agent --help.');
  const blank = /\s/u.test(as) ? ' A flag and its value are two arguments: quote the value only.' : '';
  return new InputError(null, `There is no flag ${quote(as, DISPLAY.name)}. ${near}${blank}`);
}
