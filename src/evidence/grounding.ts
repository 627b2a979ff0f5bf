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

/** What a finding about a file claims. All of it is text of the model. */
export interface Claim {
  /** Relative to the repository root; null if there is no such file. */
  readonly path: string | null;
  /** 1-based. */
  readonly line: number | null;
  /** Text copied from the file; null if there is none. */
  readonly quote: string | null;
}

export interface Grounded {
  readonly path: string | null;
  /** The proven line or, without a proof, the claimed one; from 1. */
  readonly line: number | null;
  /** The claimed line if the quote is elsewhere; null otherwise. */
  readonly lineWas: number | null;
  /** null for a finding about no file, which is exempt. */
  readonly status: GroundingStatus | null;
  /** For the model: what is wrong with the quote; null if it proves its place, or if another one would not help. */
  readonly issue: string | null;
}

/** Returns the text of a file as it was before the agent, by its path from the repository root; null if there is none. */
export type ReadSource = (path: string) => string | null;

/** A file and what the change removed from it. */
interface Text {
  readonly path: string;
  /** Its lines as they are compared, and the indexes of each. */
  readonly lines: readonly string[];
  readonly indexes: ReadonlyMap<string, readonly number[]>;
  /** The number at which each line is shown: a removed one at the line above it. */
  readonly numbers: readonly number[];
}

interface Place {
  readonly path: string;
  readonly first: number;
  readonly last: number;
}

/**
 * Checks each finding; the result has the order of the claims.
 * @param claims null for a finding about no file
 */
export async function groundFindings(
  claims: readonly (Claim | null)[],
  read: ReadSource,
  change: Change | null,
): Promise<readonly Grounded[]> {
  const files = new Map(change?.files.map((file) => [file.path, file]));
  const opened = new Map<string, Text | null>();
  let left: number = MAX_CHARACTERS;

  /** Returns the text of a path; null if there is none, or no room. */
  function open(path: string): Text | null {
    const known = opened.get(path);
    if (known !== undefined || left < 0) return known ?? null;
    const source = read(path);
    const file = files.get(path);
    left -= source?.length ?? 0;
    const isNothing = left < 0 || (source === null && file === undefined);
    const text = isNothing ? null : createText(path, source ?? '', file);
    opened.set(path, text);
    return text;
  }

  function ground(claim: Claim): Grounded {
    const { path, quote } = claim;
    if (quote === null) return unproven(claim);
    const forms = readQuote(quote);
    if (forms.length === 0) return unproven(claim, 'proves nothing: quote one to three whole lines.');
    const places = path === null ? [] : findQuote(forms, open(path));
    if (places.length > 0) return proven(claim, places, 'exact');
    const others = [...files.keys()].map((other) => (other === path ? [] : findQuote(forms, open(other))));
    const [elsewhere = [], ...more] = others.filter((found) => found.length > 0);
    if (elsewhere.length > 0 && more.length === 0 && left >= 0) return proven(claim, elsewhere, 'moved');
    if (path === null)
      return unproven(claim, 'is in no changed file, and the file that the finding names was not found.');
    // Without the text of its file, it is not known whether the quote is wrong.
    if (open(path) === null) return unproven(claim);
    const name = truncate(path, DISPLAY.path);
    return unproven(claim, `is not in ${name}; copy whole lines as they are in the file, without omissions.`);
  }

  // Files that findings name come first: not all of a large change may be read.
  for (const claim of claims.slice(0, MAX_CHECKED))
    if (claim?.quote != null && claim.path !== null) open(claim.path);
  const results: Grounded[] = [];
  for (const [at, claim] of claims.entries()) {
    if (claim === null) results.push({ path: null, line: null, lineWas: null, status: null, issue: null });
    else results.push(at < MAX_CHECKED ? ground(claim) : unproven(claim));
    // Lets signals and timers run.
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  return results;
}

function unproven({ path, line }: Claim, issue: string | null = null): Grounded {
  return { path, line, lineWas: null, status: 'unproven', issue };
}

/** @param places at least one, of which the one nearest to the claimed line counts. */
function proven(claim: Claim, places: readonly Place[], status: 'exact' | 'moved'): Grounded {
  const claimed = status === 'exact' ? claim.line : null;
  const distance = ({ first, last }: Place) =>
    claimed === null ? 0 : Math.max(0, first - claimed, claimed - last);
  const place = places.reduce((best, each) => (distance(each) < distance(best) ? each : best));
  const isThere = claimed !== null && distance(place) === 0;
  const line = isThere ? claimed : place.first;
  // What was removed from the top of a file has no line above it.
  return { path: place.path, line: line || null, lineWas: isThere ? null : claim.line, status, issue: null };
}

function createText(path: string, source: string, file: FileChange | undefined): Text {
  const lines = source.split('\n').map(foldLine);
  const numbers = lines.map((_, at) => at + 1);
  for (const hunk of file?.hunks ?? []) {
    // git gives the line above as the start of a side without lines.
    let above = hunk.lines.every((line) => line.startsWith('-')) ? hunk.newStart : hunk.newStart - 1;
    lines.push(NO_LINE);
    numbers.push(above);
    for (const line of hunk.lines) {
      const isRemoved = line.startsWith('-');
      if (!isRemoved) above += 1;
      lines.push(isRemoved ? foldLine(line.slice(1)) : NO_LINE);
      numbers.push(above);
    }
  }
  const indexes = Map.groupBy(lines.keys(), (at) => lines[at] ?? '');
  return { path, lines, indexes, numbers };
}

/** Stands between removed lines that do not follow each other; no line of a quote has a line feed. */
const NO_LINE = '\n';

/** Returns the places of a quote: as whole lines before a part of a line, which has to be there once. */
function findQuote(forms: readonly (readonly string[])[], text: Text | null): readonly Place[] {
  if (text === null) return [];
  const { path, numbers } = text;
  const numberOf = (at: number) => numbers[at] ?? 0;
  for (const find of [findLines, findFragment]) {
    for (const form of forms) {
      const last = form.length - 1;
      const places = find(form, text).map((at) => ({ path, first: numberOf(at), last: numberOf(at + last) }));
      if (places.length > 0) return places;
    }
  }
  return [];
}

function findLines(quoted: readonly string[], { lines, indexes }: Text): readonly number[] {
  const starts = indexes.get(quoted[0] ?? '') ?? [];
  return starts.filter((start) => quoted.every((line, at) => lines[start + at] === line));
}

function findFragment([fragment = '', ...others]: readonly string[], { lines }: Text): readonly number[] {
  if (others.length > 0 || countLetters(fragment) < MIN_FRAGMENT_LETTERS) return [];
  const has = (line: string) => line.includes(fragment);
  const at = lines.findIndex(has);
  const isOnce = at === lines.findLastIndex(has) && lines[at]?.split(fragment).length === 2;
  return isOnce ? [at] : [];
}

/** A line number, as `read_file`, `grep -n`, `cat -n` and editors write it. */
const GUTTER = /^\s*\d{1,9}(?:\t|\s*[:|│→]|[\s-])/;

/**
 * Returns the ways to read a quote, most literal first: as it is, and without the line numbers or diff marks that each of
 * its lines has. Empty if it is too short or too long to prove anything.
 */
function readQuote(quote: string): readonly (readonly string[])[] {
  const all = quote.split('\n');
  const isText = (line: string) => line.trim() !== '';
  const lines = all.slice(Math.max(0, all.findIndex(isText)), all.findLastIndex(isText) + 1);
  if (quote.length > MAX_QUOTE_CHARACTERS || lines.length > MAX_QUOTE_LINES) return [];
  const without = (pattern: RegExp, from: readonly string[]) =>
    from.every((line) => pattern.test(line) || !isText(line))
      ? from.map((line) => line.replace(pattern, ''))
      : from;
  const withoutMarks = (from: readonly string[]) =>
    from.some((line) => /^[+-]/.test(line)) ? without(/^[+\- ]/, from) : from;
  const unnumbered = without(GUTTER, lines);
  const forms = [lines, withoutMarks(lines), unnumbered, withoutMarks(unnumbered)];
  const folded = new Set(forms.map((form) => form.map(foldLine).join('\n')));
  return [...folded].filter((form) => countLetters(form) >= MIN_LETTERS).map((form) => form.split('\n'));
}

/** Returns a line with each run of blanks as one space, without those at its ends: models leave out indentation. */
function foldLine(line: string): string {
  return line.trim().replace(/\s+/g, ' ');
}

function countLetters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

export function countGrounding(all: readonly Grounded[]): GroundingCounts {
  const count = (wanted: GroundingStatus) => all.filter(({ status }) => status === wanted).length;
  return { exact: count('exact'), moved: count('moved'), unproven: count('unproven') };
}
