/** A file of the repository, line by line: whether a line is there, and what is told of it that outlives its number. */

/** The text of a file in lines, counted from 1 and ended by LF. */
export interface SourceFile {
  readonly lineCount: number;
  /** The line without its end; empty for one that is not there. */
  line(number: number): string;
  /** How many lines with the same characters, blanks aside, stand above it. */
  sameAbove(number: number): number;
  /**
   * What GitHub's `upload-sarif` calculates for the line as `primaryLocationLineHash`; null for one that is not there.
   * An empty file has one line to it.
   */
  uploadHash(number: number): string | null;
}

const LF = 10;
const CR = 13;
const TAB = 9;
const BLANK = 32;
/** What stands behind the last character. */
const END = 65_535;
/** The characters that are hashed, and what the hash so far is multiplied with for each of them. */
const WINDOW = 100;
const FACTOR = 37;
const WORD = 2 ** 32;

/** Looks at a text in lines. */
export function sourceFile(text: string): SourceFile {
  const starts = lineStarts(text);
  const line = (number: number) => {
    const end = starts[number] ?? text.length;
    return text.slice(starts[number - 1] ?? end, end).replace(/\r?\n$/, '');
  };
  let above: Uint32Array | null = null;
  let hashes: readonly string[] | null = null;
  return {
    lineCount: starts.length,
    line,
    sameAbove(number) {
      above ??= countSame(starts.length, line);
      return above[number - 1] ?? 0;
    },
    uploadHash(number) {
      hashes ??= hashLines(text);
      return hashes[number - 1] ?? null;
    },
  };
}

/** Where lines begin; numbers alone, since a file of line ends would be millions of texts. */
function lineStarts(text: string): Uint32Array {
  let count = 0;
  for (let at = 0; at < text.length; at = after(text, at)) count += 1;
  const starts = new Uint32Array(count);
  let line = 0;
  for (let at = 0; line < count; at = after(text, at)) {
    starts[line] = at;
    line += 1;
  }
  return starts;
}

/** The place behind the next line end, or behind the text. */
function after(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** A line without what reformatting changes. */
export function squeezeLine(line: string): string {
  return line.replace(/\s+/g, '');
}

function countSame(lineCount: number, line: (number: number) => string): Uint32Array {
  const seen = new Map<string, number>();
  const above = new Uint32Array(lineCount);
  for (let number = 1; number <= lineCount; number += 1) {
    const key = squeezeLine(line(number));
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    above[number - 1] = before;
  }
  return above;
}

/**
 * A polynomial of the 100 characters from a line's first on, modulo 2⁶⁴, blanks and tabs left out, and behind a colon
 * the how many-th line of the file with this value it is. The numbers have 64 bits: two halves, each exact in a double.
 */
function hashLines(text: string): readonly string[] {
  const { characters, starts } = compress(text);
  const [topHigh, topLow] = power(WINDOW);
  const hashes: string[] = [];
  const seen = new Map<string, number>();
  let high = 0;
  let low = 0;
  let next = 0;
  for (let at = 0; next < starts.length; at += 1) {
    const entering = characters[at] ?? 0;
    const leaving = characters[at - WINDOW] ?? 0;
    const product = low * FACTOR + entering - topLow * leaving;
    high = modulo(high * FACTOR - topHigh * leaving + Math.floor(product / WORD));
    low = modulo(product);
    if (at - WINDOW + 1 !== starts[next]) continue;
    next += 1;
    const value = high === 0 ? low.toString(16) : high.toString(16) + low.toString(16).padStart(8, '0');
    const count = (seen.get(value) ?? 0) + 1;
    seen.set(value, count);
    hashes.push(`${value}:${count}`);
  }
  return hashes;
}

/** The characters that count, each line end as LF, and where among them lines begin. */
function compress(text: string): { readonly characters: Uint16Array; readonly starts: readonly number[] } {
  const characters = new Uint16Array(text.length + 1);
  const starts: number[] = [];
  let length = 0;
  let atStart = true;
  let afterReturn = false;
  const add = (code: number) => {
    if (atStart) starts.push(length);
    atStart = code === LF;
    characters[length] = code;
    length += 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const skipped = code === BLANK || code === TAB || (afterReturn && code === LF);
    afterReturn = code === CR;
    if (!skipped) add(code === CR ? LF : code);
  }
  add(END);
  return { characters: characters.subarray(0, length), starts };
}

/** The factor to the power of `exponent`, modulo 2⁶⁴, in two halves. */
function power(exponent: number): readonly [high: number, low: number] {
  const value = BigInt.asUintN(64, BigInt(FACTOR) ** BigInt(exponent));
  return [Number(value >> 32n), Number(value & 0xffff_ffffn)];
}

function modulo(value: number): number {
  return value - Math.floor(value / WORD) * WORD;
}
