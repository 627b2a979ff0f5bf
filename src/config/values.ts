/** Parses single values. Each problem names the input, the given value and the allowed values. */
import { InputError } from '../errors.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { joinWithOr, quote } from '../text/messages.ts';

/** Characters of the name of a leg or a vote. */
export const MAX_LEG_NAME = 200;

/** Typed values and the problems found. An invalid value is replaced by its default. */
export interface Parsed<C> {
  readonly config: C;
  /** At most one per input. */
  readonly problems: readonly InputError[];
}

export type InputReader<N extends string> = ReturnType<typeof createReader<N>>;

/** Returns a parser that takes a text as it is if it matches. */
export function matching(pattern: RegExp): (text: string) => string | undefined {
  return (text) => (pattern.test(text) ? text : undefined);
}

/** Numbers from `min` on, or greater than `above`. */
interface Range {
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
}

/**
 * Reads inputs by name. No method throws for invalid values: it adds a problem and returns the fallback, as it does for
 * an absent input.
 * @param earlier known problems; the inputs they name are not reported again
 */
export function createReader<N extends string>(
  raw: ReadonlyMap<N, string>,
  earlier: readonly InputError[] = [],
) {
  const problems = [...earlier];
  const hasProblem = (name: string | null) => name !== null && problems.some(({ input }) => input === name);
  /** Adds a problem, unless there is one for the same input. */
  const add = (problem: InputError): void => {
    if (!hasProblem(problem.input)) problems.push(problem);
  };
  /** Returns the result of `read`, or `otherwise` if it throws an InputError, which is added to the problems. */
  const attempt = <T, F>(read: () => T, otherwise: F): T | F => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      add(error);
      return otherwise;
    }
  };
  /** Parses a given text. `parse` returns undefined for an invalid one, and `fault` says what is wrong with it. */
  const read = <T, F>(name: N, fallback: F, parse: (text: string) => T | undefined, fault: string): T | F => {
    const text = raw.get(name);
    const value = text === undefined ? fallback : parse(text);
    if (value !== undefined) return value;
    add(new InputError(name, `${quote(text ?? '', DISPLAY.name)} is not ${fault}.`));
    return fallback;
  };
  const number = <F>(name: N, pattern: RegExp, range: Range, fallback: F, wanted: string): number | F => {
    const { min = -Infinity, above = -Infinity, max = Number.MAX_SAFE_INTEGER } = range;
    const from = range.min === undefined ? `above ${above}` : `of at least ${min}`;
    const limits = range.max === undefined ? from : `${from} and at most ${max}`;
    const parse = (text: string) => {
      const value = pattern.test(text) ? Number(text) : Number.NaN;
      return value >= min && value > above && value <= max ? value : undefined;
    };
    return read(name, fallback, parse, `${wanted} ${limits}`);
  };
  return {
    problems,
    hasProblem,
    add,
    attempt,
    read,
    /** The value as typed, trimmed; null when the input is absent. */
    text: (name: N) => raw.get(name) ?? null,
    /** A boolean in YAML 1.2 syntax. */
    boolean(name: N, fallback: boolean): boolean {
      const parse = (text: string) =>
        /^(?:true|True|TRUE|false|False|FALSE)$/u.test(text) ? text.toLowerCase() === 'true' : undefined;
      return read(name, fallback, parse, 'true or false');
    },
    /** One of some words, whose case does not matter. */
    choice<const C extends string, F>(name: N, choices: readonly C[], fallback: F): C | F {
      const parse = (text: string) => choices.find((each) => each === text.toLowerCase());
      return read(name, fallback, parse, `valid. Use ${joinWithOr(choices)}`);
    },
    /** A line of at most `max` characters; null when the input is absent. */
    line(name: N, max: number): string | null {
      const parse = (text: string) => (text.length <= max ? text.replace(/\s+/gu, ' ') : undefined);
      return read(name, null, parse, `short enough: at most ${max} characters`);
    },
    integer: <F>(name: N, range: Range, fallback: F) =>
      number(name, /^[+-]?\d{1,15}$/u, range, fallback, 'a whole number'),
    number: <F>(name: N, range: Range, fallback: F) =>
      number(name, /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/u, range, fallback, 'a number'),
    /** A list whose entries are parsed like single values. `describe` says what each invalid one is not, and the fix. */
    list<T>(
      name: N,
      separator: RegExp,
      parse: (entry: string) => T | undefined,
      describe: (entry: string) => string,
    ): readonly T[] {
      const entries = (raw.get(name) ?? '').split(separator).map((entry) => entry.trim());
      const given = entries.filter((entry) => entry !== '');
      const wrong = given.filter((entry) => parse(entry) === undefined).slice(0, LISTED.some);
      const faults = wrong.map((entry) => `${quote(entry, DISPLAY.name)} is not ${describe(entry)}`);
      if (faults.length > 0) add(new InputError(name, faults.join(' ')));
      return given.flatMap((entry) => parse(entry) ?? []);
    },
  };
}
