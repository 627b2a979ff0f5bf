/** What a line of a tool's result can be: a line of a file as it is, or behind a line number, a mark or a path. */
import { MARKS, type Mark } from './changed-lines.ts';

/** Characters of a line that are looked at: those compared, behind the longest path. */
const LOOKED_AT = 6_000;
/** Colons, or numbers between hyphens, at which a path may end. */
const PATH_ENDS = 8;
/** Digits of a line number. */
const DIGITS = 9;

/** One way to read a line. Neighbours are read in the same way. */
export interface Candidate {
  readonly way: number;
  readonly text: string;
  readonly mark: Mark;
  readonly number: number | null;
}

/** Returns the part of a line that is looked at. */
export function boundLine(line: string): string {
  return line.length > LOOKED_AT ? line.slice(0, LOOKED_AT) : line;
}

/** The line behind a line number. */
interface Numbered {
  readonly number: number;
  readonly rest: string;
  /** Whether a blank at the start of the rest may belong to the separator. */
  readonly mayPad: boolean;
}

/**
 * Reads a line number with what separates it from the line: `12:`, `12-`, `12` and a tab, `12 |` and `12 │`; a code frame
 * may have `>` or `❯` before it. null if there is none.
 */
export function readNumbered(line: string): Numbered | null {
  let at = skipBlanks(line, 0);
  if (line[at] === '>' || line[at] === '❯') at = skipBlanks(line, at + 1);
  const end = skipDigits(line, at);
  if (end === at || end - at > DIGITS) return null;
  const number = Number(line.slice(at, end));
  const separator = line[end] ?? '';
  if (separator === '\t' || separator === '-' || separator === ':')
    return { number, rest: line.slice(end + 1), mayPad: separator === ':' };
  const bar = skipBlanks(line, end);
  return line[bar] === '|' || line[bar] === '│' ? { number, rest: line.slice(bar + 1), mayPad: true } : null;
}

/**
 * Returns the ways to read a line outside of a diff.
 * @param isPlain whether it is a line of a file, whose first character is no mark: with one blank less, another line of
 * the file may be the same.
 */
export function readCandidates(line: string, numbered: Numbered | null, isPlain: boolean): Candidate[] {
  const candidates: Candidate[] = [];
  const add = (way: number, text: string, number: number | null) => {
    candidates.push({ way, text, mark: MARKS.none, number });
    const mark = isPlain ? null : readMark(text);
    if (mark !== null) candidates.push({ way: way + 1, text: text.slice(1), mark, number: null });
  };
  add(1, line, null);
  if (numbered === null) return candidates;
  add(3, numbered.rest, numbered.number);
  if (numbered.mayPad && numbered.rest.startsWith(' ')) add(5, numbered.rest.slice(1), numbered.number);
  return candidates;
}

/** Returns the diff mark that a line begins with, or null. */
export function readMark(line: string): Mark | null {
  const first = line[0];
  if (first === '+') return MARKS.added;
  if (first === '-') return MARKS.removed;
  return first === ' ' ? MARKS.context : null;
}

/**
 * Reads `path:12:line`, `path-12-line` and `path:line`, as grep and rg write them.
 * @param resolve returns the index of a changed file, or null.
 */
export function readPrefixed(
  line: string,
  resolve: (path: string) => number | null,
): { readonly file: number; readonly candidate: Candidate } | null {
  for (
    let at = line.indexOf(':'), tries = 0;
    at > 0 && tries < PATH_ENDS;
    at = line.indexOf(':', at + 1), tries++
  ) {
    const file = resolve(line.slice(0, at));
    if (file === null) continue;
    const end = skipDigits(line, at + 1);
    const isNumber = end > at + 1 && end - at <= DIGITS && line[end] === ':';
    const number = isNumber ? Number(line.slice(at + 1, end)) : null;
    return {
      file,
      candidate: { way: 7, text: line.slice((isNumber ? end : at) + 1), mark: MARKS.none, number },
    };
  }
  for (
    let at = line.indexOf('-'), tries = 0;
    at !== -1 && tries < PATH_ENDS;
    at = line.indexOf('-', at + 1)
  ) {
    const end = skipDigits(line, at + 1);
    if (at === 0 || end === at + 1 || end - at > DIGITS || line[end] !== '-') continue;
    tries += 1;
    const file = resolve(line.slice(0, at));
    if (file === null) continue;
    const number = Number(line.slice(at + 1, end));
    return { file, candidate: { way: 7, text: line.slice(end + 1), mark: MARKS.none, number } };
  }
  return null;
}

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (line[at] === ' ') at += 1;
  return at;
}

function skipDigits(line: string, from: number): number {
  let at = from;
  while (at - from <= DIGITS) {
    const code = line.charCodeAt(at);
    // NaN behind the end.
    if (!(code >= 48 && code <= 57)) break;
    at += 1;
  }
  return at;
}
