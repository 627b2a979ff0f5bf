/** Which lines of a file the change under review touches, and the lines that it removed. */
import type { GroundingLabel } from '../types.ts';
import type { FileChange } from './change.ts';

const NEAR_LINES = 3;

/** A line of the old side of a diff. */
export interface OldLine {
  readonly text: string;
  readonly hunk: number;
  readonly number: number;
  /** The number of the line on the new side; of a removed one, of the line above it, and 0 at the top. */
  readonly newNumber: number;
  readonly isRemoved: boolean;
}

/** The change of one file. Line numbers are those of the new side. */
export interface ChangedLines {
  readonly old: readonly OldLine[];
  /** Whether the lines are inside one hunk, context included. */
  isInHunk(first: number, last: number): boolean;
  labelOf(first: number, last: number): GroundingLabel;
}

export function readChangedLines(file: FileChange): ChangedLines {
  const old: OldLine[] = [];
  /** Added lines; and for removed ones, half a line below the line above them. */
  const changed: number[] = [];
  const ranges: Range[] = [];
  for (const [hunk, { oldStart, newStart, lines: readLines }] of file.hunks.entries()) {
    const lines = readLines();
    let [number, next] = [oldStart, newStart];
    // git gives the line above as the start of a side without lines.
    if (!lines.some(isOnNewSide)) next += 1;
    if (!lines.some((line) => line.startsWith('-') || line.startsWith(' '))) number += 1;
    const first = next;
    for (const line of lines) {
      const [mark, text] = [line.charAt(0), line.slice(1)];
      if (mark === '+') changed.push(next);
      else if (mark === '-') changed.push(next - 0.5);
      else if (mark !== ' ') continue;
      if (mark !== '+') {
        const isRemoved = mark === '-';
        old.push({ text, hunk, number, newNumber: isRemoved ? next - 1 : next, isRemoved });
        number += 1;
      }
      if (mark !== '-') next += 1;
    }
    if (next > first) ranges.push([first, next - 1]);
  }
  changed.sort((one, other) => one - other);
  const merged = mergeRanges(ranges);
  const starts = merged.map(([first]) => first);
  return {
    old,
    isInHunk(first, last) {
      const range = merged[countUpTo(starts, first) - 1];
      return range !== undefined && last <= range[1];
    },
    labelOf(first, last) {
      const index = countUpTo(changed, last);
      const [above, below] = [changed[index - 1], changed[index]];
      if (above !== undefined && above >= first) return 'in_change';
      const isNear =
        (above !== undefined && first - above <= NEAR_LINES) ||
        (below !== undefined && below - last <= NEAR_LINES);
      return isNear ? 'near' : 'same_file';
    },
  };
}

function isOnNewSide(line: string): boolean {
  return line.startsWith('+') || line.startsWith(' ');
}

type Range = readonly [first: number, last: number];

/** Sorts ranges and joins those that overlap. */
function mergeRanges(ranges: readonly Range[]): readonly Range[] {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((one, other) => one[0] - other[0])) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before[1]) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

/** Returns how many of the sorted numbers are not above a number. */
function countUpTo(sorted: readonly number[], most: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}
