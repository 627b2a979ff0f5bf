/**
 * How much of the change stood in the tool results that the model received. A changed line counts if its number and its
 * text stood there, or its text beside a line around it. Results are hostile; each takes time in proportion to its length.
 */
import { posix } from 'node:path';
import { showControls } from '../text/sanitize.ts';
import type { Coverage, NotRequired } from '../types.ts';
import type { Change, FileChange } from './change.ts';
import { readGitHeader, readHunkHeader, readPath } from './diff-syntax.ts';
import { createExemptions } from './not-required.ts';

/** Characters of a line that are compared: read_file shows 2,000, and in a diff the first one is a mark. */
const COMPARED = 1_999;
/** Numbers between colons or hyphens in a line at which a path may end. */
const PATH_ENDS = 8;
/** Files that one command names; each line of its output is looked for in all of them. */
const MAX_NAMED = 32;
/** Characters of a folder that `cd` is followed to. */
const MAX_FOLDER = 256;

/** A text as the model received it, after it was shortened. */
export interface SeenResult {
  readonly tool: string;
  /** The path of `read_file`, the whole command of `shell`; empty for the first message. */
  readonly target: string;
  readonly text: string;
}

export interface CoverageMeter {
  observe(result: SeenResult): void;
  measure(): Coverage;
}

export interface CoverageOptions {
  /** The root of the repository, and the folder in which tools run; absolute, as the tools see them. */
  readonly root: string;
  readonly workingDirectory: string;
  /** The judged folder, relative to the root; empty for the root itself. */
  readonly subject: string;
  /** The diffs that the agent is given, by their absolute path. */
  readonly diffs: ReadonlyMap<string, string>;
}

interface Line {
  readonly number: number;
  readonly text: string;
  isShown: boolean;
}

/** A changed file with the lines of its hunks, by their numbers: removed ones on the old side, all others on the new one. */
interface Tracked {
  readonly file: FileChange;
  /** The lines of each hunk that have to be shown. */
  readonly hunks: readonly (readonly Line[])[];
  readonly old: ReadonlyMap<number, Line>;
  readonly now: ReadonlyMap<number, Line>;
  /** The lines of the side that a command can show without marks, by their text. */
  readonly texts: ReadonlyMap<string, readonly Line[]>;
}

type TrackedFiles = ReadonlyMap<string, Tracked>;

export function createCoverageMeter(change: Change, options: CoverageOptions): CoverageMeter {
  const { root, workingDirectory, subject, diffs } = options;
  const exempt = createExemptions(change, subject);
  const tracked = change.files.map(trackFile);
  /** A file whose type changes appears twice, and the part with lines is the one to look in. */
  const files = new Map<string, Tracked>();
  for (const each of tracked)
    if (!files.has(each.file.path) || each.file.kind === 'text') files.set(each.file.path, each);
  const findFrom = (folder: string, path: string) => {
    const absolute = posix.resolve(folder, path);
    return absolute.startsWith(`${root}/`) ? files.get(absolute.slice(root.length + 1)) : undefined;
  };
  const given = new Map([...diffs].map(([path, text]) => [path, indexDiff(text, files)]));
  /** The paths of files that a list of files or the header of a diff named. */
  const listed = new Set<string>();

  /** Finds the files that a command names by a word, and the folder of its last `cd`. */
  function readCommand(command: string) {
    const named = new Set<Tracked>();
    let [folder, previous] = [workingDirectory, ''];
    for (const words of command.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"`;|&()<>=,]+)/g)) {
      const word = words.slice(1).find((each) => each !== undefined) ?? '';
      if (previous === 'cd' || previous === '-C')
        folder = folder.length + word.length > MAX_FOLDER ? '/' : posix.resolve(folder, word);
      previous = word;
      // `REVISION:path` begins at the root.
      const file = findFrom(folder, word) ?? findFrom(root, word.split(':', 2)[1] ?? '');
      if (file !== undefined) named.add(file);
    }
    return { named: [...named].slice(0, MAX_NAMED), folder };
  }

  /** The same for the path of `read_file`. */
  function readTarget(target: string) {
    const file = findFrom(workingDirectory, target);
    return { named: file === undefined ? [] : [file], folder: workingDirectory };
  }

  return {
    observe({ tool, target, text }) {
      const isRead = tool === 'read_file';
      const { named, folder } = isRead ? readTarget(target) : readCommand(target);
      const inDiff = isRead ? given.get(posix.resolve(workingDirectory, target)) : undefined;
      const readDiffLine = createDiffReader(files);
      const output: string[] = [];
      for (const line of text.split('\n').map(comparable)) {
        const part = readDiffLine(line);
        listed.add(part === null ? readListed(line) : (part.name ?? ''));
        show(part?.line, line.slice(1));
        if (part !== null) continue;
        output.push(line.slice(0, COMPARED));
        const [prefix = '', number] = NUMBER.exec(line) ?? [];
        const rest = line.slice(prefix.length);
        show(inDiff?.get(Number(number)), rest.slice(1));
        for (const { now } of named) show(now.get(Number(number)), rest);
        // `path:12:text` and `path-12-text`, as grep writes them.
        for (const { index, 0: end, 1: at } of [...line.matchAll(/[:-](\d{1,7})[:-]/g)].slice(0, PATH_ENDS))
          show(findFrom(folder, line.slice(0, index))?.now.get(Number(at)), line.slice(index + end.length));
      }
      for (const file of named) showRuns(file, output);
    },
    measure() {
      const unseen: string[] = [];
      const notRequired: { path: string; why: NotRequired }[] = [];
      for (const each of tracked) {
        const { path } = each.file;
        const why = exempt(each.file);
        if (why !== null) notRequired.push({ path, why });
        else if (!isShown(each, listed)) unseen.push(path);
      }
      const [changed, required] = [tracked.length, tracked.length - notRequired.length];
      return {
        status: change.incomplete === null ? 'measured' : 'partial',
        why: change.incomplete,
        files: { changed, required, shown: required - unseen.length, unseen, notRequired },
      };
    },
  };
}

/** Whether nine tenths of each hunk were shown, or the name of a file without lines. */
function isShown({ file, hunks }: Tracked, listed: ReadonlySet<string>): boolean {
  if (file.kind === 'unknown') return false;
  if (hunks.every((lines) => lines.length === 0)) return listed.has(file.path);
  return hunks.every((lines) => lines.filter((line) => line.isShown).length * 10 >= lines.length * 9);
}

function trackFile(file: FileChange): Tracked {
  const [oldSide, newSide] = [new Map<number, Line>(), new Map<number, Line>()];
  const hunks = file.hunks.map(({ oldStart, newStart, lines }) => {
    const isBlank = (marked: string) => marked.slice(1).trim() === '';
    // If a hunk adds nothing, what it removes has to be shown.
    const counted = lines.some((line) => line.startsWith('+') && !isBlank(line)) ? '+' : '-';
    const required: Line[] = [];
    let [old, now] = [oldStart, newStart];
    for (const marked of lines) {
      const [mark] = marked;
      const number = mark === '-' ? old : now;
      const line = { number, text: comparable(marked.slice(1)).slice(0, COMPARED), isShown: false };
      (mark === '-' ? oldSide : newSide).set(number, line);
      if (mark === counted && !isBlank(marked)) required.push(line);
      if (mark !== '+') old += 1;
      if (mark !== '-') now += 1;
    }
    return required;
  });
  const texts = Map.groupBy((file.isRemoved ? oldSide : newSide).values(), ({ text }) => text);
  return { file, hunks, old: oldSide, now: newSide, texts };
}

function show(line: Line | undefined, text: string): void {
  if (line?.text === text.slice(0, COMPARED)) line.isShown = true;
}

/** Shorter texts are everywhere. */
const THREE_LETTERS = /[\p{L}\p{N}][^\p{L}\p{N}]*[\p{L}\p{N}][^\p{L}\p{N}]*[\p{L}\p{N}]/u;

/**
 * Shows the lines of an output without numbers: those that follow each other in a hunk as well, if one of them is like no
 * other in the file. An output without marks shows nothing of what was removed from a file that is still there.
 */
function showRuns({ file, old, now, texts }: Tracked, output: readonly string[]): void {
  const side = file.isRemoved ? old : now;
  const found = output.map((written): Line | undefined => {
    const same = texts.get(written) ?? [];
    return same.length === 1 && THREE_LETTERS.test(written) ? same[0] : undefined;
  });
  /** Finds a line of the output beside the one that was found before or behind it. */
  const extend = (at: number, step: 1 | -1) => {
    const beside = side.get((found[at - step]?.number ?? Number.NaN) + step);
    if (beside?.text === output[at]) found[at] ??= beside;
  };
  for (let at = 1; at < output.length; at++) extend(at, 1);
  for (let at = output.length - 2; at >= 0; at--) extend(at, -1);
  for (const [at, line] of found.entries()) {
    if (line === undefined) continue;
    const isBeside = (step: 1 | -1) => found[at + step]?.number === line.number + step;
    // Without one of the lines beside it, the text may be that of another line of the file.
    const isAlone = !side.has(line.number - 1) && !side.has(line.number + 1);
    if (isAlone || isBeside(1) || isBeside(-1)) line.isShown = true;
  }
}

/** Returns a line as it is compared: control characters as read_file shows them, without colors and its CR. */
function comparable(line: string): string {
  if (!/[\u0000-\u0008\n-\u001f\u007f\ufeff\ud800-\udfff]|\\x1b/.test(line)) return line;
  const visible = showControls(line.toWellFormed().replaceAll('\ufeff', ''));
  return visible.replace(/\\x1b\[[\d;]{0,99}[mK]/g, '').replace(/\\x0d$/, '');
}

/** A line number as read_file, grep -n, cat -n, nl and code frames write it. */
const NUMBER = /^ *(?:[>❯] *)?(\d{1,7})(?:[\t:-]| *[|│] ?)/;

/** Returns the path that a row of a list names: our own list, or that of `git diff --name-status`; empty if it is no row. */
function readListed(line: string): string {
  const last = line.slice(line.lastIndexOf('\t') + 1);
  if (last === line) return '';
  return last.startsWith('"') ? readPath(last) : (last.split(' (was ', 1)[0] ?? '');
}

/** Creates a reader of the lines of a result; it returns null for a line outside of diffs. */
function createDiffReader(files: TrackedFiles): (text: string) => DiffLine | null {
  let file: Tracked | undefined;
  let [old, now, oldLeft, newLeft] = [0, 0, 0, 0];

  function readBody(mark: string): DiffLine {
    const line = mark === '+' ? file?.now.get(now) : mark === '-' ? file?.old.get(old) : undefined;
    if (mark === '-' || mark === ' ') [old, oldLeft] = [old + 1, oldLeft - 1];
    if (mark === '+' || mark === ' ') [now, newLeft] = [now + 1, newLeft - 1];
    return { line };
  }

  return (text) => {
    const mark = text[0] ?? ' ';
    if (oldLeft > 0 || newLeft > 0) {
      if (' +-\\'.includes(mark)) return readBody(mark);
      [oldLeft, newLeft, file] = [0, 0, undefined];
    }
    const [, word, value = ''] = /^(diff --git|rename to|---|\+\+\+) (.*)$/s.exec(text) ?? [];
    if (word !== undefined && word !== '---' && value !== '/dev/null') {
      const path = word === 'diff --git' ? readGitHeader(value) : readPath(value);
      file = files.get(path.replace(/^[abciwo]\//, '')) ?? files.get(path);
      return { name: file?.file.path };
    }
    const hunk = file === undefined ? null : readHunkHeader(text);
    if (hunk === null) return null;
    [old, now, oldLeft, newLeft] = [hunk.oldStart, hunk.newStart, hunk.oldCount, hunk.newCount];
    return {};
  };
}

/** A line of a diff: the path of a changed file that it names, or the line of the change at its place. */
interface DiffLine {
  readonly name?: string | undefined;
  readonly line?: Line | undefined;
}

/** Returns the lines of the change by their numbers in the text of a diff. */
function indexDiff(text: string, files: TrackedFiles): ReadonlyMap<number, Line> {
  const read = createDiffReader(files);
  const lines = new Map<number, Line>();
  for (const [at, each] of text.split('\n').entries()) {
    const line = read(comparable(each))?.line;
    if (line !== undefined) lines.set(at + 1, line);
  }
  return lines;
}
