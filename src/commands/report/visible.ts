/** Hostile text as a page shows it: nothing invisible, no colours, no more of it than a browser can bear. */

/** Colours and other looks of a terminal, which say nothing. */
const LOOKS = /\x1b\[[\d;:]*m/g;
/**
 * Control, bidi, zero-width and other characters that nobody sees; tabs and line feeds aside, and what joins emoji. Each is
 * shown by its code: whoever looks for an attack must see it.
 */
const INVISIBLE =
  /[^\P{Cc}\t\n]|[\u2028\u2029]|(?<![\p{Extended_Pictographic}\d#*])\ufe0f|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?![\ufe0f\u200d])(?:\p{Cf}|\p{Default_Ignorable_Code_Point})/gu;

/** Of one text; the transcript has the rest. */
const MAX_TEXT = 60_000;
/** Of all texts together. Above it each is cut short, so that a page of any transcript still opens. */
const MAX_TOTAL = 16 * 1024 ** 2;
const MAX_LATE_TEXT = 400;

/** A text to be shown, and how many of its characters are not. */
export interface Shown {
  readonly text: string;
  readonly missing: number;
}

/** Makes texts presentable. */
export interface Showing {
  /** A text with its line breaks. */
  text(text: string): Shown;
  /** A text on one line of at most 200 characters. */
  label(text: string): string;
}

/** @param mask hides secrets; asked once more after decoding and cleaning, which may put the parts of one together. */
export function createShowing(mask: (text: string) => string): Showing {
  let total = 0;
  return {
    text(text) {
      const whole = mask(visible(text));
      const shown = cut(whole, total > MAX_TOTAL ? MAX_LATE_TEXT : MAX_TEXT);
      total += shown.length;
      return { text: shown, missing: whole.length - shown.length };
    },
    label(text) {
      const line = mask(visible(text)).replace(/\s+/g, ' ').trim();
      const shown = cut(line, 200);
      return shown === line ? line : `${shown}…`;
    },
  };
}

/** The text with every invisible character shown by its name or its code. */
export function visible(text: string): string {
  return text.toWellFormed().replace(LOOKS, '').replaceAll('\r\n', '\n').replace(INVISIBLE, codeOf);
}

/** Those that are known by a name; Unicode's pictures of them are missing from many fonts. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [0x00, 'NUL'],
  [0x07, 'BEL'],
  [0x08, 'BS'],
  [0x0d, 'CR'],
  [0x1b, 'ESC'],
  [0x7f, 'DEL'],
]);

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨${NAMES.get(code) ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`}⟩`;
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max);
  return /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
}
