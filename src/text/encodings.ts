/** How a value looks in the encodings in which one hides, and texts with one of them undone. */

/**
 * Terminal sequences, which are taken out whole so that their rests do not litter the text; a lone ESC is `INVISIBLE`.
 * None goes on past what could begin another: a megabyte of beginnings would be read once for each of them.
 */
export const CONTROL_SEQUENCE = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g;
/** A title or a link of a terminal. */
export const TITLE_SEQUENCE = /(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n\r]*(?:\x07|\x1b\\|\x9c)/g;
/**
 * Control, bidi and zero-width characters, tabs and line feeds aside. The zero-width ones go too: a comparison that
 * ignores them, as some .NET string functions do, would see through them.
 */
export const INVISIBLE = /[^\P{Cc}\t\n]|\p{Cf}|\p{Default_Ignorable_Code_Point}/gu;
/** What no reader shows, and the backtick: Markdown makes a code span of what stands between two. */
const UNSEEN_RUN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}`]+/gu;
const UNSEEN_OR_BLANK_RUN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}`\s]+/gu;
const SEQUENCES = new RegExp(`${CONTROL_SEQUENCE.source}|${TITLE_SEQUENCE.source}`, 'g');
const BEGINS_SEQUENCE = /[\x1b\x9b\x9d]/;

/** How somebody reads a text. */
export interface Reading {
  /** Whether terminal sequences are taken out whole, as a terminal does; else only what is invisible in them. */
  readonly sequences: boolean;
  /** Whether blanks count as nothing, line breaks too. */
  readonly blanks: boolean;
}

/** Whether it makes a difference to a text that a terminal shows it. */
export function holdsSequences(text: string): boolean {
  return BEGINS_SEQUENCE.test(text);
}

/** A text without what is not seen by somebody who reads it so. Its `places` are where its characters stood before. */
export function seenText(
  text: string,
  { sequences, blanks }: Reading,
): { readonly text: string; places(): Uint32Array } {
  // NUL is not seen, and so every place stays where it was.
  const whole =
    sequences && holdsSequences(text)
      ? text.replace(SEQUENCES, (sequence) => '\0'.repeat(sequence.length))
      : text;
  const characters = whole.replace(UNSEEN_RUN, '');
  // In two steps: one class of both takes V8 twice as long for ordinary text.
  const seen = blanks ? characters.replace(/\s+/g, '') : characters;
  return {
    text: seen,
    places: () => placesSeen(whole, blanks ? UNSEEN_OR_BLANK_RUN : UNSEEN_RUN, seen.length),
  };
}

/** Where the `count` characters stand that are in no match of the pattern. */
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

/** What base64 of any text that holds the value must hold: the value's own bits at each of the three alignments. */
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

/** Hex dumps put blanks, colons, commas, `0x` or `\x` between bytes. */
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
