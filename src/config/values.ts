/** Readers of single values; each error names the input, what was given and what is allowed. */

import { InputError } from '../errors.ts';
import { joinWithOr, quote } from '../text/messages.ts';

/** What was given, by the name of the input. */
type Raw<N extends string> = ReadonlyMap<N, string>;

/** An error whose message begins with the name of the input, as the user of each door writes it. */
export function createInputError(name: string, rest: string, options?: ErrorOptions): InputError {
  return new InputError(name, (naming) => `${naming.name(name)} ${rest}`, options);
}

/** A boolean as YAML 1.2 writes it. */
export function readBoolean<N extends string>(raw: Raw<N>, name: NoInfer<N>, fallback: boolean): boolean {
  const text = raw.get(name);
  if (text === undefined) return fallback;
  if (/^(?:true|True|TRUE)$/u.test(text)) return true;
  if (/^(?:false|False|FALSE)$/u.test(text)) return false;
  throw createInputError(name, `is ${quote(text, 80)}. Use true or false.`);
}

/** One of a few words; null when the input is absent. */
export function readChoice<N extends string, const C extends string>(
  raw: Raw<N>,
  name: NoInfer<N>,
  choices: readonly C[],
): C | null {
  const text = raw.get(name);
  if (text === undefined) return null;
  const choice = choices.find((each) => each === text.toLowerCase());
  if (choice === undefined)
    throw createInputError(name, `is ${quote(text, 80)}. Use ${joinWithOr(choices)}.`);
  return choice;
}

/** One lower-case word, whichever; null when the input is absent. */
export function readWord<N extends string>(raw: Raw<N>, name: NoInfer<N>): string | null {
  const text = raw.get(name);
  if (text === undefined) return null;
  if (!/^[a-z]{1,32}$/u.test(text)) {
    throw createInputError(name, `is ${quote(text, 80)}. Use one word in lower case, such as high.`);
  }
  return text;
}

/** One line of at most `max` characters that people read; null when the input is absent. */
export function readName<N extends string>(raw: Raw<N>, name: NoInfer<N>, max: number): string | null {
  const text = raw.get(name);
  if (text === undefined) return null;
  if (text.length > max)
    throw createInputError(name, `has ${text.length} characters, and may have ${max}. Shorten it.`);
  return text.replace(/\s+/gu, ' ');
}

/** The fewest characters of a signing key: 32 hexadecimal digits are 128 bits. */
const MIN_KEY = 32;

/** The secret that envelopes are signed with; null when the input is absent. Never shown. */
export function readSigningKey<N extends string>(raw: Raw<N | 'signing-key'>): string | null {
  const key = raw.get('signing-key');
  if (key === undefined) return null;
  if (key.length < MIN_KEY) {
    throw createInputError(
      'signing-key',
      `has fewer than ${MIN_KEY} characters, so it could be guessed. Make one with: openssl rand -hex 32`,
    );
  }
  return key;
}

/** A whole number in a range; null when the input is absent. */
export function readInteger<N extends string>(
  raw: Raw<N>,
  name: NoInfer<N>,
  range: { readonly min: number; readonly max?: number },
): number | null {
  const text = raw.get(name);
  if (text === undefined) return null;
  const value = /^[+-]?\d{1,15}$/u.test(text) ? Number(text) : Number.NaN;
  const max = range.max ?? Number.MAX_SAFE_INTEGER;
  if (!(value >= range.min && value <= max)) {
    const upTo = range.max === undefined ? `of at least ${range.min}` : `from ${range.min} to ${range.max}`;
    throw createInputError(name, `is ${quote(text, 80)}. Use a whole number ${upTo}.`);
  }
  return value;
}

/** A number above a bound; null when the input is absent. */
export function readNumber<N extends string>(
  raw: Raw<N>,
  name: NoInfer<N>,
  range: { readonly above: number; readonly max?: number },
): number | null {
  const text = raw.get(name);
  if (text === undefined) return null;
  const value = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/u.test(text) ? Number(text) : Number.NaN;
  const max = range.max ?? Number.MAX_SAFE_INTEGER;
  if (!(value > range.above && value <= max)) {
    const upTo = range.max === undefined ? '' : ` and at most ${range.max}`;
    throw createInputError(name, `is ${quote(text, 80)}. Use a number above ${range.above}${upTo}.`);
  }
  return value;
}

/** A list, one entry a line unless another separator is given; empty when the input is absent. */
export function readList<N extends string>(
  raw: Raw<N>,
  name: NoInfer<N>,
  separator: RegExp = /\r?\n/u,
): readonly string[] {
  const text = raw.get(name) ?? '';
  return text
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
