/** A command line taken apart: which flag was typed with which value, and the words that belong to none. */

import { INPUTS } from '../config/inputs.ts';
import { InputError } from '../errors.ts';
import { quote, suggest } from '../text/messages.ts';
import { FLAGS, type Flag, REFUSED } from './flags.ts';

/** One flag as it was typed. */
export interface TypedFlag {
  readonly flag: Flag;
  /** With its dashes, as the user wrote it: what messages name. */
  readonly as: string;
  /** Trimmed and not empty; of a boolean `true` or `false`. */
  readonly value: string;
}

/** A command line taken apart, in the order of typing. */
export interface ScannedLine {
  readonly flags: readonly TypedFlag[];
  readonly words: readonly string[];
}

const BY_NAME: ReadonlyMap<string, Flag> = new Map(
  FLAGS.flatMap((flag) => [
    ...[flag.name, ...flag.aliases].map((name) => [`--${name}`, flag] as const),
    ...flag.short.map((letter) => [`-${letter}`, flag] as const),
  ]),
);

/**
 * Takes a command line apart. No message shows a value, which may be a secret in the wrong place.
 * @throws InputError for a flag that there is not, and for a value that is missing or empty.
 */
export function scanLine(argv: readonly string[]): ScannedLine {
  const flags: TypedFlag[] = [];
  const words: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? '';
    if (argument === '--') {
      words.push(...argv.slice(at + 1));
      break;
    }
    if (!beginsLikeFlag(argument)) {
      words.push(argument);
      continue;
    }
    const next = argv[at + 1];
    const { typed, tookNext } = readFlag(argument, next);
    flags.push(typed);
    if (tookNext) at += 1;
  }
  return { flags, words };
}

/** Whether a flag that needs nothing else, such as `--help`, was typed, whatever is wrong beside it. */
export function isAsked(name: 'help' | 'version', argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const line = end === -1 ? argv : argv.slice(0, end);
  return line.some((argument) => BY_NAME.get(argument)?.name === name);
}

function readFlag(argument: string, next: string | undefined): { typed: TypedFlag; tookNext: boolean } {
  const equals = argument.indexOf('=');
  const as = equals === -1 ? argument : argument.slice(0, equals);
  const inline = equals === -1 ? null : argument.slice(equals + 1);
  const flag = BY_NAME.get(as);
  if (flag === undefined) return { typed: readNegation(as, inline), tookNext: false };
  if (flag.kind === 'boolean') {
    const tookNext = inline === null && (next === 'true' || next === 'false');
    const value = inline ?? (tookNext ? next : 'true');
    if (value !== 'true' && value !== 'false')
      throw new InputError(
        flag.name,
        `${as} is on or off: write ${as}, ${as}=false or --no-${flag.name}, and no other value.`,
      );
    return { typed: { flag, as, value }, tookNext };
  }
  if (inline === null && (next === undefined || isFlag(next))) throw missingValue(flag, as, next);
  const value = (inline ?? next ?? '').trim();
  if (value === '')
    throw new InputError(
      flag.name,
      `${as} is given an empty value. Give one (is a variable of the shell not set?), or leave ${as} out.`,
    );
  return { typed: { flag, as, value }, tookNext: inline === null };
}

/** `--no-NAME` of a boolean flag. */
function readNegation(as: string, inline: string | null): TypedFlag {
  const flag = as.startsWith('--no-') ? BY_NAME.get(`--${as.slice('--no-'.length)}`) : undefined;
  if (flag?.kind !== 'boolean') throw unknownFlag(as);
  if (inline !== null)
    throw new InputError(flag.name, `${as} takes no value. Write ${as} alone, or --${flag.name}=true.`);
  return { flag, as, value: 'false' };
}

/** One argument that begins as a flag does; with two dashes also where blanks follow: a flag quoted with its value. */
function beginsLikeFlag(argument: string): boolean {
  return isFlag(argument) || /^--[a-z]/iu.test(argument) || /^-[^\s]*$/u.test(argument);
}

/** One argument that can be nothing but a flag: `--name`, `-x`, `--name=…`. */
function isFlag(argument: string): boolean {
  return argument === '--' || /^--?[a-z][\w-]*(?:=|$)/iu.test(argument);
}

function missingValue(flag: Flag, as: string, next: string | undefined): InputError {
  const what =
    next === undefined
      ? `${as} needs a value, and none follows.`
      : `${as} needs a value, and what follows looks like a flag.`;
  const meant = next === undefined ? '' : ` A value that begins with a dash is written ${as}=VALUE.`;
  return new InputError(flag.name, `${what} Write ${as} ${flag.value}.${meant}`);
}

function unknownFlag(as: string): InputError {
  const name = as.replace(/^-+/u, '');
  if (as === '-' || as === '')
    return new InputError(
      null,
      'A lone - is no flag: stdin is read by itself where it is no terminal. Leave it out.',
    );
  const shown = quote(as, 60);
  if (/(?:^|[-_])api[-_]key$/iu.test(name)) return keyOnLine(as);
  const reason = REFUSED.get(name);
  if (reason !== undefined) return new InputError(name, `${as} is refused: ${reason}`);
  const input = INPUTS.find((each) => each.where === 'github' && each.name === name);
  if (input !== undefined)
    return new InputError(
      name,
      `${as} is no flag: ${name} is an input of the GitHub Action only, where there is a workflow to tell. Leave it out here.`,
    );
  const blank = /\s/u.test(as) ? ' A flag and its value are two arguments: quote the value only.' : '';
  const near = suggest(
    name.split(/\s/u)[0] ?? name,
    FLAGS.flatMap((flag) => [flag.name, ...flag.aliases]),
  );
  const meant = near.length === 0 ? '' : ` Did you mean ${near.map((each) => `--${each}`).join(' or ')}?`;
  return new InputError(null, `There is no flag ${shown}.${meant}${blank} See structured-agent --help.`);
}

function keyOnLine(as: string): InputError {
  return new InputError(
    'api-key',
    `${as} is refused: every user of this machine can read a command line, and shells remember it. Put the key into the variable of your provider (such as ANTHROPIC_API_KEY or OPENAI_API_KEY), or into STRUCTURED_AGENT_API_KEY for any provider.`,
  );
}
