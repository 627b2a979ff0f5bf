/** Reads changes from the diffs of git and from the patches of GitHub's API. */
import { createHunk, type FileChange, type Hunk } from './change.ts';
import { linesOf, readGitHeader, readHunkHeader, readPath } from './lines.ts';

/** Symbolic links and submodules: their hunks show a target, and no lines of a file. */
const UNIT_MODES = new Set(['120000', '160000']);

/**
 * Parses the output of `git diff --no-color --find-renames`, in linear time. A file whose hunks are not whole is
 * `unknown`. A file whose type changes appears twice, as git shows it.
 * @param isCut whether the end of the text may be missing: then the last file is `unknown`, or left out if not even its
 * path is known.
 */
export function parseDiff(text: string, isCut = false): readonly FileChange[] {
  const sections: Section[] = [];
  for (const line of linesOf(isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text)) {
    // No line of a hunk or of binary data starts like this.
    if (line.startsWith('diff --git ')) sections.push(createSection(line.slice('diff --git '.length)));
    else sections.at(-1)?.read(line);
  }
  if (isCut) sections.at(-1)?.breakOff();
  return sections.flatMap((section) => section.finish() ?? []);
}

/** The lines of one file in a diff. */
interface Section {
  read(line: string): void;
  breakOff(): void;
  /** Returns null if the path is not known. */
  finish(): FileChange | null;
}

function createSection(header: string): Section {
  const names = readGitHeader(header);
  let [old, now] = [names?.old.slice(2) ?? null, names?.now.slice(2) ?? null];
  let previous: string | null = null;
  let [isRemoved, isBinary, isUnit, isBroken] = [false, false, false, false];
  const hunks = createHunks();
  const readMode = (mode: string | undefined) => {
    isUnit ||= UNIT_MODES.has(mode ?? '');
  };
  const fields: Readonly<Record<string, (value: string) => void>> = {
    'deleted file mode ': (mode) => {
      isRemoved = true;
      readMode(mode);
    },
    'new file mode ': readMode,
    'old mode ': readMode,
    'new mode ': readMode,
    'index ': (value) => readMode(value.split(' ', 2)[1]),
    'rename from ': (path) => {
      previous = readPath(path);
    },
    'copy from ': (path) => {
      previous = readPath(path);
    },
    'rename to ': (path) => {
      now = readPath(path);
    },
    'copy to ': (path) => {
      now = readPath(path);
    },
    '--- ': (path) => {
      if (path !== '/dev/null') old = readPath(path).slice(2);
    },
    '+++ ': (path) => {
      if (path !== '/dev/null') now = readPath(path).slice(2);
    },
    'Binary files ': () => {
      isBinary = true;
    },
    'GIT binary patch': () => {
      isBinary = true;
    },
  };
  const prefixes = Object.keys(fields);
  return {
    read(line) {
      if (isBinary || hunks.read(line) || hunks.hasHeader()) return;
      const prefix = prefixes.find((each) => line.startsWith(each));
      if (prefix !== undefined) fields[prefix]?.(line.slice(prefix.length));
    },
    breakOff() {
      isBroken = true;
    },
    finish() {
      const path = isRemoved ? (old ?? now) : (now ?? old);
      if (path === null || path === '') return null;
      const isKnown = !isBroken && hunks.isWhole();
      const hasLines = !isBinary && !isUnit && hunks.found.length > 0;
      const kind = isKnown ? (hasLines ? 'text' : 'unit') : 'unknown';
      return {
        ...{ path: detach(path), previous: previous && detach(previous), kind, isRemoved },
        isBinary: isBinary && isKnown,
        hunks: kind === 'text' ? hunks.found : [],
      };
    },
  };
}

/** Returns a copy: a part of a text would keep the whole text in memory, which may have megabytes. */
function detach(part: string): string {
  return ` ${part}`.slice(1);
}

/** Collects hunks, whose lines are counted by the numbers in their header: a line of a hunk can look like any header. */
function createHunks() {
  const found: Hunk[] = [];
  let lines: string[] = [];
  let [oldStart, newStart, oldLeft, newLeft] = [0, 0, 0, 0];
  let [hasHeader, isBroken] = [false, false];
  const isDone = () => oldLeft === 0 && newLeft === 0;
  return {
    found,
    /** Whether a header was read, whose hunk may be incomplete. */
    hasHeader: () => hasHeader,
    /** Returns whether the line belongs to a hunk. */
    read(line: string): boolean {
      if (line.startsWith('\\')) return hasHeader;
      if (isDone()) {
        const header = readHunkHeader(line);
        if (header === null) return false;
        [hasHeader, lines] = [true, []];
        [oldStart, newStart, oldLeft, newLeft] = [
          header.oldStart,
          header.newStart,
          header.oldCount,
          header.newCount,
        ];
      } else {
        // Some tools remove the blank of an empty line.
        const mark = line[0] ?? ' ';
        if (mark !== '+') oldLeft -= 1;
        if (mark !== '-') newLeft -= 1;
        if (!' +-'.includes(mark) || oldLeft < 0 || newLeft < 0) {
          [oldLeft, newLeft, isBroken] = [0, 0, true];
          return true;
        }
        lines.push(line === '' ? ' ' : line);
      }
      if (isDone()) found.push(createHunk(oldStart, newStart, lines));
      return true;
    },
    isWhole: () => !isBroken && isDone(),
  };
}

/** A changed file as GitHub's API lists it; empty strings for missing values. */
export interface PatchRow {
  readonly path: string;
  readonly previous: string;
  readonly status: string;
  readonly additions: number;
  readonly deletions: number;
  readonly patch: string | null;
  /** The blob id of its content. */
  readonly blob: string;
}

/** Git's ids of an empty file, for SHA-1 and SHA-256. */
const EMPTY_BLOBS = new Set([
  'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
]);

/**
 * Parses the patches of all files of a change. A file without a patch is `unknown`, unless it is certain that no line
 * changed; so is one whose patch has fewer lines than its counts, because what is known in part would be counted as a
 * whole.
 */
export function parsePatches(rows: readonly PatchRow[]): readonly FileChange[] {
  // With `*.js -diff` in .gitattributes, GitHub treats each such file as binary and counts no lines.
  const hidesLines = rows.some(({ path, previous }) =>
    [path, previous].some((name) => /(?:^|\/)\.gitattributes$/iu.test(name)),
  );
  return rows.map((row) => parsePatch(row, hidesLines));
}

function parsePatch(row: PatchRow, hidesLines: boolean): FileChange {
  const isRemoved = row.status === 'removed';
  const facts = { path: row.path, previous: row.previous || null, isRemoved, isBinary: false };
  if (row.patch === null) {
    const kind = hasNoLines(row, hidesLines) ? 'unit' : 'unknown';
    return { ...facts, kind, hunks: [] };
  }
  const hunks = createHunks();
  let isWhole = true;
  for (const line of linesOf(row.patch)) isWhole = hunks.read(line) && isWhole;
  const lines = hunks.found.flatMap((hunk) => hunk.lines());
  const count = (mark: string) => lines.reduce((sum, line) => sum + Number(line.startsWith(mark)), 0);
  const isKnown =
    isWhole &&
    hunks.isWhole() &&
    hunks.found.length > 0 &&
    count('+') >= row.additions &&
    count('-') >= row.deletions;
  return isKnown ? { ...facts, kind: 'text', hunks: hunks.found } : { ...facts, kind: 'unknown', hunks: [] };
}

function hasNoLines({ status, additions, deletions, blob }: PatchRow, hidesLines: boolean): boolean {
  if (additions + deletions > 0) return false;
  if (status === 'renamed' || status === 'unchanged') return !hidesLines;
  // A file that GitHub takes for a binary one has no lines to be read once it is gone.
  if (status === 'removed') return !hidesLines || EMPTY_BLOBS.has(blob);
  return status === 'added' && EMPTY_BLOBS.has(blob);
}

/** Of the characters of a binary file, more than this share are none of a text. */
const BINARY_SHARE = 0.1;
/** Of the characters of a text in UTF-16 that is mostly ASCII, at least this share are ASCII beside a NUL. */
const WIDE_SHARE = 0.4;

/**
 * Replaces files that git takes for binary ones by their lines: a single NUL makes it take a source file for one. A file
 * whose lines are not known is `unknown` then.
 * @param asText the same change with `git diff --text`.
 */
export function mergeBinaries(
  files: readonly FileChange[],
  asText: readonly FileChange[],
): readonly FileChange[] {
  const texts = new Map(asText.map((file) => [`${file.isRemoved} ${file.path}`, file]));
  return files.map((file) => {
    if (!file.isBinary) return file;
    const text = texts.get(`${file.isRemoved} ${file.path}`);
    if (text?.kind === 'text') return isBinaryText(linesWithoutMarks(text.hunks)) ? file : text;
    return { ...file, kind: 'unknown', isBinary: false };
  });
}

function linesWithoutMarks(hunks: readonly Hunk[]): readonly string[] {
  return hunks.flatMap((hunk) => hunk.lines().map((line) => line.slice(1)));
}

/** Whether lines hold what no text does. UTF-16, which git takes for binary as well, is a text: shells run it. */
export function isBinaryText(lines: Iterable<string>): boolean {
  let [characters, strange, wide] = [0, 0, 0];
  for (const line of lines) {
    characters += line.length;
    for (let at = 0; at < line.length; at++) {
      const code = line.charCodeAt(at);
      // Tab, form feed and CR occur in texts.
      if (code === 0xfffd || (code < 32 && code !== 9 && code !== 12 && code !== 13)) strange += 1;
      else if (code < 127 && (line.charCodeAt(at + 1) === 0 || line.charCodeAt(at - 1) === 0)) wide += 1;
    }
  }
  return strange > characters * BINARY_SHARE && wide < characters * WIDE_SHARE;
}
