import type { Change, FileChange } from './change.ts';
import { foldLine, splitLines } from './normalize.ts';

/** Characters of all files in which quotes are looked up. */
const MAX_CHARACTERS = 8 * 1024 ** 2;

/** Reads files as they were before the agent; paths are relative to the repository root. */
export interface SourceTexts {
  /** Returns a text of at most `EVIDENCE.sourceFile` bytes; null if there is no such file. */
  text(path: string): string | null;
}

/** A line of the old side of a diff. */
interface OldLine {
  readonly text: string;
  readonly number: number;
  /** The number of the line on the new side; of a removed one, of the line above it, and 0 at the top. */
  readonly newNumber: number;
  readonly isRemoved: boolean;
}

/** Lines in which a quote may stand. */
export interface Text {
  readonly path: string;
  readonly lines: readonly string[];
  /** The same lines as they are compared. */
  readonly folded: readonly string[];
  /** The indexes of those folded lines that a quote has. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** For the old side of a diff, a row for each line; null for a file. */
  readonly old: readonly OldLine[] | null;
}

export interface Texts {
  /** Returns the file of a path, and the lines around what the change removed from it; empty if there is neither. */
  open(path: string): readonly Text[];
  /** The paths of the changed files. */
  readonly changed: readonly string[];
  /** Whether a text was left out because all together would be too long. */
  isCut(): boolean;
}

/** @param wanted the folded lines that are looked for. */
export function openTexts(files: SourceTexts, change: Change | null, wanted: ReadonlySet<string>): Texts {
  const changes = new Map<string, FileChange>();
  for (const file of change?.files ?? []) {
    if (file.previous !== null && !changes.has(file.previous)) changes.set(file.previous, file);
    changes.set(file.path, file);
  }
  const opened = new Map<string, readonly Text[]>();
  let left: number = MAX_CHARACTERS;
  let isCut = false;

  const read = (path: string): readonly Text[] => {
    const text = isCut ? null : files.text(path);
    const file = changes.get(path);
    const old = isCut || file === undefined ? [] : readOldSide(file);
    left -= old.reduce((sum, line) => sum + line.text.length, text?.length ?? 0);
    isCut ||= left < 0;
    if (isCut) return [];
    const texts: Text[] = [];
    if (text !== null) texts.push(createText(path, splitLines(text), null, wanted));
    if (file !== undefined && old.some(({ isRemoved }) => isRemoved)) {
      const lines = old.map((line) => line.text);
      texts.push(createText(file.path, lines, old, wanted));
    }
    return texts;
  };
  return {
    open(path) {
      const texts = opened.get(path) ?? read(path);
      opened.set(path, texts);
      return texts;
    },
    changed: [...new Set(change?.files.map(({ path }) => path))],
    isCut: () => isCut,
  };
}

function createText(
  path: string,
  lines: readonly string[],
  old: Text['old'],
  wanted: ReadonlySet<string>,
): Text {
  const folded = lines.map(foldLine);
  const places = new Map<string, number[]>();
  for (const [at, line] of folded.entries()) {
    if (!wanted.has(line)) continue;
    const indexes = places.get(line);
    if (indexes === undefined) places.set(line, [at]);
    else indexes.push(at);
  }
  return { path, lines, folded, places, old };
}

/** Stands between hunks, so that no quote reaches from one to the next. */
const BETWEEN: OldLine = { text: '\n…\n', number: 0, newNumber: 0, isRemoved: false };

function readOldSide({ hunks }: FileChange): readonly OldLine[] {
  const old: OldLine[] = [];
  for (const { oldStart, newStart, lines: readLines } of hunks) {
    const lines = readLines();
    let number = oldStart;
    // git gives the line above as the start of a side without lines.
    let next = lines.some((line) => line.startsWith('+') || line.startsWith(' ')) ? newStart : newStart + 1;
    for (const line of lines) {
      const isRemoved = line.startsWith('-');
      if (isRemoved || line.startsWith(' ')) {
        old.push({ text: line.slice(1), number, newNumber: isRemoved ? next - 1 : next, isRemoved });
        number += 1;
      }
      if (line.startsWith('+') || line.startsWith(' ')) next += 1;
    }
    old.push(BETWEEN);
  }
  return old;
}
