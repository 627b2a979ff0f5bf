/** Parses the flags of all commands strictly, with the fix in every problem. */
import { InputError, messageFor, throwProblems } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';
import { givenTwice, joinWithOr, quote, suggest } from '../text/messages.ts';
import { inertLine } from '../text/sanitize.ts';

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
  const flags: TypedFlag<F>[] = [];
  const words: string[] = [];
  const problems: InputError[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const typed = argv[at] ?? '';
    if (typed === '--') return { flags, words: [...words, ...argv.slice(at + 1)], problems };
    // A sentence may begin with a dash. With two dashes a blank may follow.
    if (!/^--[a-z]|^-\S*$/iu.test(typed)) {
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
    const next = argv[at + 1];
    const isSwitch = flag.kind === 'boolean';
    const takesNext = inline === undefined && (!isSwitch || next === 'true' || next === 'false');
    if (takesNext) at += 1;
    const given = takesNext ? next : inline;
    const problem = problemWith(flag, as, given, takesNext);
    if (problem !== null) problems.push(new InputError(flag.name, `It ${problem}`));
    else flags.push({ flag, as, value: flag === negated ? 'false' : (given?.trim() ?? 'true') });
  }
  return { flags, words, problems };
}

function problemWith(flag: FlagSpec, as: string, given: string | undefined, isNext: boolean): string | null {
  if (flag.kind === 'boolean') {
    if (given === undefined) return null;
    if (as.startsWith('--no-')) return `takes no value. Write ${as} alone, or --${flag.name}=true.`;
    if (given === 'true' || given === 'false') return null;
    return `is on or off: write ${as}, ${as}=false or --no-${flag.name}, and no other value.`;
  }
  if (given === undefined) return `needs a value, and none follows. Write ${as} ${flag.value}.`;
  if (isNext && /^--$|^--?[a-z][\w-]*(?:=|$)/iu.test(given))
    return `needs a value, and what follows looks like a flag. Write ${as} ${flag.value}. A value that begins with a dash is written ${as}=VALUE.`;
  if (given.trim() !== '') return null;
  return `is given an empty value. Give one (is a variable of the shell not set?), or leave ${as} out.`;
}

/** Returns the problems with flags that are not lists but were given more than once. */
export function findRepeated<F extends FlagSpec>(flags: readonly TypedFlag<F>[]): readonly InputError[] {
  return flags.flatMap(({ flag, as, value }, at) => {
    const before = flags.find((each) => each.flag === flag);
    if (before === undefined || before === flags[at] || flag.kind === 'list') return [];
    if (flag.kind === 'boolean' && before.value === value) return [];
    const what = flag.kind === 'boolean' ? 'It is switched both on and off' : givenTwice(before.as, as);
    return [new InputError(flag.name, `${what}. Keep one of them.`)];
  });
}

/** Suggests what was meant. */
export function didYouMean(given: string, known: readonly string[], otherwise: string): string {
  const near = suggest(given, known);
  return near.length === 0 ? otherwise : `Did you mean ${joinWithOr(near)}?`;
}

/** A subcommand. `-h` means `--help`, and after `--` nothing is a flag. */
export interface Command {
  readonly name: string;
  /** All but `help`. */
  readonly flags: Readonly<Record<string, FlagSpec['kind']>>;
  readonly help: string;
}

export interface CommandIo {
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** The exit code of a run that refuses its input. */
export const REFUSED = 52;

export type Flags = ReturnType<typeof readFlags>;

/** @throws InputError that names every invalid flag and the fix */
function readFlags({ name: command, flags: kinds }: Command, argv: readonly string[]) {
  const specs = Object.entries({ ...kinds, help: 'boolean' as const }).map(([name, kind]) => {
    return { name, kind, value: 'VALUE', short: name === 'help' ? ['h'] : [], aliases: [] };
  });
  const names = specs.map(({ name }) => `--${name}`);
  const { flags, words, problems } = parseFlags(argv, specs, (as) => {
    const unknown = `${command} has no flag ${quote(as, DISPLAY.name)}.`;
    return new InputError(null, `${unknown} Its flags are ${names.join(', ')}.`);
  });
  throwProblems([...problems, ...findRepeated(flags)]);
  const list = (name: string) => flags.filter(({ flag }) => flag.name === name).map(({ value }) => value);
  return {
    positionals: words,
    list,
    value: (name: string) => list(name)[0] ?? null,
    has: (name: string) => list(name).includes('true'),
  };
}

/** Runs a subcommand, or shows its help. Returns the exit code; an InputError becomes one line of stderr. */
export async function runCommand(
  command: Command,
  argv: readonly string[],
  io: CommandIo,
  work: (flags: Flags) => Promise<number>,
): Promise<number> {
  try {
    const flags = readFlags(command, argv);
    if (!flags.has('help')) return await work(flags);
    io.stdout.write(command.help);
    return 0;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const problem = inertLine(messageFor(error, 'command-line'), DISPLAY.line);
    io.stderr.write(`structured-agent ${command.name}: ${problem}\n`);
    return REFUSED;
  }
}
