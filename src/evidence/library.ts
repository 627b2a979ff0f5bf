/** The texts that findings are compared with: files, and what the change removed. */
import type { GroundingLabel } from '../types.ts';
import type { Change, FileChange } from './change.ts';
import { type ChangedLines, type OldLine, readChangedLines } from './file-sides.ts';
import { createAllowance, createSource, findParts, type LineIds, type Run, type Source } from './sources.ts';

/** The files as they were before the agent; paths are relative to the repository root. */
export interface SourceTexts {
  /** Returns a file of at most `READ.sourceFile` bytes; null if there is no such regular text file that git may track. */
  text(path: string): string | null;
  /** Whether there is a file or folder. */
  exists(path: string): boolean;
  /** Whether a text of at most 16,384 characters holds a secret, by a maintained set of rules. */
  holdsSecret(text: string): boolean | Promise<boolean>;
}

/** A text in which a quote may be. */
export interface Shelf {
  readonly path: string;
  readonly source: Source;
  /** For the old side of a diff, its lines; null for a file. */
  readonly old: readonly OldLine[] | null;
  readonly changed: ChangedLines | null;
}

interface OpenedFile {
  readonly shelves: readonly Shelf[];
  /** The parts that it holds. */
  readonly held: ReadonlySet<string>;
}

export interface Library {
  /** Reads the file of a path, and what the change removed from it; empty if there is no such text. */
  open(path: string): readonly Shelf[];
  /** Whether a text that is not on the shelves of a path is not there: its file could be read, or was removed. */
  isKnown(path: string, shelves: readonly Shelf[]): boolean;
  /** Whether there are changed files. */
  readonly hasChanged: boolean;
  /** Reads all changed files, and opens those that hold one of some parts as it is. */
  openChanged(parts: ReadonlySet<string>): Generator<OpenedFile>;
  /** Whether the work that a run may do is done. */
  isExhausted(): boolean;
  /** Where lines of a file are, seen from the change; null if there is no known change. */
  labelOf(shelf: Shelf, run: Run): GroundingLabel | null;
}

export function openLibrary(files: SourceTexts, change: Change | null, ids: LineIds): Library {
  const allowance = createAllowance();
  const changes = new Map<string, FileChange>();
  for (const file of change?.files ?? [])
    for (const path of [file.path, file.previous])
      if (path !== null && (path === file.path || !changes.has(path))) changes.set(path, file);

  const open = (path: string, text: string | null): readonly Shelf[] => {
    const file = changes.get(path);
    const changed = file === undefined ? null : readChangedLines(file);
    const source = text === null ? null : createSource(text, ids, allowance);
    const found: Shelf[] = source === null ? [] : [{ path, source, old: null, changed }];
    const old = changed?.old ?? [];
    if (file === undefined || changed === null || !old.some(({ isRemoved }) => isRemoved)) return found;
    // A line of a diff ends with LF, so there is none in it.
    const oldText = old.map((line) => line.text.replaceAll('\n', ' ')).join('\n');
    const removed = createSource(oldText, ids, allowance);
    return removed === null ? found : [...found, { path: file.path, source: removed, old, changed }];
  };
  return {
    open: (path) => open(path, files.text(path)),
    isKnown: (path, shelves) =>
      shelves.some(({ old }) => old === null || changes.get(path)?.isRemoved === true),
    hasChanged: changes.size > 0,
    *openChanged(parts) {
      const paths = new Set((change?.files ?? []).map((file) => file.path));
      for (const path of paths) {
        const text = files.text(path);
        const hunks = (changes.get(path)?.hunks ?? []).map((hunk) => hunk.text);
        const held = findParts(text === null ? hunks : [text, ...hunks], parts, allowance);
        if (held.size > 0) yield { held, shelves: open(path, text) };
      }
    },
    isExhausted: () => allowance.work <= 0,
    labelOf({ changed, old }, { first, last }) {
      if (change === null) return null;
      if (old !== null) return 'in_change';
      return changed?.labelOf(first + 1, last + 1) ?? 'elsewhere';
    },
  };
}
