/**
 * How much of the change stood in the tool results that the model received. A changed line counts if its number and its
 * text stood there, or its text beside a line around it. Results are hostile; each takes time in proportion to its length
 * and to that of the files that it is about.
 */
import { listNames } from '../text/messages.ts';
import { showControls } from '../text/sanitize.ts';
import type { Coverage, NotRequired } from '../types.ts';
import { type Change, createHunkReader, type FileChange, readGitHeader, readPath } from './change.ts';
import { createExemptions } from './not-required.ts';

/** Places of a text in an output that are looked at, and numbers in a line at which a path may end. */
const MAX_PLACES = 8;
/** Characters of a folder that `cd` is followed to. */
const MAX_FOLDER = 256;

/** A text as the model received it, after it was shortened. */
export interface SeenResult {
  readonly tool: string;
  /** The path of `read_file`, the whole command of `shell`; empty for the first message. */
  readonly target: string;
  readonly text: string;
}

export type CoverageMeter = ReturnType<typeof createCoverageMeter>;

export interface CoverageOptions {
  /** The root of the repository, and the folder in which tools run; absolute, as the tools see them. */
  readonly root: string;
  readonly workingDirectory: string;
  /** The judged folder, relative to the root; empty for the root itself. */
  readonly subject: string;
  /** The diff that the agent is given, and its absolute path. */
  readonly diff: { readonly path: string; readonly text: string } | null;
}

interface Line {
  readonly number: number;
  readonly text: string;
  /** The same for a line of a file and the line of the diff that stands for it. */
  readonly seen: { isShown: boolean };
}

type Tracked = ReturnType<typeof trackFile>;

export function createCoverageMeter(change: Change, options: CoverageOptions) {
  const { root, workingDirectory, subject, diff } = options;
  const exempt = createExemptions(change, subject);
  const tracked = change.files.map((file) => trackFile(file, exempt(file)));
  // A file whose type changes appears twice, and the part with lines is the one to look in.
  const sorted = tracked.toSorted((one, other) => one.hunks.length - other.hunks.length);
  /** By their absolute path. */
  const files = new Map<string, Text>(sorted.map((each) => [`${root}/${each.file.path}`, each]));
  const find = (path: string) => files.get(`${root}/${path}`);
  if (diff !== null) {
    const rows = diff.text.split('\n').map(comparable);
    const parts = readDiffs(rows, find);
    const lines = rows.map((text, at) => ({
      number: at + 1,
      text,
      seen: parts[at]?.seen ?? { isShown: false },
    }));
    files.set(diff.path, indexLines(lines, false));
  }
  /** The paths that a list of files or the header of a diff named. */
  const listed = new Set<string>();
  const findListed = (path: string) => {
    listed.add(path);
    return find(path);
  };

  /** Finds the files that a command names by a word, and the folder of its last `cd`. */
  function readCommand(command: string) {
    const named = new Set<Text>();
    let [folder, previous] = [workingDirectory, ''];
    for (const words of command.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"`;|&()<>=,]+)/g)) {
      const word = words.slice(1).find((each) => each !== undefined) ?? '';
      if (previous === 'cd' || previous === '-C')
        folder = folder.length > MAX_FOLDER ? '/' : resolveIn(folder, word);
      previous = word;
      // `REVISION:path` begins at the root.
      const file = files.get(resolveIn(folder, word)) ?? find(word.split(':', 2)[1] ?? '');
      if (file !== undefined) named.add(file);
    }
    return { named, folder };
  }

  return {
    observe({ tool, target, text }: SeenResult): void {
      const isRead = tool === 'read_file';
      const { named, folder } = readCommand(isRead ? '' : target);
      const file = isRead ? files.get(resolveIn(workingDirectory, target)) : undefined;
      if (file !== undefined) named.add(file);
      const lines = text.split('\n').map(comparable);
      const parts = readDiffs(lines, findListed);
      /** The lines outside of diffs, and what stands behind a number. */
      const [output, numbered]: [string[], Set<string>] = [[], new Set()];
      for (const [at, line] of lines.entries()) {
        const part = parts[at];
        if (part !== null) {
          show(part, line.slice(1));
          continue;
        }
        listed.add(readListed(line));
        output.push(line);
        const [prefix = '', number] = NUMBER.exec(line) ?? [];
        numbered.add(`${Number(number)} ${line.slice(prefix.length)}`);
        // `path:12:text` and `path-12-text`, as grep writes them.
        const ends = [...line.matchAll(/[:-](\d{1,7})[:-]/g)];
        for (const { index, 0: end, 1: count } of ends.slice(0, MAX_PLACES)) {
          const found = files.get(resolveIn(folder, line.slice(0, index)));
          show(found?.lines.get(Number(count)), line.slice(index + end.length));
        }
      }
      showLines(named, numbered, output);
    },
    measure(): Coverage {
      const notRequired = tracked.flatMap(({ file: { path }, why }) => (why === null ? [] : [{ path, why }]));
      const required = tracked.filter(({ why }) => why === null);
      const unseen = required.filter((each) => !isShown(each, listed)).map(({ file }) => file.path);
      const shown = required.length - unseen.length;
      const counts = { changed: tracked.length, required: required.length, shown };
      const unclear = required.filter(({ file }) => file.kind === 'unknown').map(({ file }) => file.path);
      const isPart = change.status === 'measured' && unclear.length > 0;
      const why = isPart ? `The lines of ${listNames(unclear)} are not known.` : change.why;
      const status = isPart ? 'partial' : change.status;
      return { status, why, files: { ...counts, unseen, notRequired } };
    },
  };
}

/** Whether nine tenths of each hunk were shown, or the name of a file without lines. */
function isShown({ file, hunks }: Tracked, listed: ReadonlySet<string>): boolean {
  if (file.kind === 'unknown') return false;
  if (hunks.every((lines) => lines.length === 0)) return listed.has(file.path);
  return hunks.every((lines) => lines.filter(({ seen }) => seen.isShown).length * 10 >= lines.length * 9);
}

/** A text that a file may hold only once; shorter ones are everywhere. */
const THREE_LETTERS = /[\p{L}\p{N}][^\p{L}\p{N}]*[\p{L}\p{N}][^\p{L}\p{N}]*[\p{L}\p{N}]/u;

/** Returns the lines of a file, and for each hunk those that have to be shown. */
function trackFile(file: FileChange, why: NotRequired | null) {
  const lines: Line[] = [];
  const hunks = file.hunks.map((hunk): readonly Line[] => {
    const [added, removed]: [Line[], Line[]] = [[], []];
    for (const { mark, text, number } of hunk) {
      const line = { number, text: comparable(text), seen: { isShown: false } };
      lines.push(line);
      if (mark !== ' ' && text.trim() !== '') (mark === '+' ? added : removed).push(line);
    }
    // If a hunk adds nothing, what it removes has to be shown.
    return added.length > 0 ? added : removed;
  });
  return { ...indexLines(lines, file.isRemoved), file, why, hunks };
}

type Text = ReturnType<typeof indexLines>;

/** Returns lines by their numbers, and those that an output without numbers is looked up by. */
function indexLines(all: readonly Line[], isRemoved: boolean) {
  // An output without marks shows nothing of what was removed from a file that is still there.
  const visible = all.filter(({ number }) => number > 0 !== isRemoved);
  const unique = [...Map.groupBy(visible, ({ text }) => text).values()].filter(({ length }) => length === 1);
  const anchors = new Set(unique.flat().filter(({ text }) => THREE_LETTERS.test(text)));
  return { lines: new Map(all.map((line) => [line.number, line])), anchors, step: isRemoved ? -1 : 1 };
}

function show(line: Line | undefined | null, text: string): void {
  if (line?.text === text) line.seen.isShown = true;
}

/**
 * Shows the lines of an output: those that stand behind their number, and without numbers those that follow each other in
 * a hunk as well, if the first of them is like no other in the file.
 */
function showLines(named: Iterable<Text>, numbered: ReadonlySet<string>, output: readonly string[]): void {
  const places = Map.groupBy(output.keys(), (at) => output[at] ?? '');
  for (const { lines, anchors, step } of named) {
    for (const line of lines.values())
      if (numbered.has(`${line.number} ${line.text}`)) line.seen.isShown = true;
    for (const anchor of anchors) {
      for (const place of places.get(anchor.text)?.slice(0, MAX_PLACES) ?? []) {
        for (let [at, number] = [place + 1, anchor.number + step]; ; at += 1, number += step) {
          const next = lines.get(number);
          if (next === undefined || next.text !== output[at]) break;
          [next.seen.isShown, anchor.seen.isShown] = [true, true];
          // From there it goes on by itself.
          if (anchors.has(next)) break;
        }
      }
    }
  }
}

/** Returns a line as it is compared: control characters as read_file shows them, without colors and its CR. */
function comparable(line: string): string {
  if (!/[\u0000-\u0008\n-\u001f\u007f\ufeff\ud800-\udfff]|\\x1b/.test(line)) return line;
  const visible = showControls(line.toWellFormed().replaceAll('\ufeff', ''));
  return visible.replace(/\\x1b\[[\d;]{0,99}[mK]/g, '').replace(/\\x0d$/, '');
}

/** Resolves a path like `path.posix.resolve`, which takes time in proportion to the square of its length. */
function resolveIn(folder: string, path: string): string {
  const parts = path.startsWith('/') ? [''] : folder.split('/');
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** A line number as read_file, grep -n, cat -n, nl and code frames write it. */
const NUMBER = /^ *(?:[>❯] *)?(\d{1,7})(?:[\t:-]| *[|│] ?)/;

/** Returns the path that a row of a list names: our own list, or that of `git diff --name-status`; empty if it is no row. */
function readListed(line: string): string {
  const last = line.slice(line.lastIndexOf('\t') + 1);
  if (last === line) return '';
  return last.startsWith('"') ? readPath(last) : (last.split(' (was ', 1)[0] ?? '');
}

/** Finds the lines of diffs in a text, and those of the change among them; null for each line outside of diffs. */
function readDiffs(lines: readonly string[], find: (path: string) => Text | undefined) {
  const reader = createHunkReader();
  let file: Text | undefined;
  return lines.map((text) => {
    const wasOpen = reader.isOpen();
    const read = file === undefined ? null : reader.read(text);
    if (read === 'header') return undefined;
    if (read !== null) return file?.lines.get(read.number);
    // What follows a cut may belong to another file.
    if (wasOpen) file = undefined;
    const [, word, value = ''] = /^(diff --git|rename to|\+\+\+) (.*)$/s.exec(text) ?? [];
    if (word === undefined || value === '/dev/null') return null;
    const path = word === 'diff --git' ? readGitHeader(value) : readPath(value);
    file = find(path.replace(/^[abciwo]\//, '')) ?? find(path);
    return undefined;
  });
}
