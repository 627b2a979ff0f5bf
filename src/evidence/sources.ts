/** Searchable texts: files as they were before the agent, and the old side of a diff. Each search takes linear time. */
import { indexAt } from './lines.ts';
import { FAST_CHARACTERS, normalizeLine } from './normalize.ts';

/** Characters and lines of all texts that a run reads; some are held in memory, twice. A file has at most 10 MiB. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
const MAX_LINES = 2_000_000;
/** Longer lines are in no quote. */
const MAX_LINE = 2_000;
/** Lines and characters that all searches of a run look at: a second or two, however many findings there are. */
const MAX_WORK = 400_000_000;
/** What a search of one text, and a place that is found in it, cost beside that. */
const WORK_OF_SEARCH = 50;
const WORK_OF_PLACE = 100;

/** Line indexes, from 0, both inclusive. */
export interface Run {
  readonly first: number;
  readonly last: number;
}

/** One text. Line indexes start at 0. */
export interface Source {
  /** Calls the visitor for each run of lines that have these numbers; overlapping runs included. */
  findLines(ids: readonly number[], visit: (run: Run) => void): void;
  /** Calls the visitor for each place of a normalized text, which may begin and end within lines, until it returns true. */
  findText(text: string, visit: (run: Run, at: number) => boolean): void;
  /** Whether the lines from `first` on are these, character by character but for the CR before an LF. */
  isWritten(lines: readonly string[], first: number): boolean;
  /** Returns the character before and after a place of the normalized text; empty at its ends. */
  around(at: number, length: number): readonly [before: string, after: string];
  /** Returns lines as they are; lines that do not exist are left out. */
  lines(run: Run): readonly string[];
}

/** The numbers of the lines that are looked for; all other lines of a text have 0. */
export type LineIds = ReadonlyMap<string, number>;

/** What all texts and searches of a run may use together. */
export interface Allowance {
  characters: number;
  lines: number;
  work: number;
}

/** Returns those parts, of at most `FAST_CHARACTERS` each, that one of some texts holds; an empty one is in every text. */
export function findParts(
  texts: readonly string[],
  parts: ReadonlySet<string>,
  allowance: Allowance,
): ReadonlySet<string> {
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  allowance.work -= (characters + WORK_OF_SEARCH) * parts.size;
  if (allowance.work <= 0) return new Set();
  return new Set([...parts].filter((part) => texts.some((text) => text.includes(part))));
}

export function createAllowance(): Allowance {
  return { characters: MAX_CHARACTERS, lines: MAX_LINES, work: MAX_WORK };
}

/** Indexes a text; null if the run's limits do not allow it. */
export function createSource(text: string, ids: LineIds, allowance: Allowance): Source | null {
  if (text.length > allowance.characters) return null;
  const starts = startsOf(text, allowance.lines);
  if (starts === null) return null;
  allowance.characters -= text.length;
  allowance.lines -= starts.length;

  const line = (index: number) => {
    const end = starts[index + 1];
    const raw = text.slice(starts[index], end === undefined ? text.length : end - 1);
    return raw.endsWith('\r') ? raw.slice(0, -1) : raw;
  };
  const numbers = starts.map((_, index) => {
    const normalized = normalizeLine(line(index));
    return normalized.length > MAX_LINE ? 0 : (ids.get(normalized) ?? 0);
  });
  const present = new Set(numbers);
  /** The whole normalized text, which most files are not searched for. */
  let whole: { readonly text: string; readonly starts: Uint32Array } | null = null;
  const normalize = () => {
    if (whole !== null) return whole;
    const text = Array.from(starts, (_, index) => normalizeLine(line(index))).join('\n');
    whole = { text, starts: startsOf(text, starts.length) ?? starts };
    return whole;
  };

  return {
    findLines(wanted, visit) {
      allowance.work -= WORK_OF_SEARCH;
      if (wanted.length === 0 || wanted.some((id) => id === 0 || !present.has(id))) return;
      allowance.work -= starts.length;
      const last = wanted.length - 1;
      findAll(numbers, wanted, allowance, (first) => {
        visit({ first, last: first + last });
        return false;
      });
    },
    findText(wanted, visit) {
      if (wanted === '') return;
      const normalized = normalize();
      allowance.work -= WORK_OF_SEARCH + normalized.text.length;
      findAllInText(normalized.text, wanted, allowance, (at) => {
        const [first, last] = [at, at + wanted.length - 1].map((each) => indexAt(normalized.starts, each));
        return visit({ first: first ?? 0, last: last ?? 0 }, at);
      });
    },
    isWritten(wanted, first) {
      return wanted.every((each, index) => line(first + index) === each);
    },
    around(at, length) {
      const { text: normalized } = normalize();
      return [normalized.charAt(at - 1), normalized.charAt(at + length)];
    },
    lines: ({ first, last }) =>
      Array.from({ length: Math.max(0, Math.min(last + 1, starts.length) - first) }, (_, index) =>
        line(first + index),
      ),
  };
}

/** Returns the index at which each line starts; null for more lines than allowed. */
function startsOf(text: string, most: number): Uint32Array | null {
  let count = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  if (count > most) return null;
  const starts = new Uint32Array(count);
  let index = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts[index++] = at + 1;
  return starts;
}

/**
 * Finds all places of a sequence by Knuth, Morris and Pratt, overlapping ones included, until the visitor returns true.
 * `indexOf` takes a thousand times as long for texts made for it: 9 seconds for 1,000 characters in 10 MB.
 */
function findAll(
  all: Uint32Array,
  wanted: readonly number[],
  allowance: Allowance,
  visit: (at: number) => boolean,
): void {
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = 0; at < all.length && allowance.work > 0; at += 1) {
    while (matched > 0 && all[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
    if (all[at] === wanted[matched]) matched += 1;
    if (matched < wanted.length) continue;
    allowance.work -= WORK_OF_PLACE;
    if (visit(at - matched + 1)) return;
    matched = borders[matched - 1] ?? 0;
  }
}

/** The same for the characters of a text, of which no array is made. */
function findAllInText(
  text: string,
  wanted: string,
  allowance: Allowance,
  visit: (at: number) => boolean,
): void {
  const start = text.indexOf(wanted.slice(0, FAST_CHARACTERS));
  if (start === -1) return;
  const codes = Array.from({ length: wanted.length }, (_, at) => wanted.charCodeAt(at));
  const borders = bordersOf(codes);
  let matched = 0;
  for (let at = start; at < text.length && allowance.work > 0; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && code !== codes[matched]) matched = borders[matched - 1] ?? 0;
    if (code === codes[matched]) matched += 1;
    if (matched < codes.length) continue;
    allowance.work -= WORK_OF_PLACE;
    if (visit(at - matched + 1)) return;
    matched = borders[matched - 1] ?? 0;
  }
}

/** Returns for each prefix the length of its longest proper prefix that is also its suffix. */
function bordersOf(wanted: readonly number[]): readonly number[] {
  const borders = [0];
  let length = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = borders[length - 1] ?? 0;
    if (wanted[at] === wanted[length]) length += 1;
    borders.push(length);
  }
  return borders;
}
