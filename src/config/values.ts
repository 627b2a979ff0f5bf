/** Parses single values. Each problem names the input, the given value and the allowed values. */
import { InputError } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';
import { joinWithOr, quote } from '../text/messages.ts';

/** Characters of a signing key: 32 hexadecimal digits are 128 bits. */
const MIN_SIGNING_KEY = 32;

/** Typed values and the problems found. An invalid value is replaced by its default. */
export interface Parsed<C> {
  readonly config: C;
  /** At most one per input. */
  readonly problems: readonly InputError[];
}

/** Reads inputs by name. No method throws for invalid values: it adds a problem and returns the default. */
export interface InputReader<N extends string> {
  /** The value as typed, trimmed; null when the input is absent. */
  text(name: N): string | null;
  /** A boolean in YAML 1.2 syntax. */
  boolean(name: N, fallback: boolean): boolean;
  choice<const C extends string, F>(name: N, choices: readonly C[], fallback: F): C | F;
  /** A lower-case word; null when the input is absent. */
  word(name: N): string | null;
  /** A line of at most `max` characters; null when the input is absent. */
  line(name: N, max: number): string | null;
  integer<F>(name: N, range: { readonly min: number; readonly max?: number }, fallback: F): number | F;
  number<F>(name: N, range: { readonly above: number; readonly max?: number }, fallback: F): number | F;
  /** A list with one entry per line, or another separator. */
  list(name: N, separator?: RegExp): readonly string[];
  /** The result of `read`, or `otherwise` if it throws an InputError, which is added to the problems. */
  attempt<T, F>(read: () => T, otherwise: F): T | F;
  /** Adds a problem, unless there is one for the same input. */
  add(problem: InputError): void;
  hasProblem(name: N): boolean;
  readonly problems: readonly InputError[];
}

/** @param earlier known problems; the inputs they name are not reported again */
export function createReader<N extends string>(
  raw: ReadonlyMap<N, string>,
  earlier: readonly InputError[] = [],
): InputReader<N> {
  const problems = [...earlier];
  const hasProblem = (name: string | null) =>
    name !== null && problems.some((problem) => problem.input === name);
  const add = (problem: InputError) => {
    if (!hasProblem(problem.input)) problems.push(problem);
  };
  const attempt = <T, F>(read: () => T, otherwise: F): T | F => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      add(error);
      return otherwise;
    }
  };
  /** Parses a given text. `parse` returns undefined for an invalid one, which is then not `wanted`: a noun phrase. */
  const read = <T, F>(
    name: N,
    parse: (text: string) => T | undefined,
    wanted: string,
    fallback: F,
  ): T | F => {
    const text = raw.get(name);
    if (text === undefined) return fallback;
    const value = parse(text);
    if (value !== undefined) return value;
    add(new InputError(name, `${quote(text, DISPLAY.name)} is not ${wanted}.`));
    return fallback;
  };
  return {
    problems,
    hasProblem,
    add,
    attempt,
    text: (name) => raw.get(name) ?? null,
    boolean: (name, fallback) => read(name, parseBoolean, 'true or false', fallback),
    choice(name, choices, fallback) {
      const text = raw.get(name);
      return text === undefined ? fallback : attempt(() => parseChoice(name, text, choices), fallback);
    },
    word: (name) =>
      read(
        name,
        (text) => (/^[a-z]{1,32}$/u.test(text) ? text : undefined),
        'one word in lower case, such as high',
        null,
      ),
    line(name, max) {
      const text = raw.get(name);
      if (text === undefined) return null;
      if (text.length <= max) return text.replace(/\s+/gu, ' ');
      add(new InputError(name, `${text.length} characters are more than ${max}. Shorten it.`));
      return null;
    },
    integer(name, { min, max }, fallback) {
      const upTo = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
      const parse = (text: string) => {
        const value = /^[+-]?\d{1,15}$/u.test(text) ? Number(text) : Number.NaN;
        return value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER) ? value : undefined;
      };
      return read(name, parse, `a whole number ${upTo}`, fallback);
    },
    number(name, { above, max }, fallback) {
      const upTo = max === undefined ? '' : ` and at most ${max}`;
      const parse = (text: string) => {
        const value = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/u.test(text) ? Number(text) : Number.NaN;
        return value > above && value <= (max ?? Number.MAX_SAFE_INTEGER) ? value : undefined;
      };
      return read(name, parse, `a number above ${above}${upTo}`, fallback);
    },
    list: (name, separator = /\r?\n/u) =>
      (raw.get(name) ?? '')
        .split(separator)
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
  };
}

/** Reads the secret that signs envelopes; null when the input is absent. Never printed. */
export function readSigningKey(reader: InputReader<'signing-key'>): string | null {
  const key = reader.text('signing-key');
  if (key === null || key.length >= MIN_SIGNING_KEY) return key;
  const advice = 'so it could be guessed. Make one with: openssl rand -hex 32';
  reader.add(new InputError('signing-key', `It has fewer than ${MIN_SIGNING_KEY} characters, ${advice}`));
  return null;
}

/** Returns the choice that matches a text, ignoring case. @throws InputError that lists the choices */
export function parseChoice<const C extends string>(name: string, text: string, choices: readonly C[]): C {
  const choice = choices.find((each) => each === text.toLowerCase());
  if (choice !== undefined) return choice;
  throw new InputError(name, `${quote(text, DISPLAY.name)} is not valid. Use ${joinWithOr(choices)}.`);
}

function parseBoolean(text: string): boolean | undefined {
  if (/^(?:true|True|TRUE)$/u.test(text)) return true;
  return /^(?:false|False|FALSE)$/u.test(text) ? false : undefined;
}
