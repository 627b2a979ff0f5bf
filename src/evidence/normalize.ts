/** What a quote and a file are compared by: their lines without the differences that copying makes. */

/** What of a quote is read; what of it is compared, whole lines if it has several. */
const MAX_READ_CHARACTERS = 20_000;
const MAX_QUOTE_LINES = 10;
const MAX_QUOTE_CHARACTERS = 1_000;
/** Letters and digits that a quote needs to prove anything, and one that is a part of a line. */
const MIN_ALPHANUMERICS = 8;
const MIN_FRAGMENT_ALPHANUMERICS = 20;

/**
 * Returns a line with each run of blanks, which a lone CR and a byte order mark are, as one space, without those at its
 * ends. Indentation does not count, because models leave out that of the first line.
 */
export function foldLine(line: string): string {
  return line.trim().replace(/\s+/g, ' ');
}

/** Splits a text at LF and CRLF; a lone CR ends no line, as in git. */
export function splitLines(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

/** One way to read a quote. */
export interface QuoteForm {
  readonly lines: readonly string[];
  /** The same lines as they are compared. */
  readonly folded: readonly string[];
  /** Whether it may be a part of a line. */
  readonly isFragment: boolean;
}

/**
 * Returns the ways to read a quote, most literal first: as it is, and without the diff marks or line numbers that each of
 * its lines has. Blank lines at its ends are dropped; of a quote that is too long, only its first lines count. Empty if
 * the quote is too short to prove anything.
 */
export function readQuote(quote: string): readonly QuoteForm[] {
  const lines = boundQuote(quote);
  const unnumbered = removeFromEach(lines, GUTTER);
  const forms = [lines, removeMarks(lines), unnumbered, unnumbered && removeMarks(unnumbered)];
  return forms.flatMap((form) => {
    if (form === null) return [];
    const count = countAlphanumerics(form);
    if (count < MIN_ALPHANUMERICS) return [];
    const isFragment = form.length === 1 && count >= MIN_FRAGMENT_ALPHANUMERICS;
    return [{ lines: form, folded: form.map(foldLine), isFragment }];
  });
}

function boundQuote(quote: string): readonly string[] {
  const all = splitLines(quote.slice(0, MAX_READ_CHARACTERS));
  const first = all.findIndex((line) => line.trim() !== '');
  if (first === -1) return [];
  const lines = all.slice(first, first + MAX_QUOTE_LINES);
  const isTooLong = () => lines.join('\n').length > MAX_QUOTE_CHARACTERS;
  while (lines.length > 1 && (lines.at(-1)?.trim() === '' || isTooLong())) lines.pop();
  return isTooLong() ? [lines.join('').slice(0, MAX_QUOTE_CHARACTERS)] : lines;
}

/** A line number, as `read_file`, `grep -n`, `cat -n` and editors write it. */
const GUTTER = /^\s*\d{1,9}(?:\s*[:|│→]|[\s-])/;
const MARK = /^[+\- ]/;

function removeMarks(lines: readonly string[]): readonly string[] | null {
  return lines.some((line) => /^[+-]/.test(line)) ? removeFromEach(lines, MARK) : null;
}

/** Removes what a pattern matches from all lines; null unless each line that is not blank has it. */
function removeFromEach(lines: readonly string[], pattern: RegExp): readonly string[] | null {
  if (lines.length === 0 || !lines.every((line) => pattern.test(line) || line.trim() === '')) return null;
  return lines.map((line) => line.replace(pattern, ''));
}

function countAlphanumerics(lines: readonly string[]): number {
  return lines.join('').match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}
