/** The encodings in which a secret value may be hidden, and functions that undo one encoding of a text. */

/**
 * Terminal escape sequences, which are removed as a whole so that no remains litter the text; a lone ESC matches
 * `INVISIBLE`. No match extends past a character that could begin another sequence: otherwise a megabyte of such
 * beginnings would be scanned once for each of them.
 */
export const CONTROL_SEQUENCE = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g;
/** A terminal title or hyperlink. */
export const TITLE_SEQUENCE = /(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n\r]*(?:\x07|\x1b\\|\x9c)/g;
/**
 * Control, bidi and zero-width characters, except tabs and line feeds. Zero-width characters are removed because some
 * string comparisons, such as some in .NET, ignore them.
 */
export const INVISIBLE = /[^\P{Cc}\t\n]|\p{Cf}|\p{Default_Ignorable_Code_Point}/gu;
/** Characters that are not displayed, and the backtick, because Markdown makes the text between two of them code. */
const UNSEEN_RUN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}`]+/gu;
const UNSEEN_OR_BLANK_RUN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}`\s]+/gu;
const SEQUENCES = new RegExp(`${CONTROL_SEQUENCE.source}|${TITLE_SEQUENCE.source}`, 'g');
const BEGINS_SEQUENCE = /[\x1b\x9b\x9d]/;

/** How a text is read or displayed. */
export interface TextReading {
  /** Whether terminal sequences are removed as a whole, as a terminal does; else only their invisible characters. */
  readonly sequences: boolean;
  /** Whether whitespace is ignored, including line breaks. */
  readonly blanks: boolean;
}

/** Whether a text contains terminal sequences, so that a terminal displays it differently. */
export function holdsSequences(text: string): boolean {
  return BEGINS_SEQUENCE.test(text);
}

/** Returns the text without what this reading hides. `places` returns the original index of each character left. */
export function seenText(
  text: string,
  { sequences, blanks }: TextReading,
): { readonly text: string; places(): Uint32Array } {
  // NUL is not displayed either, and keeps all indexes unchanged.
  const whole =
    sequences && holdsSequences(text)
      ? text.replace(SEQUENCES, (sequence) => '\0'.repeat(sequence.length))
      : text;
  const characters = whole.replace(UNSEEN_RUN, '');
  // Two replacements, because one class of both takes V8 twice as long for ordinary text.
  const seen = blanks ? characters.replace(/\s+/g, '') : characters;
  return {
    text: seen,
    places: () => placesSeen(whole, blanks ? UNSEEN_OR_BLANK_RUN : UNSEEN_RUN, seen.length),
  };
}

/** Returns the indexes of the `count` characters that are not part of a match of the pattern. */
function placesSeen(text: string, unseen: RegExp, count: number): Uint32Array {
  const places = new Uint32Array(count);
  let at = 0;
  let seen = 0;
  const keepUntil = (end: number) => {
    while (at < end) places[seen++] = at++;
  };
  for (const match of text.matchAll(unseen)) {
    keepUntil(match.index);
    at += match[0].length;
  }
  keepUntil(text.length);
  return places;
}

/**
 * Returns the strings that the base64 of any text containing the value must contain: one for each of the three
 * alignments.
 */
export function base64Forms(value: string): readonly string[] {
  const bytes = bytesOf(value);
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
}

export function bytesOf(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}

export function toUrlAlphabet(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

export function toStandardAlphabet(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/');
}

export function reverse(text: string): string {
  return [...text].reverse().join('');
}

/** Removes the whitespace, colons, commas, `0x` and `\x` that hex dumps put between bytes. */
export function squeezeHex(text: string): string {
  return text.toLowerCase().replace(/\\x|0x|[\s:,-]+/g, '');
}

export function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

export function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}
