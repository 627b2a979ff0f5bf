/**
 * Prepares untrusted text for a page: no invisible characters, no terminal colours, and no more text than a browser can
 * handle.
 */

import { DISPLAY, REPORT_PAGE } from '../../text/limits.ts';

/** Terminal colours and text styles, which carry no information. */
const LOOKS = /\x1b\[[\d;:]*m/g;
/**
 * Control, bidi, zero-width and other characters that are not displayed, except tabs, line feeds and emoji joiners.
 * Each is shown by its code, so that it is visible to people looking for an attack.
 */
const INVISIBLE =
  /[^\P{Cc}\t\n]|[\u2028\u2029]|(?<![\p{Extended_Pictographic}\d#*])\ufe0f|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?![\ufe0f\u200d])(?:\p{Cf}|\p{Default_Ignorable_Code_Point})/gu;

/** Spaces within a line; JavaScript's other whitespace is not displayed, and shown by its code. */
const BLANKS = /[\t\n\p{Zs}]+/gu;

/** A text to show, and the number of its characters that are left out. */
export interface Shown {
  readonly text: string;
  readonly missing: number;
}

export interface Showing {
  /** A text with its line breaks. */
  text(text: string): Shown;
  /** A text on one line of at most 200 characters. */
  label(text: string): string;
}

/** @param mask hides secrets; called again after decoding and cleaning, which may join the parts of one */
export function createShowing(mask: (text: string) => string): Showing {
  let total = 0;
  return {
    text(text) {
      const whole = mask(cleanLines(text));
      const { shown, used } = showCodes(
        whole,
        total > REPORT_PAGE.total ? REPORT_PAGE.lateText : REPORT_PAGE.text,
      );
      total += shown.length;
      return { text: shown, missing: whole.length - used };
    },
    label(text) {
      const line = mask(cleanLines(text)).replace(BLANKS, ' ').replace(/^ | $/g, '');
      const { shown, used } = showCodes(line, DISPLAY.phrase);
      return used === line.length ? shown : `${shown}…`;
    },
  };
}

/** Shows every invisible character of a text by its name or code. */
export function visible(text: string): string {
  return showCodes(cleanLines(text), Number.POSITIVE_INFINITY).shown;
}

function cleanLines(text: string): string {
  return text.toWellFormed().replace(LOOKS, '').replaceAll('\r\n', '\n');
}

/**
 * Returns as much of a text as fits in `max` characters, and how many characters of the text that is. A code takes up
 * to nine characters, so codes are created only for what is shown.
 */
function showCodes(text: string, max: number): { readonly shown: string; readonly used: number } {
  const parts: string[] = [];
  let [used, length] = [0, 0];
  const add = (part: string, from: string) => {
    parts.push(part);
    length += part.length;
    used += from.length;
  };
  for (const { index, 0: character } of text.matchAll(INVISIBLE)) {
    const between = text.slice(used, index);
    const code = codeOf(character);
    if (length + between.length + code.length > max) break;
    add(between, between);
    add(code, character);
  }
  const [next] = text.slice(used, used + max - length).split(INVISIBLE, 1);
  const rest = withoutHalf(next ?? '');
  add(rest, rest);
  return { shown: parts.join(''), used };
}

/** Characters shown by name; Unicode's pictures for them are missing from many fonts. */
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

/** Removes an unpaired surrogate at the end of a truncated text. */
function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

/** Finished HTML, created only by `html` and `verbatim`. */
export interface Html {
  readonly html: string;
}

/** A value in a template; null gives nothing, and lists are joined. */
type Hole = string | number | null | Html | readonly Html[];

/**
 * A template that escapes its values in elements and in double-quoted attributes; not for use inside a script or a
 * style.
 */
export function html(parts: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  let text = parts[0] ?? '';
  for (const [at, hole] of holes.entries()) text += fill(hole) + (parts[at + 1] ?? '');
  return { html: text };
}

/** Inserts this program's own text without escaping: a style or a script, where escaping would break it. */
export function verbatim(text: string): Html {
  return { html: text };
}

function fill(hole: Hole): string {
  if (hole === null) return '';
  if (typeof hole === 'number') return escaped(String(hole));
  if (typeof hole === 'string') return escaped(hole);
  return isList(hole) ? hole.map((each) => each.html).join('') : hole.html;
}

function isList(hole: Html | readonly Html[]): hole is readonly Html[] {
  return Array.isArray(hole);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
