/** Parses the flags of all commands, based on the tokens of node:util. */
import { parseArgs } from 'node:util';
import { InputError, throwProblems } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote, suggest } from '../text/messages.ts';

export interface FlagSpec {
  /** Without dashes. */
  readonly name: string;
  /** `list` may be given several times; `boolean` is on, off or `--no-NAME`; `switch` takes no value. */
  readonly kind: 'text' | 'list' | 'boolean' | 'switch';
  /** The placeholder for the value in messages. */
  readonly value: string;
  /** One letter each, without the dash. */
  readonly short: readonly string[];
  /** Other names, without dashes. */
  readonly aliases: readonly string[];
}

/** A flag as it was typed. */
export interface TypedFlag<F extends FlagSpec> {
  readonly flag: F;
  /** With its dashes, as the user wrote it, for messages. */
  readonly as: string;
  /** Trimmed and not empty; `true` or `false` for a boolean. */
  readonly value: string;
}

/** A parsed command line, in the order typed. */
export interface TypedLine<F extends FlagSpec> {
  readonly flags: readonly TypedFlag<F>[];
  readonly words: readonly string[];
  readonly problems: readonly InputError[];
}

/** Maps everything that can be typed, including dashes, to its flag. */
export function flagsByName<F extends FlagSpec>(specs: readonly F[]): ReadonlyMap<string, F> {
  return new Map(
    specs.flatMap((flag) => [
      ...[flag.name, ...flag.aliases].map((name) => [`--${name}`, flag] as const),
      ...flag.short.map((letter) => [`-${letter}`, flag] as const),
    ]),
  );
}

/**
 * Parses a command line. No message shows a value, which may be a secret in the wrong position.
 * @param describeUnknown creates the problem for an unknown flag, given without its value
 */
export function parseFlags<F extends FlagSpec>(
  argv: readonly string[],
  specs: readonly F[],
  describeUnknown: (as: string) => InputError,
): TypedLine<F> {
  const known = flagsByName(specs);
  const flags: TypedFlag<F>[] = [];
  const words: string[] = [];
  const problems: InputError[] = [];
  const done = new Set<number>();
  for (const token of tokensOf(argv, specs, known)) {
    const typed = argv[token.index] ?? '';
    // `-abc` yields a token for each letter, and the word after a boolean may be its value.
    if (token.kind === 'option-terminator' || done.has(token.index)) continue;
    done.add(token.index);
    if (token.kind === 'positional') {
      if (typed === '-' && !isAfterEnd(argv, token.index)) problems.push(describeUnknown(typed));
      else words.push(typed);
      continue;
    }
    if (!looksLikeFlag(typed)) {
      words.push(typed);
      continue;
    }
    const equals = typed.indexOf('=');
    const as = equals === -1 ? typed : typed.slice(0, equals);
    const inline = equals === -1 ? null : typed.slice(equals + 1);
    const next = argv[token.index + 1];
    const flag = known.get(as);
    const isNegated = flag === undefined;
    const meant = flag ?? (as.startsWith('--no-') ? known.get(`--${as.slice('--no-'.length)}`) : undefined);
    const value =
      meant === undefined || (isNegated && meant.kind !== 'boolean')
        ? describeUnknown(as)
        : readValue(meant, as, inline, next, isNegated);
    if (value instanceof InputError) problems.push(value);
    else if (meant !== undefined) flags.push({ flag: meant, as, value });
    if (!isNegated && flag.kind === 'boolean' && inline === null && (next === 'true' || next === 'false'))
      done.add(token.index + 1);
  }
  return { flags, words, problems };
}

/** Passes aliases as flags of their own and expands letters: node:util supports one letter per flag. */
function tokensOf<F extends FlagSpec>(
  argv: readonly string[],
  specs: readonly F[],
  known: ReadonlyMap<string, F>,
) {
  const args = argv.map((argument, at) => {
    const [, letter, rest = ''] = /^(-[a-z])(=[\s\S]*)?$/iu.exec(argument) ?? [];
    const flag = letter === undefined || isAfterEnd(argv, at) ? undefined : known.get(letter);
    return flag === undefined ? argument : `--${flag.name}${rest}`;
  });
  const options = Object.fromEntries(
    specs.flatMap(({ name, aliases, kind }) =>
      [name, ...aliases].map((each) => [
        each,
        { type: kind === 'text' || kind === 'list' ? ('string' as const) : ('boolean' as const) },
      ]),
    ),
  );
  return parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

function isAfterEnd(argv: readonly string[], at: number): boolean {
  const end = argv.indexOf('--');
  return end !== -1 && at > end;
}

function readValue(
  flag: FlagSpec,
  as: string,
  inline: string | null,
  next: string | undefined,
  isNegated: boolean,
): string | InputError {
  const { name, kind } = flag;
  if (isNegated)
    return inline === null
      ? 'false'
      : new InputError(name, `${as} takes no value. Write ${as} alone, or --${name}=true.`);
  if (kind === 'switch')
    return inline === null
      ? 'true'
      : new InputError(name, `${as} takes no value. Write ${as} alone, or leave it out.`);
  if (kind === 'boolean') {
    const value = inline ?? (next === 'false' ? 'false' : 'true');
    return value === 'true' || value === 'false'
      ? value
      : new InputError(
          name,
          `${as} is on or off: write ${as}, ${as}=false or --no-${name}, and no other value.`,
        );
  }
  if (inline === null && (next === undefined || isFlag(next))) return missingValue(flag, as, next);
  const value = (inline ?? next ?? '').trim();
  return value === ''
    ? new InputError(
        name,
        `${as} is given an empty value. Give one (is a variable of the shell not set?), or leave ${as} out.`,
      )
    : value;
}

function missingValue({ name, value }: FlagSpec, as: string, next: string | undefined): InputError {
  const what =
    next === undefined
      ? `${as} needs a value, and none follows.`
      : `${as} needs a value, and what follows looks like a flag.`;
  const dashed = next === undefined ? '' : ` A value that begins with a dash is written ${as}=VALUE.`;
  return new InputError(name, `${what} Write ${as} ${value}.${dashed}`);
}

/** Whether an argument begins like a flag. With two dashes spaces may follow: a flag quoted together with its value. */
function looksLikeFlag(argument: string): boolean {
  return isFlag(argument) || /^--[a-z]/iu.test(argument) || /^-[^\s]*$/u.test(argument);
}

/** Whether an argument can only be a flag: `--name`, `-x`, `--name=…`. */
function isFlag(argument: string): boolean {
  return argument === '--' || /^--?[a-z][\w-]*(?:=|$)/iu.test(argument);
}

/** Returns the problems with flags that are not lists but were given different values. */
export function findRepeated<F extends FlagSpec>(flags: readonly TypedFlag<F>[]): readonly InputError[] {
  const problems: InputError[] = [];
  const seen = new Map<F, TypedFlag<F>>();
  for (const typed of flags) {
    const { flag, as, value } = typed;
    const before = seen.get(flag);
    if (before === undefined) seen.set(flag, typed);
    if (before === undefined || flag.kind === 'list') continue;
    if (flag.kind === 'text')
      problems.push(
        new InputError(
          flag.name,
          before.as === as
            ? `${as} is given twice. Keep one of them.`
            : `${before.as} and ${as} are both given, and mean the same. Keep one of them.`,
        ),
      );
    else if (before.value !== value)
      problems.push(
        new InputError(flag.name, `--${flag.name} is switched both on and off. Keep one of them.`),
      );
  }
  return problems;
}

export type FlagTable = Readonly<Record<string, 'text' | 'list' | 'switch'>>;

export interface Flags {
  value(name: string): string | null;
  list(name: string): readonly string[];
  has(name: string): boolean;
  readonly positionals: readonly string[];
}

/**
 * Parses a subcommand's arguments. `-h` means `--help`, and after `--` nothing is a flag.
 * @param letters the one-letter forms, by the name of the flag
 * @throws InputError that names every invalid flag and the fix
 */
export function readFlags(
  command: string,
  argv: readonly string[],
  table: FlagTable,
  letters: Readonly<Record<string, string>> = {},
): Flags {
  const shorts: Readonly<Record<string, string>> = { ...letters, help: 'h' };
  const specs = Object.entries(table).map(([name, kind]) => ({
    name,
    kind,
    value: 'VALUE',
    short: [shorts[name] ?? []].flat(),
    aliases: [],
  }));
  const describeUnknown = (as: string) => unknownFlag(command, as, Object.keys(table));
  const { flags, words, problems } = parseFlags(argv, specs, describeUnknown);
  throwProblems([...problems, ...findRepeated(flags)]);
  const list = (name: string) => flags.flatMap((typed) => (typed.flag.name === name ? [typed.value] : []));
  return {
    positionals: words,
    list,
    value: (name) => list(name)[0] ?? null,
    has: (name) => list(name).length > 0,
  };
}

function unknownFlag(command: string, flag: string, known: readonly string[]): InputError {
  const near = suggest(flag.replace(/^-+/u, ''), known);
  const names = (near.length === 0 ? known : near).map((name) => `--${name}`).join(', ');
  const fix = near.length === 0 ? `Its flags are ${names}.` : `Did you mean ${names}?`;
  return new InputError(null, `structured-agent ${command} has no flag ${quote(flag, DISPLAY.name)}. ${fix}`);
}
