/** Parses the flags of all commands strictly, with the fix in every problem. */
import { InputError, messageFor, throwProblems } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';
import { joinWithOr, quote, suggest } from '../text/messages.ts';
import { inertLine } from '../text/sanitize.ts';

export interface FlagSpec {
  /** Without dashes, like `also`. */
  readonly name: string;
  /** `list` may be given several times, `boolean` is on if it is given. Default: one text. */
  readonly kind?: 'text' | 'list' | 'boolean';
  /** Other names; one of a single letter is written with one dash. */
  readonly also?: readonly string[];
}

/** A flag as it was typed. */
export interface TypedFlag<F extends FlagSpec> {
  readonly flag: F;
  /** With its dashes, as the user wrote it, for messages. */
  readonly as: string;
  /** Trimmed; `true` for a boolean. */
  readonly value: string;
}

/** A parsed command line, in the order typed. */
export interface TypedLine<F extends FlagSpec> {
  readonly flags: readonly TypedFlag<F>[];
  readonly words: readonly string[];
  readonly problems: readonly InputError[];
}

/** Returns the names of a flag with their dashes. */
export function spellings({ name, also = [] }: FlagSpec): readonly string[] {
  return [name, ...also].map((each) => (each.length === 1 ? `-${each}` : `--${each}`));
}

/** Returns what stands for the value of a flag in messages: `USD` for `max-cost-usd`. */
export function placeholder({ name, kind }: FlagSpec): string {
  return kind === 'boolean' ? '' : (name.split('-').at(-1) ?? name).toUpperCase();
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
  const known = new Map(specs.flatMap((flag) => spellings(flag).map((as) => [as, flag] as const)));
  const flags: TypedFlag<F>[] = [];
  const words: string[] = [];
  const problems: InputError[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const typed = argv[at] ?? '';
    if (typed === '--') return { flags, words: [...words, ...argv.slice(at + 1)], problems };
    const [, as = typed, inline] = /^([^=]*)=([\s\S]*)$/u.exec(typed) ?? [];
    const flag = known.get(as);
    // A sentence may begin with a dash. With two dashes a blank may follow.
    if (flag === undefined && !/^--[a-z]|^-\S*$/iu.test(typed)) {
      words.push(typed);
      continue;
    }
    if (flag === undefined) problems.push(describeUnknown(as));
    else if (flag.kind === 'boolean') {
      if (inline !== undefined) problems.push(new InputError(flag.name, `It takes no value. Write ${as}.`));
      flags.push({ flag, as, value: 'true' });
    } else {
      const next = argv[at + 1];
      const isFlag = next === undefined || /^--$|^--?[a-z][\w-]*(?:=|$)/iu.test(next);
      if (inline === undefined && isFlag)
        problems.push(new InputError(flag.name, `It needs a value. Write ${as}=${placeholder(flag)}.`));
      else {
        if (inline === undefined) at += 1;
        flags.push({ flag, as, value: (inline ?? next ?? '').trim() });
      }
    }
  }
  return { flags, words, problems };
}

/** Returns the problems with values that are empty, and with flags that were given twice but are not lists. */
export function findMisused<F extends FlagSpec>(flags: readonly TypedFlag<F>[]): readonly InputError[] {
  return flags.flatMap(({ flag, as, value }, at) => {
    if (value === '') {
      const what = `It is given an empty value. Give one (is a variable of the shell not set?), or leave ${as} out.`;
      return [new InputError(flag.name, what)];
    }
    const before = flags.slice(0, at).find((each) => each.flag.name === flag.name);
    if (before === undefined || flag.kind === 'list' || flag.kind === 'boolean') return [];
    const names = before.as === as ? '' : `, as ${before.as} and as ${as}`;
    return [new InputError(flag.name, `It is given twice${names}. Keep one of them.`)];
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
    return { name, kind, also: name === 'help' ? ['h'] : [] };
  });
  const { flags, words, problems } = parseFlags(argv, specs, (as) => {
    const names = specs.map(({ name }) => `--${name}`).join(', ');
    return new InputError(null, `${command} has no flag ${quote(as, DISPLAY.name)}. Its flags are ${names}.`);
  });
  throwProblems([...problems, ...findMisused(flags)]);
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
