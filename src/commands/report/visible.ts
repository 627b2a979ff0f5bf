/** Hostile text as a page shows it: nothing invisible, no colours, no more of it than a browser can bear. */

/** Colours and other looks of a terminal, which say nothing. */
const LOOKS = /\x1b\[[\d;:]*m/g;
/**
 * Control, bidi, zero-width and other characters that nobody sees; tabs and line feeds aside, and what joins emoji. Each is
 * shown by its code: whoever looks for an attack must see it.
 */
const INVISIBLE =
  /[^\P{Cc}\t\n]|[\u2028\u2029]|(?<![\p{Extended_Pictographic}\d#*])\ufe0f|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?![\ufe0f\u200d])(?:\p{Cf}|\p{Default_Ignorable_Code_Point})/gu;

/** Blanks of one line; the others of JavaScript are invisible, and shown by their codes. */
const BLANKS = /[\t\n\p{Zs}]+/gu;

/** Of one text; the transcript has the rest. */
const MAX_TEXT = 60_000;
/** Of all texts together. Above it each is cut short, so that a page of any transcript still opens. */
const MAX_TOTAL = 16 * 1024 ** 2;
const MAX_LATE_TEXT = 400;
const MAX_LABEL = 200;

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
      const whole = mask(cleanLines(text));
      const { shown, used } = showCodes(whole, total > MAX_TOTAL ? MAX_LATE_TEXT : MAX_TEXT);
      total += shown.length;
      return { text: shown, missing: whole.length - used };
    },
    label(text) {
      const line = mask(cleanLines(text)).replace(BLANKS, ' ').replace(/^ | $/g, '');
      const { shown, used } = showCodes(line, MAX_LABEL);
      return used === line.length ? shown : `${shown}…`;
    },
  };
}

/** The text with every invisible character shown by its name or its code. */
export function visible(text: string): string {
  return showCodes(cleanLines(text), Number.POSITIVE_INFINITY).shown;
}

function cleanLines(text: string): string {
  return text.toWellFormed().replace(LOOKS, '').replaceAll('\r\n', '\n');
}

/**
 * As much of a text as is shown in `max` characters, and how many of its own those are: a code is up to nine characters
 * long, so none is made of what is not shown.
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

/** A text that was cut, without the first half of a pair of surrogates at its end. */
function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

/** Finished HTML; made by `html` and `verbatim` alone. */
export interface Html {
  readonly html: string;
}

/** What a template takes; null leaves nothing, a list is joined. */
type Hole = string | number | null | Html | readonly Html[];

/** A template whose holes are inert, in elements and in double-quoted attributes; never inside a script or a style. */
export function html(parts: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  let text = parts[0] ?? '';
  for (const [at, hole] of holes.entries()) text += fill(hole) + (parts[at + 1] ?? '');
  return { html: text };
}

/** A text of ours as it is: a style or a script, which no escaping may touch. */
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
