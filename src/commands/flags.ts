/** Parses the flags of all commands: the tokens of node:util, read strictly, with the fix in every problem. */
import { parseArgs } from 'node:util';
import { InputError, throwProblems } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote, suggest } from '../text/messages.ts';

export interface FlagSpec {
  /** Without dashes, like `aliases`. */
  readonly name: string;
  /** `list` may be given several times; `boolean` is on, off or `--no-NAME`. */
  readonly kind: 'text' | 'list' | 'boolean';
  /** The placeholder for the value in messages. */
  readonly value: string;
  /** One letter each. */
  readonly short: readonly string[];
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
  const options = Object.fromEntries(
    [...known].map(([as, { kind }]) => {
      const type = kind === 'boolean' ? ('boolean' as const) : ('string' as const);
      return as.startsWith('--') ? [as.slice(2), { type }] : [as.slice(1), { type, short: as.slice(1) }];
    }),
  );
  const flags: TypedFlag<F>[] = [];
  const words: string[] = [];
  const problems: InputError[] = [];
  let isEnded = false;
  let done = -1;
  // The strict mode of node:util stops at the first problem, so its tokens are checked here.
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const { kind, index } of tokens) {
    isEnded ||= kind === 'option-terminator';
    // `-abc` yields a token for each letter, and the word after a boolean may be its value.
    if (kind === 'option-terminator' || index <= done) continue;
    done = index;
    const typed = argv[index] ?? '';
    if (isEnded || !looksLikeFlag(typed)) {
      words.push(typed);
      continue;
    }
    const [, as = typed, inline] = /^([^=]*)=([\s\S]*)$/u.exec(typed) ?? [];
    const negated = as.startsWith('--no-') ? known.get(as.replace('--no-', '--')) : undefined;
    const flag = known.get(as) ?? (negated?.kind === 'boolean' ? negated : undefined);
    if (flag === undefined) {
      problems.push(describeUnknown(as));
      continue;
    }
    const next = argv[index + 1];
    const hasNext = flag.kind === 'boolean' ? next === 'true' || next === 'false' : true;
    const given = inline ?? (hasNext ? next : undefined);
    if (inline === undefined && hasNext) done = index + 1;
    const problem = problemWith(flag, as, given, inline !== undefined);
    if (problem !== null) problems.push(new InputError(flag.name, `${as} ${problem}`));
    else flags.push({ flag, as, value: flag === negated ? 'false' : (given?.trim() ?? 'true') });
  }
  return { flags, words, problems };
}

function problemWith(
  flag: FlagSpec,
  as: string,
  given: string | undefined,
  isInline: boolean,
): string | null {
  if (flag.kind === 'boolean') {
    if (as.startsWith('--no-') && given !== undefined)
      return `takes no value. Write ${as} alone, or --${flag.name}=true.`;
    if (given === undefined || given === 'true' || given === 'false') return null;
    return `is on or off: write ${as}, ${as}=false or --no-${flag.name}, and no other value.`;
  }
  if (given === undefined) return `needs a value, and none follows. Write ${as} ${flag.value}.`;
  if (!isInline && /^--$|^--?[a-z][\w-]*(?:=|$)/iu.test(given))
    return `needs a value, and what follows looks like a flag. Write ${as} ${flag.value}. A value that begins with a dash is written ${as}=VALUE.`;
  if (given.trim() !== '') return null;
  return `is given an empty value. Give one (is a variable of the shell not set?), or leave ${as} out.`;
}

/** Whether an argument is a flag, and not a sentence that begins with a dash. With two dashes a blank may follow. */
function looksLikeFlag(argument: string): boolean {
  return /^--[a-z]|^-\S*$/iu.test(argument);
}

/** Returns the problems with flags that are not lists but were given more than once. */
export function findRepeated<F extends FlagSpec>(flags: readonly TypedFlag<F>[]): readonly InputError[] {
  return flags.flatMap(({ flag, as, value }, at) => {
    const before = flags.find((each) => each.flag === flag);
    if (before === undefined || before === flags[at] || flag.kind === 'list') return [];
    if (flag.kind === 'boolean' && before.value === value) return [];
    const twice =
      before.as === as ? `${as} is given twice` : `${before.as} and ${as} are both given, and mean the same`;
    const what = flag.kind === 'boolean' ? `--${flag.name} is switched both on and off` : twice;
    return [new InputError(flag.name, `${what}. Keep one of them.`)];
  });
}

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
  table: Readonly<Record<string, 'text' | 'list' | 'switch'>>,
  letters: Readonly<Record<string, string>> = {},
): Flags {
  const names = Object.keys(table);
  const shorts = new Map(Object.entries({ ...letters, help: 'h' }));
  const specs = Object.entries(table).map(([name, kind]) => ({
    name,
    kind: kind === 'switch' ? ('boolean' as const) : kind,
    value: 'VALUE',
    short: [shorts.get(name) ?? []].flat(),
    aliases: [],
  }));
  const { flags, words, problems } = parseFlags(argv, specs, (as) => {
    const near = suggest(as.replace(/^-+/u, ''), names);
    const listed = (near.length === 0 ? names : near).map((name) => `--${name}`).join(', ');
    const fix = near.length === 0 ? `Its flags are ${listed}.` : `Did you mean ${listed}?`;
    return new InputError(null, `${command} has no flag ${quote(as, DISPLAY.name)}. ${fix}`);
  });
  throwProblems([...problems, ...findRepeated(flags)]);
  const list = (name: string) => flags.filter(({ flag }) => flag.name === name).map(({ value }) => value);
  return {
    positionals: words,
    list,
    value: (name) => list(name)[0] ?? null,
    has: (name) => list(name).includes('true'),
  };
}
