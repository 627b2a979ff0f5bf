/** A file of the repository, line by line: whether a line is there, and what is told of it that outlives its number. */

/** The text of a file in lines, counted from 1 and ended by LF. */
export interface SourceFile {
  readonly lineCount: number;
  /** The line without its end; empty for one that is not there. */
  line(number: number): string;
  /** How many lines with the same characters, blanks aside, stand above it. */
  sameAbove(number: number): number;
}

/** Looks at a text in lines. */
export function sourceFile(text: string): SourceFile {
  const starts = lineStarts(text);
  const line = (number: number) => {
    const end = starts[number] ?? text.length;
    return text.slice(starts[number - 1] ?? end, end).replace(/\r?\n$/, '');
  };
  let above: Uint32Array | null = null;
  return {
    lineCount: starts.length,
    line,
    sameAbove(number) {
      above ??= countSame(starts.length, line);
      return above[number - 1] ?? 0;
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
