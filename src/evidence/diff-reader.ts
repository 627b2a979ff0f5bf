/** Follows diffs in a tool's result: to which file, side and number each line belongs. */
import { MARKS } from './changed-lines.ts';
import { readGitHeader, readHunkHeader, readPath } from './lines.ts';
import { type Candidate, readMark } from './result-lines.ts';

/** A line of a diff; `file` is null for one that is not part of the change. */
type DiffLine =
  | { readonly kind: 'header'; readonly file: number | null }
  | { readonly kind: 'line'; readonly file: number | null; readonly candidate: Candidate };

/** Reads the lines of a result in order. Returns null for a line that does not belong to a diff. */
export interface DiffReader {
  /** @param numbered the line behind a line number, as read_file shows it; null if it has none. */
  read(line: string, numbered: string | null): DiffLine | null;
}

/** What stands between the header of a file and its first hunk. */
const HEADERS = [
  ...['index ', 'old mode ', 'new mode ', 'deleted file mode ', 'new file mode ', 'similarity index '],
  ...['dissimilarity index ', 'rename ', 'copy ', 'Binary files ', '--- '],
];

/** @param resolve returns the index of the changed file with a path from the repository root, or null. */
export function createDiffReader(resolve: (path: string) => number | null): DiffReader {
  let state: 'outside' | 'header' | 'unnumbered' | 'hunk' = 'outside';
  let file: number | null = null;
  let isNumbered = false;
  // The path of the last line if that was `--- path`.
  let oldName: string | null = null;
  let [oldLeft, newLeft, oldNumber, newNumber] = [0, 0, 0, 0];

  const resolveName = (name: string) =>
    (/^[abciwo]\//u.test(name) ? resolve(name.slice(2)) : null) ?? resolve(name);

  function start(line: string): boolean {
    const prefix = ['diff --git ', 'diff --cc ', 'diff --combined '].find((each) => line.startsWith(each));
    if (prefix === undefined) return false;
    const rest = line.slice(prefix.length);
    const name = prefix === 'diff --git ' ? (readGitHeader(rest)?.now ?? null) : readPath(rest);
    file = name === null ? null : resolveName(name);
    state = 'header';
    return true;
  }

  /** Reads `+++ path` behind `--- path`; a removed file has its name in the first of them. */
  function readNames(line: string, old: string): boolean {
    if (!line.startsWith('+++ ')) return false;
    const name = line.slice('+++ '.length);
    file = resolveName(readPath(name === '/dev/null' ? old : name));
    state = 'unnumbered';
    return true;
  }

  function readBody(line: string): DiffLine | null {
    const mark = line === '' && state === 'hunk' ? MARKS.context : readMark(line);
    if (mark === null) return null;
    let number: number | null = null;
    if (state === 'hunk') {
      if (mark !== MARKS.added) oldLeft -= 1;
      if (mark !== MARKS.removed) newLeft -= 1;
      number = mark === MARKS.removed ? oldNumber : newNumber;
      if (mark !== MARKS.added) oldNumber += 1;
      if (mark !== MARKS.removed) newNumber += 1;
    }
    return { kind: 'line', file, candidate: { way: 8, text: line.slice(1), mark, number } };
  }

  function readInside(line: string): DiffLine | null {
    if (line.startsWith('\\')) return { kind: 'header', file: null };
    if (state === 'hunk' && (oldLeft > 0 || newLeft > 0)) return readBody(line);
    const hunk = readHunkHeader(line);
    if (hunk !== null) {
      [oldLeft, newLeft, oldNumber, newNumber] = [hunk.oldCount, hunk.newCount, hunk.oldStart, hunk.newStart];
      state = 'hunk';
      return { kind: 'header', file: null };
    }
    if (state === 'unnumbered') return readBody(line);
    if (state !== 'header' || !HEADERS.some((each) => line.startsWith(each))) return null;
    if (line.startsWith('rename to ')) file = resolve(readPath(line.slice('rename to '.length)));
    return { kind: 'header', file };
  }

  return {
    read(plain, numbered) {
      if (state !== 'outside') {
        const line = isNumbered ? numbered : plain;
        const old = oldName;
        const isBody = state === 'hunk' && (oldLeft > 0 || newLeft > 0);
        oldName = !isBody && line?.startsWith('--- ') ? line.slice(4) : null;
        if (line !== null && !isBody && (start(line) || (old !== null && readNames(line, old))))
          return { kind: 'header', file };
        const inside = line === null ? null : readInside(line);
        if (inside !== null) return inside;
        state = 'outside';
      }
      for (const line of numbered === null ? [plain] : [plain, numbered]) {
        const old = oldName;
        isNumbered = line !== plain;
        if (start(line) || (old !== null && readNames(line, old))) return { kind: 'header', file };
      }
      oldName = [plain, numbered ?? ''].find((line) => line.startsWith('--- '))?.slice(4) ?? null;
      return null;
    },
  };
}

/** Returns the path in a row of a list of changed files: ours, or that of `git diff --name-status`. null if it is none. */
export function readListedPath(line: string): string | null {
  const end = line.indexOf('\t');
  if (end === -1 || !STATUS.test(line.slice(0, end))) return null;
  const last = line.slice(line.lastIndexOf('\t') + 1);
  if (last.startsWith('"')) return readPath(last);
  const old = line.slice(0, end).length > 4 ? last.lastIndexOf(' (was ') : -1;
  return old !== -1 && last.endsWith(')') ? last.slice(0, old) : last;
}

const STATUS = /^(?:added|removed|modified|renamed|copied|changed|unchanged|[ACDMRT]\d{0,3})$/u;
