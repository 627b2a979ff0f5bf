/** The change under review as files and hunks, read from diffs of git and patches of GitHub. Its texts are hostile. */
import { isBinaryName } from '../text/file-names.ts';
import type { ChangedFile, Coverage } from '../types.ts';

export interface FileChange {
  /** Relative to the repository root: the new path, or the old one of a removed file. */
  readonly path: string;
  /** The old path of a renamed or copied file; null otherwise. */
  readonly previous: string | null;
  /** `unit` for a change without lines: only a rename, a mode, a link, a submodule or an empty file. */
  readonly kind: 'text' | 'unit' | 'binary' | 'unknown';
  readonly isRemoved: boolean;
  /** Empty unless the kind is `text`. */
  readonly hunks: readonly (readonly HunkLine[])[];
}

/** The change under review. Without one, or if nothing of it is known, it has no files. */
export interface Change extends Pick<Coverage, 'status' | 'why'> {
  readonly files: readonly FileChange[];
  /** Changed files that do not have to be seen, because of attributes in the base commit. */
  readonly marked: ReadonlyMap<string, 'generated' | 'vendored'>;
}

/**
 * Parses the output of `git diff --no-color --find-renames`, in linear time. A file whose hunks are not whole is
 * `unknown`. A file whose type changes appears twice, as git shows it.
 */
export function parseDiff(text: string): readonly FileChange[] {
  // No line of a hunk or of binary data starts like this.
  const sections = `\n${text.replace(/\n$/, '')}`.split('\ndiff --git ').slice(1);
  return sections.map(readSection);
}

/** Symbolic links and submodules: their hunks show a target, and no lines of a file. */
const UNIT_MODE = /^(?:old mode|new mode|new file mode|deleted file mode|index \S+) (?:120000|160000)$/;

function readSection(section: string): FileChange {
  const [first = '', ...lines] = section.split('\n');
  const start = lines.findIndex((line) => line.startsWith('@@ '));
  const header = start === -1 ? lines : lines.slice(0, start);
  const behind = (word: string) => header.find((line) => line.startsWith(word))?.slice(word.length) ?? null;
  const [from, to] = [behind('rename from '), behind('rename to ')];
  // A header that is not understood names a file that is never shown.
  const path = to === null ? readGitHeader(first).slice(2) || first : readPath(to);
  const file = { path, previous: from && readPath(from), isRemoved: behind('deleted file mode ') !== null };
  const isBinary = behind('Binary files ') !== null;
  const hunks = start === -1 ? [] : readHunks(lines.slice(start));
  if (hunks === null || (isBinary && !isBinaryName(path))) return { ...file, kind: 'unknown', hunks: [] };
  if (isBinary) return { ...file, kind: 'binary', hunks: [] };
  const isUnit = hunks.length === 0 || header.some((line) => UNIT_MODE.test(line));
  return isUnit ? { ...file, kind: 'unit', hunks: [] } : { ...file, kind: 'text', hunks };
}

function readHunks(lines: readonly string[]): FileChange['hunks'] | null {
  const reader = createHunkReader();
  const hunks: HunkLine[][] = [];
  for (const line of lines) {
    const read = reader.read(line);
    if (read === null) return null;
    if (line.startsWith('@')) hunks.push([]);
    else if (read !== 'header') hunks.at(-1)?.push(read);
  }
  return reader.isOpen() ? null : hunks;
}

/** What happens to a file that no line changes. A file that GitHub takes for a binary one has no lines once it is gone. */
const MOVED = new Set(['renamed', 'unchanged', 'removed']);

/**
 * Parses the patches of all files of a change. A file without a patch is `unknown`, unless it is certain that no line
 * changed; so is one whose patch has fewer lines than its counts, because what is known in part would be counted as a
 * whole.
 */
export function parsePatches(rows: readonly ChangedFile[]): readonly FileChange[] {
  // With `*.js -diff` in .gitattributes, GitHub treats each such file as binary and counts no lines.
  const hidesLines = rows.some(({ path, previous }) =>
    [path, previous].some((name) => /(?:^|\/)\.gitattributes$/i.test(name)),
  );
  return rows.map(({ path, previous, status, patch, additions, deletions }) => {
    const file = { path, previous: previous || null, isRemoved: status === 'removed' };
    const hunks = patch === null ? null : readHunks(patch.replace(/\n$/, '').split('\n'));
    const lines = hunks?.flat() ?? [];
    const count = (wanted: string) => lines.filter(({ mark }) => mark === wanted).length;
    if (hunks !== null && lines.length > 0 && count('+') >= additions && count('-') >= deletions)
      return { ...file, kind: 'text', hunks };
    const isUnit = patch === null && additions + deletions === 0 && !hidesLines && MOVED.has(status);
    return { ...file, kind: isUnit ? 'unit' : 'unknown', hunks: [] };
  });
}

/** Returns a file of which only its text at the head is known: every line of it has to be seen. */
export function wholeFile(file: FileChange, text: string): FileChange {
  if (text === '') return { ...file, kind: 'unit', hunks: [] };
  const lines = text.replace(/\n$/, '').split('\n');
  const hunk = lines.map((line, at) => ({ mark: '+', text: line, number: at + 1, above: at }));
  return { ...file, kind: 'text', hunks: [hunk] };
}

const ESCAPE = /(?:\\[0-3][0-7]{2})+|\\u([0-9a-fA-F]{4})|\\(.)/gs;
const LETTERS: Record<string, string> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };

/** Returns a path as git or `JSON.stringify` quotes it, or as it is, without the tab that ends one with blanks in a diff. */
export function readPath(text: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"/s.exec(text) ?? [];
  if (quoted === undefined) return text.endsWith('\t') ? text.slice(0, -1) : text;
  return quoted.replace(ESCAPE, (sequence: string, hex?: string, letter?: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (letter !== undefined) return LETTERS[letter] ?? letter;
    // git escapes each byte of a character above ASCII.
    const bytes = sequence.slice(1).split('\\');
    return Buffer.from(bytes.map((digits) => Number.parseInt(digits, 8))).toString('utf8');
  });
}

/** Returns the second name behind `diff --git `, with its prefix; empty for a rename, whose names follow in other lines. */
export function readGitHeader(text: string): string {
  const middle = (text.length - 1) / 2;
  const [old, now] = [text.slice(0, middle), text.slice(middle + 1)].map(readPath);
  return text[middle] === ' ' && now !== undefined && old?.slice(2) === now.slice(2) ? now : '';
}

export interface HunkLine {
  readonly mark: string;
  readonly text: string;
  /** On the new side or, for a removed line, on the old one, and then negative. */
  readonly number: number;
  /** The number of the line above it on the new side. */
  readonly above: number;
}

const HUNK_HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/** Creates a reader of hunks, whose lines are counted by their headers: a line can look like any header. */
export function createHunkReader() {
  let [old, now, oldLeft, newLeft] = [0, 0, 0, 0];
  const isOpen = () => oldLeft > 0 || newLeft > 0;
  /** Reads the next line of a text; null if it is not part of a hunk, which ends an open one. */
  function read(line: string): HunkLine | 'header' | null {
    const mark = line[0] ?? ' ';
    // "\ No newline at end of file"
    if (mark === '\\') return 'header';
    if (!isOpen()) {
      const header = HUNK_HEADER.exec(line);
      if (header === null) return null;
      const [, oldStart, oldCount = '1', newStart, newCount = '1'] = header;
      [oldLeft, newLeft] = [Number(oldCount), Number(newCount)];
      // A side without lines starts, for git, at the line above.
      [old, now] = [Number(oldStart), Number(newStart) + (newLeft === 0 ? 1 : 0)];
      return 'header';
    }
    const found = { mark, text: line.slice(1), number: mark === '-' ? -old : now, above: now - 1 };
    if (mark !== '+') [old, oldLeft] = [old + 1, oldLeft - 1];
    if (mark !== '-') [now, newLeft] = [now + 1, newLeft - 1];
    if (' +-'.includes(mark) && oldLeft >= 0 && newLeft >= 0) return found;
    [oldLeft, newLeft] = [0, 0];
    return null;
  }
  return { isOpen, read };
}
