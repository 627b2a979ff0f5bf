/** Parses the command line's arguments: the command, its inputs, its own options, and all problems with them. */

import { findRepeated, flagsByName, parseFlags, type TypedFlag, type TypedLine } from '../commands/flags.ts';
import { EXAMPLE_MODEL, INPUTS, type InputName, type RawInputs } from '../config/inputs.ts';
import { InputError } from '../errors.ts';
import type { OutputFormat } from '../reporters/stdout.ts';
import { DISPLAY } from '../text/limits.ts';
import { givenTwice, joinWithOr, quote, suggest } from '../text/messages.ts';
import { KEY_VARIABLE } from '../text/naming.ts';
import { COMMANDS, type CommandName, FLAGS, type Flag, HEADERS_VARIABLE, REFUSED_FLAGS } from './flags.ts';
import { helpText, usageText } from './help.ts';

/** The values of `--output-format`: what is written to stdout. */
const OUTPUT_FORMATS: readonly OutputFormat[] = ['text', 'json', 'stream-json', 'object'];

/** The options of a run that exist only on the command line. */
export interface CliOptions {
  readonly outputFormat: OutputFormat;
  /** No progress on stderr; the sentence that explains a failure is still written. */
  readonly quiet: boolean;
  /** The file to record the model's side in, as typed; null for none. */
  readonly record: string | null;
  /** The folder for the files that the run writes, as typed; null for none. */
  readonly results: string | null;
  /** How stdin is used: as the whole task, as text before the task, or not at all. */
  readonly stdin: 'prompt' | 'beside' | 'unused';
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
  | { readonly kind: 'help'; readonly text: string }
  /** No arguments were given: the text is written to stderr, with the exit code of a configuration error. */
  | { readonly kind: 'usage'; readonly text: string }
  | { readonly kind: 'version' };

export interface CliWorld {
  readonly stdinIsTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type Line = TypedLine<Flag>;
type Typed = TypedFlag<Flag>;

/**
 * Parses the arguments, without the program's own name. The order of flags does not matter, and no problem quotes a
 * value.
 * @throws InputError when the arguments are not a run at all, such as an unknown command
 */
export function parseCliArgs(argv: readonly string[], world: CliWorld): CliCommand {
  const [first, ...rest] = argv;
  if (first === undefined) return { kind: 'usage', text: usageText() };
  const command = COMMANDS.find((each) => each === first);
  if (command !== undefined) return { kind: command, rest };
  const about = COMMANDS.find((each) => each === rest[0]);
  if (first === 'help' && about !== undefined && rest.length === 1) return { kind: about, rest: ['--help'] };
  refuseUnknownHelp(argv);
  // Followed by more words, "help" is the beginning of a task.
  const isAlone = first === 'help' && rest.length === 0;
  if (isAlone || isAsked('help', argv)) return { kind: 'help', text: helpText() };
  if (isAsked('version', argv)) return { kind: 'version' };
  refuseLoneWord(argv);
  return parseRun(argv, world);
}

const BY_NAME = flagsByName(FLAGS);

/** Whether a flag such as `--help` was given, which works whatever else is wrong. */
function isAsked(name: 'help' | 'version', argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const line = end === -1 ? argv : argv.slice(0, end);
  return line.some((argument) => BY_NAME.get(argument)?.name === name);
}

function parseRun(argv: readonly string[], world: CliWorld): RunCommand {
  const line = parseFlags(argv, FLAGS, describeUnknownFlag);
  const { flags, words } = line;
  const merge = findMerge(argv);
  const notUnderstood = merge === null ? line.problems : [merge];
  const inputs = readInputs(line, world);
  const hasTask = inputs.has('prompt') || inputs.has('prompt-file');
  const format = readOutputFormat(flags);
  const problems =
    notUnderstood.length > 0
      ? notUnderstood
      : [
          ...findOtherModes(flags),
          ...findSecrets(flags),
          ...findRepeated(flags),
          ...findTwoTasks(line),
          ...findCommandWords(words),
          ...readSchema(flags).problems,
          ...findMissing(inputs, hasTask, world),
          ...format.problems,
        ];
  return {
    kind: 'run',
    inputs,
    problems,
    isUnderstood: notUnderstood.length === 0,
    options: {
      outputFormat: format.value,
      quiet: findValue(flags, 'quiet') === 'true',
      record: findValue(flags, 'record'),
      results: findValue(flags, 'results'),
      stdin: world.stdinIsTerminal ? 'unused' : hasTask ? 'beside' : 'prompt',
    },
  };
}

/**
 * Collects the value of each input, including secrets from the environment. List entries are joined with line breaks,
 * in the order given.
 */
function readInputs({ flags, words }: Line, { environment }: CliWorld): Map<InputName, string> {
  const inputs = new Map<InputName, string>();
  const append = (name: InputName, value: string) => {
    const before = inputs.get(name);
    inputs.set(name, before === undefined ? value : `${before}\n${value}`);
  };
  for (const { flag, value } of flags) if (flag.input !== null) append(flag.input, value);
  // In the form the input takes, whichever flag provided it.
  const schema = readSchema(flags).value;
  if (schema !== null) inputs.set('schema', schema);
  if (words.length > 0) inputs.set('prompt', words.join(' ').trim());
  const key = environment[KEY_VARIABLE]?.trim() ?? '';
  if (key !== '') inputs.set('api-key', key);
  const headers = environment[HEADERS_VARIABLE]?.trim() ?? '';
  if (headers !== '') append('headers', headers);
  return inputs;
}

function findMissing(
  inputs: RawInputs,
  hasTask: boolean,
  { stdinIsTerminal }: CliWorld,
): readonly InputError[] {
  const problems: InputError[] = [];
  if (!hasTask && stdinIsTerminal)
    problems.push(
      new InputError(
        'prompt',
        'No task is given. Write -p "the task", name a file with --prompt-file, or pipe the task in. See structured-agent --help.',
      ),
    );
  if (!inputs.has('model') && !inputs.has('replay'))
    problems.push(new InputError('model', `No model is given. Name one, for example ${EXAMPLE_MODEL}.`));
  return problems;
}

/** A value that several flags can set, and the problems with how it was given. */
interface ReadValue<T> {
  readonly value: T;
  readonly problems: readonly InputError[];
}

/** `--output-format` can also set the schema: `-f json_schema=…`. */
const FORMAT_SCHEMA = /^json_schema(?:=([\s\S]*))?$/iu;

/** Returns the schema in the form the input takes; null when none was given. */
function readSchema(flags: readonly Typed[]): ReadValue<string | null> {
  const sources = flags.flatMap(({ flag, as, value }) => {
    if (flag.name === 'schema' || flag.name === 'json-schema') return [{ as, text: value }];
    const match = flag.name === 'output-format' ? FORMAT_SCHEMA.exec(value) : null;
    return match === null ? [] : [{ as: `${as} json_schema`, text: (match[1] ?? '').trim() }];
  });
  const [one, two] = sources;
  if (one === undefined) return { value: null, problems: [] };
  if (two !== undefined) {
    const what = `${givenTwice(one.as, two.as)}. Keep one of them.`;
    return { value: one.text, problems: [new InputError('schema', what)] };
  }
  if (one.text !== '') return { value: one.text, problems: [] };
  const fix = `${one.as} has no schema. Write ${one.as}='{"type":"object"}' or a path.`;
  return { value: null, problems: [new InputError('schema', fix)] };
}

/** Returns the output format; `text` by default. On an invalid command line it is the first valid format. */
function readOutputFormat(flags: readonly Typed[]): ReadValue<OutputFormat> {
  const given = flags.filter(
    ({ flag, value }) => flag.name === 'output-format' && !FORMAT_SCHEMA.test(value),
  );
  const formats = given.map((each) => OUTPUT_FORMATS.find((format) => format === each.value.toLowerCase()));
  const value = formats.find((format) => format !== undefined) ?? 'text';
  const [one, two] = given;
  if (one !== undefined && two !== undefined) {
    const what = `${givenTwice(one.as, two.as)}. Keep one of them.`;
    return { value, problems: [new InputError('output-format', what)] };
  }
  if (one === undefined || formats[0] !== undefined) return { value, problems: [] };
  const fix = `There is no such format. Write ${OUTPUT_FORMATS.join(', ')} or json_schema='SCHEMA'.`;
  return { value, problems: [new InputError('output-format', fix)] };
}

function findValue(flags: readonly Typed[], name: string): string | null {
  return flags.find((each) => each.flag.name === name)?.value ?? null;
}

/** Matches names of headers whose value is probably a secret. */
const SECRET_NAME = /auth|cookie|credential|key|passw|pwd|secret|session|token/iu;

/** Finds headers that look like secrets: other users can read a command line, and shells and logs store it. */
function findSecrets(flags: readonly Typed[]): readonly InputError[] {
  const headers = flags.filter(({ flag }) => flag.name === 'headers');
  return headers.flatMap(({ value }) =>
    value.split(/\r?\n/u).flatMap((line) => {
      const name = line.includes(':') ? (line.split(':')[0] ?? '').trim().toLowerCase() : '';
      if (!SECRET_NAME.test(name)) return [];
      const shown = /^[a-z0-9-]{1,60}$/u.test(name) ? ` ${name}` : '';
      return [
        new InputError(
          'headers',
          `The header${shown} looks like a secret: every user of this machine can read a command line, and shells remember it. Put the line into the variable ${HEADERS_VARIABLE}.`,
        ),
      ];
    }),
  );
}

/** Finds flags that ask for something other than a single run with one verdict. */
function findOtherModes(flags: readonly Typed[]): readonly InputError[] {
  const problems: InputError[] = [];
  if (flags.some((each) => each.flag.name === 'input-format' && each.value !== 'text'))
    problems.push(
      new InputError(
        'input-format',
        `It is refused: a run asks once and ends with one verdict, so stdin is one text and no stream of messages. Leave it out, and pipe the text in.`,
      ),
    );
  if (flags.some((each) => each.flag.name === 'bare' && each.value === 'false'))
    problems.push(
      new InputError(
        'bare',
        'Every run is bare: nothing but what is typed counts, and that cannot be switched off. Leave it out.',
      ),
    );
  if (findValue(flags, 'record') !== null && findValue(flags, 'replay') !== null)
    problems.push(
      new InputError(
        'record',
        '--replay is given too, and a replay asks no model, so there is nothing new to record. Keep one of them.',
      ),
    );
  return problems;
}

/** Finds a task given in two ways, and an empty one. */
function findTwoTasks({ flags, words }: Line): readonly InputError[] {
  const sources = flags
    .filter(({ flag }) => flag.name === 'prompt' || flag.name === 'prompt-file')
    .map((each) => each.as);
  const hasWords = words.length > 0;
  if (hasWords && words.join('').trim() === '')
    return [new InputError('prompt', 'The task is empty. Write what is to be done.')];
  const [one, two] = hasWords ? [...sources, 'words that belong to no flag'] : [...new Set(sources)];
  // One flag with two values is reported for any flag.
  const isRepeated = new Set(flags.flatMap(({ flag, as }) => (sources.includes(as) ? [flag] : []))).size < 2;
  if (one === undefined || two === undefined || (isRepeated && !hasWords)) return [];
  const advice = hasWords ? ' A value with blanks is quoted, and a list takes one value a flag.' : '';
  return [
    new InputError('prompt', `The task is given twice: by ${one} and by ${two}. Keep one of them.${advice}`),
  ];
}

const COMMAND_LIST = `The commands are ${COMMANDS.slice(0, -1).join(', ')} and ${COMMANDS.at(-1)}`;

/** Finds `merge` used as a command: followed by nothing, flags or a path, but not by a sentence. */
function findMerge([first, second]: readonly string[]): InputError | null {
  if (first !== 'merge' || (second !== undefined && !/^-|[/\\]/u.test(second))) return null;
  return new InputError(
    null,
    'There is no command "merge": merging verdicts exists only as a GitHub Action, in the folder merge/ of this one (see docs/many-legs.md). As a task, write it after -p.',
  );
}

/** @throws InputError for a single word: without a model it is not yet a task, and may have been meant as a command */
function refuseLoneWord(argv: readonly string[]): void {
  const [word = '', ...more] = argv;
  if (more.length > 0 || !/^[a-z][a-z-]*$/u.test(word) || suggest(word, COMMANDS, 1).length > 0) return;
  throw (
    findMerge(argv) ??
    new InputError(
      null,
      `There is no command ${quote(word, DISPLAY.name)}. ${COMMAND_LIST}. A task of one word is written after -p.`,
    )
  );
}

/** Finds words that were probably meant as a command. */
function findCommandWords(words: readonly string[]): readonly InputError[] {
  const merge = words.length === 1 ? findMerge(words) : null;
  if (merge !== null) return [merge];
  const [word = '', ...more] = words;
  const command = COMMANDS.find((each) => each === word);
  if (command !== undefined) {
    const fix = `${command} is a command, and comes first: structured-agent ${command}. As a task, write it after -p.`;
    return [new InputError(null, fix)];
  }
  // A typo in a command must not be sent to a model as a task.
  const near = more.length === 0 && /^[a-z]+$/u.test(word) ? suggest(word, COMMANDS, 1)[0] : undefined;
  if (near === undefined) return [];
  const fix = `There is no command ${quote(word, DISPLAY.name)}. Did you mean ${near}? A task of one word is written after -p.`;
  return [new InputError(null, fix)];
}

/** @throws InputError for `help` followed by one word that is not a command */
function refuseUnknownHelp([first, word, ...more]: readonly string[]): void {
  if (first !== 'help' || word === undefined || word.startsWith('-') || more.length > 0) return;
  const near = suggest(word, COMMANDS, 1)[0];
  const fix =
    near === undefined
      ? `${COMMAND_LIST}; structured-agent --help lists every flag.`
      : `Did you mean structured-agent help ${near}?`;
  throw findMerge([word]) ?? new InputError(null, `There is no command ${quote(word, DISPLAY.name)}. ${fix}`);
}

function describeUnknownFlag(as: string): InputError {
  const name = as.replace(/^-+/u, '');
  if (name === '')
    return new InputError(
      null,
      'A lone - is no flag: stdin is read by itself where it is no terminal. Leave it out.',
    );
  if (/(?:^|[-_])api[-_]key$/iu.test(name))
    return new InputError(
      null,
      `${as} is refused: every user of this machine can read a command line, and shells remember it. Put the key into the variable of your provider (such as ANTHROPIC_API_KEY or OPENAI_API_KEY), or into ${KEY_VARIABLE} for any provider.`,
    );
  const reason = REFUSED_FLAGS.get(name);
  if (reason !== undefined) return new InputError(null, `${as} is refused: ${reason}`);
  const input = INPUTS.find((each) => each.where === 'github' && each.name === name);
  if (input !== undefined)
    return new InputError(
      null,
      `${as} is no flag: ${name} is an input of the GitHub Action only, where there is a workflow to tell. Leave it out here.`,
    );
  const blank = /\s/u.test(as) ? ' A flag and its value are two arguments: quote the value only.' : '';
  const near = suggest(
    name.split(/\s/u)[0] ?? name,
    FLAGS.flatMap((flag) => [flag.name, ...flag.aliases]),
  );
  const meant = near.length === 0 ? '' : ` Did you mean ${joinWithOr(near.map((each) => `--${each}`))}?`;
  return new InputError(
    null,
    `There is no flag ${quote(as, DISPLAY.name)}.${meant}${blank} See structured-agent --help.`,
  );
}
