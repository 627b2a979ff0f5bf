/**
 * Whether findings are there: compares what each one quotes with the files as they were before the agent, and with the
 * lines that the change removed. A quote proves where a text is, not that the finding about it is right.
 */
import type { FindingEvidence } from '../reporters/report-types.ts';
import type { GroundingCounts, GroundingStatus } from '../types.ts';
import type { Change, FileChange } from './change.ts';

/** Findings that are looked up, and characters of all files in which they are; those behind them are unproven. */
const MAX_CHECKED = 200;
const MAX_CHARACTERS = 8 * 1024 ** 2;
const MAX_QUOTE_CHARACTERS = 1_000;
const MAX_QUOTE_LINES = 10;
/** Letters and digits that a quote needs to prove anything, and one that is a part of a line. */
const MIN_LETTERS = 8;
const MIN_FRAGMENT_LETTERS = 20;
/** Characters at the start of a part of a line that are searched for: with more, a search can take seconds. */
const MAX_SEARCHED = 200;

/** What a finding about a file claims. All of it is text of the model. */
export interface Claim {
  /** Relative to the repository root; null if there is no such file. */
  readonly path: string | null;
  /** 1-based. */
  readonly line: number | null;
  /** Text copied from the file; null if there is none. */
  readonly quote: string | null;
}

/**
 * Checks each finding; the result has the order of the claims.
 * @param claims null for a finding about no file
 * @param read returns the text of a file as it was before the agent, by its path from the repository root
 */
export async function groundFindings(
  claims: readonly (Claim | null)[],
  read: (path: string) => string | null,
  change: Pick<Change, 'files'>,
): Promise<readonly FindingEvidence[]> {
  const files = new Map(change.files.map((file) => [file.path, file]));
  const opened = new Map<string, Text>();
  let left: number = MAX_CHARACTERS;

  /** Returns the text of a path; null if there is no room. */
  function open(path: string): Text | null {
    const known = opened.get(path);
    if (known !== undefined || left < 0) return known ?? null;
    const source = read(path) ?? '';
    left -= source.length;
    if (left < 0) return null;
    const text = indexText(source, files.get(path));
    opened.set(path, text);
    return text;
  }

  function ground({ path, line, quote }: Claim): FindingEvidence {
    const unproven = { path, line, lineWas: null, grounding: 'unproven' } as const;
    const forms = quote === null ? [] : readQuote(quote);
    if (forms.length === 0) return unproven;
    const place = path === null ? null : findQuote(forms, open(path), line);
    if (place !== null)
      return { path, ...place, lineWas: line === place.line ? null : line, grounding: 'exact' };
    const [elsewhere, ...more] = [...files.keys()].flatMap((name) => {
      const found = name === path ? null : findQuote(forms, open(name), null);
      return found === null ? [] : [{ path: name, ...found }];
    });
    // A file that was not read may have the text as well.
    if (elsewhere === undefined || more.length > 0 || left < 0) return unproven;
    return { ...elsewhere, lineWas: line, grounding: 'moved' };
  }

  const checked = claims.map((claim, at) => (at < MAX_CHECKED ? claim : claim && { ...claim, quote: null }));
  // Files that findings name come first: not all of a large change may be read.
  for (const claim of checked) if (claim?.quote != null && claim.path !== null) open(claim.path);
  const results: FindingEvidence[] = [];
  for (const claim of checked) {
    results.push(claim ? ground(claim) : { path: null, line: null, lineWas: null, grounding: null });
    // Lets signals and timers run.
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  return results;
}

/** Stands between removed lines that do not follow each other; no line that is compared is a blank. */
const NO_LINE = ' ';

type Text = ReturnType<typeof indexText>;

/** Returns the lines of a file, then those that the change removed from it, with the numbers at which they are shown. */
function indexText(source: string, file: FileChange | undefined) {
  const lines = source.split('\n').map(foldLine);
  const numbers = lines.map((_, at) => at + 1);
  for (const hunk of file?.hunks ?? []) {
    lines.push(NO_LINE);
    numbers.push(0);
    for (const { mark, text, above } of hunk) {
      lines.push(mark === '-' ? foldLine(text) : NO_LINE);
      numbers.push(above);
    }
  }
  const indexes = Map.groupBy(lines.keys(), (at) => lines[at] ?? '');
  return { lines, numbers, indexes, body: lines.join('\n') };
}

/** Finds a quote, whole lines before a part of a line: the claimed line if the quote has it, or the start of the nearest. */
function findQuote(forms: readonly (readonly string[])[], text: Text | null, claimed: number | null) {
  if (text === null) return null;
  for (const find of [findLines, findFragment]) {
    for (const form of forms) {
      let [line, distance] = [0, Number.POSITIVE_INFINITY];
      for (const start of find(form, text)) {
        const [first = 0, last = 0] = [text.numbers[start], text.numbers[start + form.length - 1]];
        const far = claimed === null ? 0 : Math.max(0, first - claimed, claimed - last);
        if (far < distance) [line, distance] = [far === 0 ? (claimed ?? first) : first, far];
      }
      // What was removed from the top of a file has no line above it.
      if (distance < Number.POSITIVE_INFINITY) return { line: line || null };
    }
  }
  return null;
}

/** Returns the indexes at which lines begin, by that one of them which the file has least often. */
function findLines(quoted: readonly string[], { lines, indexes }: Text): readonly number[] {
  const found = quoted.map((line) => indexes.get(line) ?? []);
  const fewest = found.reduce((best, each) => (each.length < best.length ? each : best));
  const starts = fewest.map((index) => index - found.indexOf(fewest));
  return starts.filter((start) => quoted.every((line, at) => lines[start + at] === line));
}

/** Returns the index of the line that has a text as a part, if one has, and once. */
function findFragment([fragment = '', ...others]: readonly string[], { lines, body }: Text) {
  if (others.length > 0 || countLetters(fragment) < MIN_FRAGMENT_LETTERS) return [];
  const searched = fragment.slice(0, MAX_SEARCHED);
  const start = body.indexOf(searched);
  if (!body.startsWith(fragment, start) || body.includes(searched, start + 1)) return [];
  return [lines.findIndex((line) => line.includes(searched))];
}

const MARK = /^[+\- ]/;
/** A line number, as `read_file`, `grep -n`, `cat -n` and editors write it. */
const GUTTER = /^\s*\d{1,9}(?:\t|\s*[:|│→]|[\s-])/;

/**
 * Returns the ways to read a quote, most literal first: as it is, and without the line numbers or diff marks that each of
 * its lines has. Empty if it is too short or too long to prove anything.
 */
function readQuote(quote: string): readonly (readonly string[])[] {
  if (quote.length > MAX_QUOTE_CHARACTERS) return [];
  const lines = quote.split('\n');
  const without = (pattern: RegExp, from: readonly string[]) =>
    from.every((line) => pattern.test(line) || line.trim() === '')
      ? from.map((line) => line.replace(pattern, ''))
      : from;
  const unnumbered = without(GUTTER, lines);
  const forms = [lines, without(MARK, lines), unnumbered, without(MARK, unnumbered)];
  // Without blank lines at both ends.
  const folded = new Set(forms.map((form) => form.map(foldLine).join('\n').trim()));
  return [...folded]
    .filter((form) => countLetters(form) >= MIN_LETTERS)
    .map((form) => form.split('\n'))
    .filter(({ length }) => length <= MAX_QUOTE_LINES);
}

/** Returns a line with each run of blanks as one space, without those at its ends: models leave out indentation. */
function foldLine(line: string): string {
  return line.trim().replace(/\s+/g, ' ');
}

function countLetters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

export function countGrounding(all: readonly FindingEvidence[]): GroundingCounts {
  const count = (wanted: GroundingStatus) => all.filter(({ grounding }) => grounding === wanted).length;
  return { exact: count('exact'), moved: count('moved'), unproven: count('unproven') };
}
