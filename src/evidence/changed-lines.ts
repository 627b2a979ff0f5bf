/**
 * The lines of a change by their texts, and which of them were shown. A look at a text or a pair of texts takes constant
 * time, but for the first one with each kind of mark, which visits the lines of the text, or of the rarer of the two.
 */

import { withoutSequences } from '../text/sanitize.ts';
import type { FileChange } from './change.ts';
import { indexAt } from './lines.ts';

/** Characters of a line that are compared; tools cut lines as well. */
const LINE_CHARACTERS = 1_000;
/** Characters of a line without letters or digits that is never looked for alone, such as a brace. */
const TRIVIAL_CHARACTERS = 8;

/**
 * The mark of a seen line: of a diff, `none`, or `old` for a line without a mark that may come from an old revision of the
 * file.
 */
export const MARKS = { none: 0, added: 1, removed: 2, context: 3, old: 4 } as const;
export type Mark = (typeof MARKS)[keyof typeof MARKS];

/** A line that was seen, by the id of its text. */
export interface SeenLine {
  readonly text: number;
  readonly mark: Mark;
}

/** What is shown of one file. */
export interface ShownFile {
  readonly hunks: number;
  readonly shownHunks: number;
}

export interface ChangedLines {
  /** Returns the id of a text that occurs in the change, or undefined. */
  find(line: string): number | undefined;
  /**
   * Shows a line of a file where its number says or, if it has none or is from a diff, where its text occurs only once;
   * returns whether there was such a place.
   * @param number on the old side for a removed line, else on the new side; null if unknown.
   */
  show(file: number, line: SeenLine, number: number | null): boolean;
  /** Shows two lines that were seen one after the other, where they are neighbours in the file. */
  showPair(file: number, first: SeenLine, second: SeenLine): void;
  /** The same in the one file of the change in which they are neighbours; nothing if there are several. */
  showPairAnywhere(first: SeenLine, second: SeenLine): void;
  measure(file: number): ShownFile;
}

/** Whether a line is too ordinary to be recognized without its neighbours. */
export function isTrivial(text: string): boolean {
  return text.length <= TRIVIAL_CHARACTERS && !/[\p{L}\p{N}]/u.test(text);
}

/**
 * Returns the part of a line without terminal sequences that is compared. NUL looks as in the output of the shell tool;
 * read_file leaves out a byte order mark.
 */
export function comparable(line: string): string {
  const start = line.charCodeAt(0) === 0xfeff ? 1 : 0;
  const text = start > 0 || line.length > LINE_CHARACTERS ? line.slice(start, start + LINE_CHARACTERS) : line;
  return text.includes('\0') ? text.replaceAll('\0', '\u2400') : text;
}

const [ADDED, REMOVED, CONTEXT] = ['+', '-', ' '].map((mark) => mark.charCodeAt(0));

/** Where two lines can be neighbours: in the diff, on its new side, on its old side. */
const [DIFF, NEW, OLD] = [0, 1, 2] as const;
const SIDES = [DIFF, NEW, OLD] as const;

function isOnSide(mark: number | undefined, side: (typeof SIDES)[number]): boolean {
  return side === DIFF || mark !== (side === NEW ? REMOVED : ADDED);
}

/** Lines of each of several texts: the last one, plus 1, and how many there are. */
interface LineLists {
  readonly last: Int32Array;
  readonly count: Int32Array;
}

function appendLine({ last, count }: LineLists, at: number, line: number): void {
  last[at] = line + 1;
  count[at] = (count[at] ?? 0) + 1;
}

/** The lines of one text. */
interface LineList {
  readonly text: number;
  /** The last one, plus 1. */
  readonly last: number;
  readonly count: number;
}

function listOf({ last, count }: LineLists, at: number, text: number): LineList {
  return { text, last: last[at] ?? 0, count: count[at] ?? 0 };
}

/** Whether two texts are looked for only once, because even the rarer one has many lines. */
function areCommon(one: LineList, other: LineList): boolean {
  return Math.min(one.count, other.count) > FEW_LINES;
}

/** Two neighbouring lines. */
type Place = readonly [one: number, other: number];

/** How many lines may be looked at again and again. */
const FEW_LINES = 32;

/** Indexes the lines of all files; a file is named by its index. */
export function indexLines(files: readonly FileChange[]): ChangedLines {
  const count = files.reduce(
    (sum, { hunks }) => sum + hunks.reduce((all, { lineCount }) => all + lineCount, 0),
    0,
  );
  // By line, in the order of the change. Pages of an array that are never written take no memory, so lines are numbered
  // from 1 where there may be none.
  const marks = new Uint8Array(count);
  const shown = new Uint8Array(count);
  const oldNumbers = new Int32Array(count);
  const newNumbers = new Int32Array(count);
  const textOf = new Int32Array(count).fill(-1);
  /** The line of the same text before it, plus 1; those of one file follow each other. */
  const sameText = new Int32Array(count);
  /** The nearest lines that are not trivial: in the diff, on the new side, on the old side; 0 for none. */
  const above = SIDES.map(() => new Int32Array(count));
  const below = SIDES.map(() => new Int32Array(count));
  /** Whether the line stands beside another one on the new side, which tells it from the same text elsewhere in the file. */
  const hasNeighbour = new Uint8Array(count);
  const firstLine = new Uint32Array(files.length + 1);

  const texts = new Map<string, number>();
  /** The lines of a text in all files, and in one. */
  const allLines = { last: new Int32Array(count), count: new Int32Array(count) };
  /** The number of each pair of a file and a text, from 0. */
  const groups = new Map<number, number>();
  const groupOf = (file: number, text: number) => groups.get(file * count + text) ?? -1;
  const group = {
    last: new Int32Array(count),
    count: new Int32Array(count),
    seen: new Uint8Array(count),
    // How many of its lines are on each side; 2 stands for more.
    old: new Uint8Array(count),
    now: new Uint8Array(count),
    removed: new Uint8Array(count),
  };
  /** The marks with which pairs of common texts were looked for. */
  const lookedFor = { inFile: new Map<number, number>(), anywhere: new Map<number, number>() };

  function addLine(line: number, file: number, text: string): void {
    let id = texts.get(text);
    if (id === undefined) {
      id = texts.size;
      texts.set(text, id);
    }
    textOf[line] = id;
    const at = groups.get(file * count + id) ?? groups.size;
    groups.set(file * count + id, at);
    sameText[line] = allLines.last[id] ?? 0;
    appendLine(allLines, id, line);
    appendLine(group, at, line);
    const increment = (counts: Uint8Array) => {
      counts[at] = Math.min(2, (counts[at] ?? 0) + 1);
    };
    if (marks[line] !== REMOVED) increment(group.now);
    if (marks[line] !== ADDED) increment(group.old);
    if (marks[line] === REMOVED) increment(group.removed);
  }

  /** @param before the lines before it that are not trivial, by side; plus 1, and 0 for none. */
  function addNeighbours(line: number, before: readonly number[]): void {
    for (const side of SIDES) {
      const other = before[side] ?? 0;
      if (other === 0 || !isOnSide(marks[line], side)) continue;
      (above[side] as Int32Array)[line] = other;
      (below[side] as Int32Array)[other - 1] = line + 1;
    }
  }

  let line = 0;
  for (const [file, { hunks }] of files.entries()) {
    firstLine[file] = line;
    for (const { lines: readLines, oldStart, newStart } of hunks) {
      const lines = readLines();
      // The number of the line before the next one, on each side; a side without lines counts from the line before it.
      let [old, now] = [oldStart - 1, newStart - 1];
      // The lines before this one, plus 1: in the diff, on the new side, on the old side.
      const before = SIDES.map(() => 0);
      const compared = lines.map((each) => comparable(withoutSequences(each.slice(1))));
      const isTrivialHunk = compared.every(isTrivial);
      for (const [at, each] of lines.entries()) {
        const mark = each.charCodeAt(0);
        marks[line] = mark;
        if (mark !== ADDED) old += 1;
        if (mark !== REMOVED) now += 1;
        oldNumbers[line] = old;
        newNumbers[line] = now;
        const text = compared[at] ?? '';
        if (isTrivialHunk || !isTrivial(text)) {
          addLine(line, file, text);
          addNeighbours(line, before);
          const beforeNew = before[NEW] ?? 0;
          if (!isTrivialHunk && mark !== REMOVED && beforeNew !== 0)
            hasNeighbour[line] = hasNeighbour[beforeNew - 1] = 1;
          for (const side of SIDES) if (isOnSide(mark, side)) before[side] = line + 1;
        }
        line += 1;
      }
    }
  }
  firstLine[files.length] = line;

  /** Whether a line of the change can look like one that was seen with this mark. */
  function fits(at: number, mark: Mark, isRemoved: boolean): boolean {
    if (marks[at] === CONTEXT) return mark !== MARKS.removed;
    if (marks[at] === ADDED) return mark !== MARKS.removed;
    return mark === MARKS.removed || mark === MARKS.old || (isRemoved && mark === MARKS.none);
  }

  /** Returns the line with a number; -1 if there is none. */
  function lineAt(file: number, number: number, numbers: Int32Array): number {
    let [low, high] = [firstLine[file] ?? 0, firstLine[file + 1] ?? 0];
    const end = high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((numbers[middle] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    return low < end && numbers[low] === number ? low : -1;
  }

  function isUnique(at: number, mark: Mark, isRemoved: boolean): boolean {
    const [old, now, removed] = [group.old[at] ?? 0, group.now[at] ?? 0, group.removed[at] ?? 0];
    if (mark === MARKS.removed) return removed === 1;
    if (mark === MARKS.old) return old <= 1 && now <= 1;
    return isRemoved ? old === 1 : now === 1;
  }

  /** Yields the lines of a list, the last one first. */
  function* readLines({ last, count }: LineList): Generator<number> {
    for (let [at, left] = [last, count]; left > 0; [at, left] = [sameText[at - 1] ?? 0, left - 1])
      yield at - 1;
  }

  /**
   * Yields the places where two texts are neighbours. It looks at the lines of the rarer one: then all pairs of texts
   * together take far less time than the square of the lines.
   */
  function* findNeighbours(one: LineList, other: LineList): Generator<Place> {
    const isFirstRarer = one.count <= other.count;
    const [rarer, sides, wanted] = isFirstRarer ? [one, below, other.text] : [other, above, one.text];
    for (const line of readLines(rarer)) {
      for (const neighbours of sides) {
        const neighbour = (neighbours[line] ?? 0) - 1;
        if (neighbour !== -1 && textOf[neighbour] === wanted)
          yield isFirstRarer ? [line, neighbour] : [neighbour, line];
      }
    }
  }

  /** Remembers that two texts were looked for with these marks; returns whether they were before. */
  function wasLookedFor(known: Map<number, number>, key: number, first: Mark, second: Mark): boolean {
    const bit = 1 << (first * 5 + second);
    const bits = known.get(key) ?? 0;
    known.set(key, bits | bit);
    return (bits & bit) !== 0;
  }

  function showPlaces(places: Iterable<Place>, file: number, first: Mark, second: Mark): void {
    const isRemoved = files[file]?.isRemoved ?? false;
    for (const [one, other] of places)
      if (fits(one, first, isRemoved) && fits(other, second, isRemoved)) shown[one] = shown[other] = 1;
  }

  /** Returns the places where two texts are neighbours, and their file; null if there are several files. */
  function findOnlyFile(places: Iterable<Place>): { readonly file: number; readonly places: Place[] } | null {
    let file = -1;
    const found: Place[] = [];
    for (const place of places) {
      const its = indexAt(firstLine, place[0]);
      if (file !== -1 && its !== file) return null;
      file = its;
      found.push(place);
    }
    return { file, places: found };
  }

  return {
    find: (text) => texts.get(text),
    show(file, { text, mark }, number) {
      const at = groupOf(file, text);
      if (at === -1) return false;
      const isRemoved = files[file]?.isRemoved ?? false;
      if (number !== null) {
        const numbers = mark === MARKS.removed || isRemoved ? oldNumbers : newNumbers;
        const found = lineAt(file, number, numbers);
        if (found !== -1 && textOf[found] === text && fits(found, mark, isRemoved)) {
          shown[found] = 1;
          return true;
        }
      }
      // Outside of a diff, the same text may stand elsewhere in the file: its neighbours tell.
      if (mark === MARKS.none && (number !== null || hasNeighbour[(group.last[at] ?? 0) - 1] === 1))
        return false;
      if (!isUnique(at, mark, isRemoved)) return false;
      const seen = group.seen[at] ?? 0;
      if ((seen & (1 << mark)) !== 0) return true;
      group.seen[at] = seen | (1 << mark);
      for (const each of readLines(listOf(group, at, text))) if (fits(each, mark, isRemoved)) shown[each] = 1;
      return true;
    },
    showPair(file, first, second) {
      const [one, other] = [groupOf(file, first.text), groupOf(file, second.text)];
      if (one === -1 || other === -1) return;
      const lists = [listOf(group, one, first.text), listOf(group, other, second.text)] as const;
      const key = one * count + other;
      if (areCommon(...lists) && wasLookedFor(lookedFor.inFile, key, first.mark, second.mark)) return;
      showPlaces(findNeighbours(...lists), file, first.mark, second.mark);
    },
    showPairAnywhere(first, second) {
      const lists = [
        listOf(allLines, first.text, first.text),
        listOf(allLines, second.text, second.text),
      ] as const;
      const key = first.text * count + second.text;
      if (areCommon(...lists) && wasLookedFor(lookedFor.anywhere, key, first.mark, second.mark)) return;
      const found = findOnlyFile(findNeighbours(...lists));
      if (found !== null) showPlaces(found.places, found.file, first.mark, second.mark);
    },
    measure(file) {
      const hunks = files[file]?.hunks ?? [];
      let at = firstLine[file] ?? 0;
      let shownHunks = 0;
      for (const { lineCount } of hunks) {
        if (isHunkShown(at, at + lineCount)) shownHunks += 1;
        at += lineCount;
      }
      return { hunks: hunks.length, shownHunks };
    },
  };

  /** Whether a changed line of a hunk is shown; a trivial one is with the one before or after it. */
  function isHunkShown(start: number, end: number): boolean {
    let isUnchanged = true;
    let isPending = false;
    let isLastShown = false;
    for (let at = start; at < end; at++) {
      const isChange = marks[at] !== CONTEXT;
      isUnchanged &&= !isChange;
      if (textOf[at] === -1) {
        if (isChange && isLastShown) return true;
        isPending ||= isChange;
        continue;
      }
      isLastShown = shown[at] === 1;
      if (isLastShown && (isChange || isPending)) return true;
      isPending = false;
    }
    return isUnchanged;
  }
}
