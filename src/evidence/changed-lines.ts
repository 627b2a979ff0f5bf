/**
 * The lines of a change by their texts, and which of them were shown. Every look takes constant time but for the lines
 * that it shows: each place of a text or a pair is visited once for each kind of mark, however often the text is seen.
 */
import type { FileChange } from './change.ts';
import { createIdPairs } from './id-pairs.ts';
import { withoutSequences } from './lines.ts';

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
  readonly lines: number;
  readonly shownLines: number;
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

/** Indexes the lines of all files; a file is named by its index. */
export function indexLines(files: readonly FileChange[]): ChangedLines {
  const count = files.reduce(
    (sum, { hunks }) => sum + hunks.reduce((all, { lines }) => all + lines.length, 0),
    0,
  );
  // By line, in the order of the change.
  const marks = new Uint8Array(count);
  const shown = new Uint8Array(count);
  const oldNumbers = new Int32Array(count);
  const newNumbers = new Int32Array(count);
  const textOf = new Int32Array(count).fill(-1);
  const nextInGroup = new Int32Array(count).fill(-1);
  /** Whether the line stands beside another one on the new side, which tells it from the same text elsewhere in the file. */
  const hasNeighbour = new Uint8Array(count);
  const firstLine = new Int32Array(files.length + 1);

  const texts = new Map<string, number>();
  // A group is a text in a file, a pair two groups that are neighbours.
  const groups = createIdPairs(count);
  const groupOf = new Int32Array(count).fill(-1);
  const group = {
    first: new Int32Array(count).fill(-1),
    seen: new Uint8Array(count),
    // How many of its lines are on each side; 2 stands for more.
    old: new Uint8Array(count),
    now: new Uint8Array(count),
    removed: new Uint8Array(count),
  };
  // A line has at most three lines before it: in the diff and on either side. Pages of an array that are never written
  // take no memory, so a number that is none yet is 0.
  const mostPairs = 3 * count;
  const pairs = createIdPairs(mostPairs);
  const pair = {
    /** Its first place, plus 1. */
    first: new Int32Array(mostPairs),
    seen: new Int32Array(mostPairs),
    file: new Int32Array(mostPairs),
  };
  let places = 0;
  const place = {
    one: new Int32Array(mostPairs),
    other: new Int32Array(mostPairs),
    /** The next place of its pair, plus 1. */
    next: new Int32Array(mostPairs),
  };
  const pairsOfTexts = createIdPairs(mostPairs);
  /** The pair of two texts, plus 1; -1 if several files have it. */
  const pairOfTexts = new Int32Array(mostPairs);

  function addLine(line: number, file: number, text: string): void {
    let id = texts.get(text);
    if (id === undefined) {
      id = texts.size;
      texts.set(text, id);
    }
    textOf[line] = id;
    const at = groups.add(file, id);
    groupOf[line] = at;
    nextInGroup[line] = group.first[at] ?? -1;
    group.first[at] = line;
    const increment = (counts: Uint8Array) => {
      counts[at] = Math.min(2, (counts[at] ?? 0) + 1);
    };
    if (marks[line] !== REMOVED) increment(group.now);
    if (marks[line] !== ADDED) increment(group.old);
    if (marks[line] === REMOVED) increment(group.removed);
  }

  function addPair(file: number, one: number, other: number): void {
    if (one === -1) return;
    const at = pairs.add(groupOf[one] ?? 0, groupOf[other] ?? 0);
    if (pair.first[at] === 0) {
      pair.file[at] = file;
      const texts = pairsOfTexts.add(textOf[one] ?? 0, textOf[other] ?? 0);
      pairOfTexts[texts] = pairOfTexts[texts] === 0 ? at + 1 : -1;
    }
    place.one[places] = one;
    place.other[places] = other;
    place.next[places] = pair.first[at] ?? 0;
    places += 1;
    pair.first[at] = places;
  }

  let line = 0;
  for (const [file, { hunks }] of files.entries()) {
    firstLine[file] = line;
    for (const { lines, oldStart, newStart } of hunks) {
      // The number of the line before the next one, on each side; a side without lines counts from the line before it.
      let [old, now] = [oldStart - 1, newStart - 1];
      // The lines before this one: in the diff, on the new side, on the old side.
      let [last, lastNew, lastOld] = [-1, -1, -1];
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
          addPair(file, last, line);
          if (!isTrivialHunk && mark !== REMOVED && lastNew !== -1)
            hasNeighbour[line] = hasNeighbour[lastNew] = 1;
          if (mark !== REMOVED && lastNew !== last) addPair(file, lastNew, line);
          if (mark !== ADDED && lastOld !== last && (mark === REMOVED || lastOld !== lastNew))
            addPair(file, lastOld, line);
          last = line;
          if (mark !== REMOVED) lastNew = line;
          if (mark !== ADDED) lastOld = line;
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

  function showPlaces(at: number, first: Mark, second: Mark): void {
    const bit = 1 << (first * 5 + second);
    if (((pair.seen[at] ?? 0) & bit) !== 0) return;
    pair.seen[at] = (pair.seen[at] ?? 0) | bit;
    const isRemoved = files[pair.file[at] ?? 0]?.isRemoved ?? false;
    for (let each = pair.first[at] ?? 0; each !== 0; each = place.next[each - 1] ?? 0) {
      const [one, other] = [place.one[each - 1] ?? 0, place.other[each - 1] ?? 0];
      if (fits(one, first, isRemoved) && fits(other, second, isRemoved)) shown[one] = shown[other] = 1;
    }
  }

  return {
    find: (text) => texts.get(text),
    show(file, { text, mark }, number) {
      const at = groups.find(file, text);
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
      if (mark === MARKS.none && (number !== null || hasNeighbour[group.first[at] ?? 0] === 1)) return false;
      if (!isUnique(at, mark, isRemoved)) return false;
      const seen = group.seen[at] ?? 0;
      if ((seen & (1 << mark)) !== 0) return true;
      group.seen[at] = seen | (1 << mark);
      for (let each = group.first[at] ?? -1; each !== -1; each = nextInGroup[each] ?? -1)
        if (fits(each, mark, isRemoved)) shown[each] = 1;
      return true;
    },
    showPair(file, first, second) {
      const [one, other] = [groups.find(file, first.text), groups.find(file, second.text)];
      const at = one === -1 || other === -1 ? -1 : pairs.find(one, other);
      if (at !== -1) showPlaces(at, first.mark, second.mark);
    },
    showPairAnywhere(first, second) {
      const at = pairOfTexts[pairsOfTexts.find(first.text, second.text)] ?? 0;
      if (at > 0) showPlaces(at - 1, first.mark, second.mark);
    },
    measure(file) {
      const hunks = files[file]?.hunks ?? [];
      let [at, shownHunks, all, shownLines] = [firstLine[file] ?? 0, 0, 0, 0];
      for (const { lines } of hunks) {
        const [changed, seen] = countShown(at, at + lines.length);
        all += changed;
        shownLines += seen;
        if (seen > 0 || changed === 0) shownHunks += 1;
        at += lines.length;
      }
      return { hunks: hunks.length, shownHunks, lines: all, shownLines };
    },
  };

  /** Counts the changed lines of a hunk, and those shown; a trivial line is shown with the one before or after it. */
  function countShown(start: number, end: number): readonly [changed: number, shown: number] {
    let [changed, seen, pending, isLastShown] = [0, 0, 0, false];
    for (let at = start; at < end; at++) {
      const isChange = marks[at] !== CONTEXT;
      if (isChange) changed += 1;
      if (textOf[at] === -1) {
        if (!isChange) continue;
        if (isLastShown) seen += 1;
        else pending += 1;
        continue;
      }
      isLastShown = shown[at] === 1;
      if (isLastShown) seen += pending + Number(isChange);
      pending = 0;
    }
    return [changed, seen];
  }
}
