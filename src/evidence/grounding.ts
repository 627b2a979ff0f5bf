/**
 * Whether findings are there: compares what each one quotes with the files as they were before the agent, and with the
 * lines that the change removed. A quote proves where a text is, not that the finding about it is right.
 */
import { DISPLAY } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
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

/** What a finding claims. All of it is text of the model. */
export interface Claim {
  /** Relative to the repository root; null if the finding is about no file, or the path that it names was not found. */
  readonly path: string | null;
  readonly namesFile: boolean;
  /** 1-based, like `endLine`. */
  readonly line: number | null;
  readonly endLine: number | null;
  /** Text copied from the file; null if there is none. */
  readonly quote: string | null;
}

export interface Grounded {
  readonly path: string | null;
  /** The proven line or, without a proof, the claimed one; from 1. */
  readonly line: number | null;
  /** The claimed line if the quote stands elsewhere; null otherwise. */
  readonly lineWas: number | null;
  /** null for a finding about no file, which is exempt. */
  readonly status: GroundingStatus | null;
  /** For the model: what is wrong with the quote; null if it proves its place, or if another one would not help. */
  readonly issue: string | null;
}

/** Returns the text of a file as it was before the agent, by its path from the repository root; null if there is none. */
export type ReadSource = (path: string) => string | null;

/** Lines in which a quote may stand. */
interface Text {
  readonly path: string;
  readonly lines: readonly string[];
  /** The same lines as they are compared, and the indexes of each. */
  readonly folded: readonly string[];
  readonly indexes: ReadonlyMap<string, readonly number[]>;
  /** The number at which a line is shown. */
  numberOf(index: number): number;
}

interface Place {
  readonly path: string;
  readonly first: number;
  readonly last: number;
}

/** Checks each finding; the result has the order of the claims. */
export async function groundFindings(
  claims: readonly Claim[],
  read: ReadSource,
  change: Change | null,
): Promise<readonly Grounded[]> {
  const files = new Map<string, FileChange>();
  for (const file of change?.files ?? []) files.set(file.previous ?? file.path, file).set(file.path, file);
  const changed = new Set(change?.files.map(({ path }) => path));
  const opened = new Map<string, readonly Text[]>();
  let left: number = MAX_CHARACTERS;

  /** Returns the file of a path, and what the change removed from it; empty if there is neither, or no room. */
  function open(path: string): readonly Text[] {
    const known = opened.get(path);
    if (known !== undefined || left < 0) return known ?? [];
    const source = read(path);
    const file = files.get(path);
    const lines = file?.hunks.flatMap((hunk) => hunk.lines) ?? [];
    left -= (source?.length ?? 0) + lines.join('\n').length;
    const texts = [
      ...(source === null ? [] : [createText(path, source.split(/\r?\n/), (index) => index + 1)]),
      ...(file === undefined ? [] : [removedText(file)]),
    ];
    opened.set(path, left < 0 ? [] : texts);
    return open(path);
  }

  function ground(claim: Claim): Grounded {
    const { path, quote } = claim;
    if (!claim.namesFile || quote === null) return unproven(claim);
    const forms = readQuote(quote);
    if (forms.length === 0) return unproven(claim, 'proves nothing: quote one to three whole lines.');
    const own = path === null ? [] : open(path);
    const places = findQuote(forms, own);
    if (places.length > 0) return proven(claim, places, 'exact');
    const others = [...changed].map((other) => (other === path ? [] : findQuote(forms, open(other))));
    const [elsewhere = [], ...more] = others.filter((found) => found.length > 0);
    if (elsewhere.length > 0 && more.length === 0 && left >= 0) return proven(claim, elsewhere, 'moved');
    if (path === null)
      return unproven(claim, 'is in no changed file, and the file that the finding names was not found.');
    // Without the text of its file, it is not known whether the quote is wrong.
    if (own.length === 0) return unproven(claim);
    const name = truncate(path, DISPLAY.path);
    return unproven(claim, `is not in ${name}; copy whole lines as they are in the file, without omissions.`);
  }

  // Files that findings name come first: not all of a large change may be read.
  for (const { path, quote } of claims.slice(0, MAX_CHECKED)) if (path !== null && quote !== null) open(path);
  const results: Grounded[] = [];
  for (const [at, claim] of claims.entries()) {
    results.push(at < MAX_CHECKED ? ground(claim) : unproven(claim));
    // Lets signals and timers run.
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  return results;
}

function unproven({ path, namesFile, line }: Claim, issue: string | null = null): Grounded {
  return { path, line, lineWas: null, status: namesFile ? 'unproven' : null, issue };
}

/** @param places at least one, of which the one nearest to the claimed line counts. */
function proven(claim: Claim, places: readonly Place[], status: 'exact' | 'moved'): Grounded {
  const claimed = status === 'exact' ? claim.line : null;
  const distance = ({ first, last }: Place) =>
    claimed === null ? 0 : Math.max(0, first - claimed, claimed - last);
  const place = places.reduce((best, each) => (distance(each) < distance(best) ? each : best));
  const isInside = claimed !== null && distance(place) === 0;
  // A claim may be too wide and not be wrong.
  const isAround = claimed !== null && claimed <= place.first && place.first <= (claim.endLine ?? claimed);
  const line = isInside ? claimed : place.first;
  const lineWas = isInside || isAround ? null : claim.line;
  return { path: place.path, line: line === 0 ? null : line, lineWas, status, issue: null };
}

function createText(path: string, lines: readonly string[], numberOf: Text['numberOf']): Text {
  const folded = lines.map(foldLine);
  return { path, lines, folded, indexes: Map.groupBy(folded.keys(), (at) => folded[at] ?? ''), numberOf };
}

/** Returns what the change removed from a file, at the lines above it. */
function removedText({ path, hunks }: FileChange): Text {
  const lines: string[] = [];
  const numbers: number[] = [];
  for (const { newStart, lines: marked } of hunks) {
    // git gives the line above as the start of a side without lines.
    let above = marked.every((line) => line.startsWith('-')) ? newStart : newStart - 1;
    for (const line of marked) {
      if (!line.startsWith('-')) above += 1;
      lines.push(line.startsWith('-') ? line.slice(1) : NO_LINE);
      numbers.push(above);
    }
    lines.push(NO_LINE);
    numbers.push(above);
  }
  return createText(path, lines, (index) => numbers[index] ?? 0);
}

/** Stands between removed lines that do not follow each other; no line of a quote has a line feed. */
const NO_LINE = '\n';

/** One way to read a quote: its lines as they are, and as they are compared. */
interface Form {
  readonly lines: readonly string[];
  readonly folded: readonly string[];
}

/** Returns the places of a quote: as whole lines before a part of a line, which has to be there once. */
function findQuote(forms: readonly Form[], texts: readonly Text[]): readonly Place[] {
  for (const find of [findLines, findFragment]) {
    for (const form of forms) {
      for (const text of texts) {
        const { path, numberOf } = text;
        const last = form.lines.length - 1;
        const places = find(form, text).map((at) => ({
          path,
          first: numberOf(at),
          last: numberOf(at + last),
        }));
        if (places.length > 0) return places;
      }
    }
  }
  return [];
}

function findLines({ lines, folded }: Form, text: Text): readonly number[] {
  const starts = (text.indexes.get(folded[0] ?? '') ?? []).filter((start) =>
    folded.every((line, at) => text.folded[start + at] === line),
  );
  const literal = starts.filter((start) => lines.every((line, at) => text.lines[start + at] === line));
  return literal.length > 0 ? literal : starts;
}

function findFragment({ folded: [fragment = '', ...others] }: Form, text: Text): readonly number[] {
  if (others.length > 0 || countLetters(fragment) < MIN_FRAGMENT_LETTERS) return [];
  const found = text.folded.flatMap((line, at) =>
    line
      .split(fragment)
      .slice(1)
      .map(() => at),
  );
  return found.length === 1 ? found : [];
}

/** A line number, as `read_file`, `grep -n`, `cat -n` and editors write it. */
const GUTTER = /^\s*\d{1,9}(?:\s*[:|│→]|[\s-])/;

/**
 * Returns the ways to read a quote, most literal first: as it is, and without the line numbers or diff marks that each of
 * its lines has. Empty if it is too short or too long to prove anything.
 */
function readQuote(quote: string): readonly Form[] {
  const all = quote.split(/\r?\n/);
  const isText = (line: string) => line.trim() !== '';
  const lines = all.slice(Math.max(0, all.findIndex(isText)), all.findLastIndex(isText) + 1);
  if (quote.length > MAX_QUOTE_CHARACTERS || lines.length > MAX_QUOTE_LINES) return [];
  const without = (from: readonly string[], pattern: RegExp) =>
    from.some((line) => !pattern.test(line) && isText(line))
      ? []
      : [from.map((line) => line.replace(pattern, ''))];
  const withoutMarks = (from: readonly string[]) =>
    from.some((line) => /^[+-]/.test(line)) ? without(from, /^[+\- ]/) : [];
  const unnumbered = without(lines, GUTTER);
  return [lines, ...withoutMarks(lines), ...unnumbered, ...unnumbered.flatMap(withoutMarks)]
    .filter((form) => countLetters(form.join('')) >= MIN_LETTERS)
    .map((form) => ({ lines: form, folded: form.map(foldLine) }));
}

/** Returns a line with each run of blanks as one space, without those at its ends: models leave out indentation. */
function foldLine(line: string): string {
  return line === NO_LINE ? line : line.trim().replace(/\s+/g, ' ');
}

function countLetters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

export function countGrounding(all: readonly Grounded[]): GroundingCounts {
  const count = (wanted: GroundingStatus) => all.filter(({ status }) => status === wanted).length;
  return { exact: count('exact'), moved: count('moved'), unproven: count('unproven') };
}
