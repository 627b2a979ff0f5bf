/** What a quote and a file are compared by: their lines without the differences that copying makes. */

/** What of a quote is compared; of a longer one, its first lines. */
const QUOTE = { lines: 10, characters: 1_000, alphanumerics: 8, fragment: 20 } as const;

/** What a line may hold that is not as it is compared, but for blanks at its ends. */
const UNEVEN = /\s\s|[^\x20-\x7e]/;
/**
 * Combining marks that no language has in a row. Composing takes time that grows with the square of their number: 40,000
 * of them take 40 seconds.
 */
const MARKS = /\p{M}{31}/u;

/**
 * Returns a line with each run of blanks, which a lone CR and a byte order mark are, as one space, without those at its
 * ends, and in Unicode's composed form unless it has long runs of combining marks. Indentation does not count, because
 * models leave out that of the first line.
 */
export function normalizeLine(line: string): string {
  const trimmed = line.trim();
  if (!UNEVEN.test(trimmed)) return trimmed;
  const single = trimmed.replace(/\s+/g, ' ');
  return MARKS.test(single) ? single : single.normalize('NFC');
}

/** Visible ASCII but for `;`, `K` and the backtick: other characters are composed to these three. */
const LITERAL = /[!-:<-JL-_a-~]+/g;

/** Characters for which `indexOf` is fast whatever the text: it compares at most so many at each place. */
export const FAST_CHARACTERS = 20;

/** Returns a part that each text holds as it is whose normalized form holds this one; empty if there is none. */
export function findLiteralPart(normalized: string): string {
  const parts = normalized.match(LITERAL) ?? [];
  return parts
    .reduce((longest, part) => (part.length > longest.length ? part : longest), '')
    .slice(0, FAST_CHARACTERS);
}

/** Splits a text at LF and CRLF; a lone CR ends no line, as in git. */
export function splitLines(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

/** One way to read a quote. */
export interface QuoteForm {
  /** The normalized lines; at most 10, with 1,000 characters in all. */
  readonly lines: readonly string[];
  /** The lines as written; null if a diff mark or a line number was taken off them. */
  readonly written: readonly string[] | null;
  /** Whether it may be a part of a line. */
  readonly isFragment: boolean;
  /** Whether it may be whole lines; not if it is the beginning of a line that is too long. */
  readonly isWhole: boolean;
}

/**
 * Returns the ways to read a quote, most literal first: as it is, and without the diff marks or line numbers that each of
 * its lines has. Blank lines at its ends are dropped. Empty if the quote is too short to prove anything.
 */
export function readQuote(quote: string): readonly QuoteForm[] {
  const { lines, isWhole } = boundQuote(splitLines(quote));
  const unnumbered = removeFromEach(lines, GUTTER);
  const forms = [lines, removeMarks(lines), unnumbered, unnumbered && removeMarks(unnumbered)];
  return forms.flatMap((form, at) => {
    if (form === null) return [];
    const normalized = form.map(normalizeLine);
    const [first = ''] = normalized;
    if (countAlphanumerics(normalized) < QUOTE.alphanumerics) return [];
    const isFragment = normalized.length === 1 && first.length >= QUOTE.fragment;
    return [{ lines: normalized, written: at === 0 ? form : null, isFragment, isWhole }];
  });
}

function boundQuote(all: readonly string[]): {
  readonly lines: readonly string[];
  readonly isWhole: boolean;
} {
  const start = all.findIndex((line) => line.trim() !== '');
  if (start === -1) return { lines: [], isWhole: true };
  const lines: string[] = [];
  let left: number = QUOTE.characters;
  for (const line of all.slice(start, start + QUOTE.lines)) {
    left -= line.length + 1;
    if (left < -1) break;
    lines.push(line);
  }
  while (lines.at(-1)?.trim() === '') lines.pop();
  if (lines.length > 0) return { lines, isWhole: true };
  return { lines: [(all[start] ?? '').trimStart().slice(0, QUOTE.characters)], isWhole: false };
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
