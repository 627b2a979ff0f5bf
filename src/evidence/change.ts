/** The change under review as files, hunks and lines. Its paths and lines are hostile. */

export interface FileChange {
  /** Relative to the repository root: the new path, or the old one of a removed file. */
  readonly path: string;
  /** The old path of a renamed or copied file; null otherwise. */
  readonly previous: string | null;
  /**
   * `unit` for a change without lines: only a rename, a mode, a link, a submodule, a binary or an empty file. `unknown` if
   * its lines are not known.
   */
  readonly kind: 'text' | 'unit' | 'unknown';
  readonly isRemoved: boolean;
  readonly isBinary: boolean;
  /** Empty unless the kind is `text`. */
  readonly hunks: readonly Hunk[];
}

export interface Hunk {
  /** The number of its first line on either side, from 1. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Its lines, each with its mark (` `, `+` or `-`), joined by LF. */
  readonly text: string;
  readonly lineCount: number;
  lines(): readonly string[];
}

/** A hunk that keeps its lines as one text, as a change may have some hundred thousand of them. No line has an LF. */
export function createHunk(oldStart: number, newStart: number, lines: readonly string[]): Hunk {
  const lineCount = lines.length;
  const text = lines.join('\n');
  return { oldStart, newStart, text, lineCount, lines: () => (lineCount === 0 ? [] : text.split('\n')) };
}

/** The change under review, and what of it is not known. */
export interface Change {
  readonly files: readonly FileChange[];
  /** One sentence for people: why files or lines of the change are missing here; null if it is complete. */
  readonly incomplete: string | null;
  /** Changed files that do not have to be seen, because of attributes in the base commit. */
  readonly marked: ReadonlyMap<string, 'generated' | 'vendored'>;
}
