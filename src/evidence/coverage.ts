/**
 * How much of the change stood in the tool results that the model received. A changed line counts if its number and its
 * text stood there, or its text beside a line around it. Results are hostile; each takes time in proportion to its length.
 */
import { posix } from 'node:path';
import { showControls } from '../text/sanitize.ts';
import type { Coverage } from '../types.ts';
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
/** Files in each list of a coverage. */
const LISTED_FILES = 200;

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
  /** null for a line that does not have to be shown. */
  readonly hunk: { required: number; shown: number } | null;
  isShown: boolean;
}

/** A changed file with the lines of its hunks, by their numbers: removed ones on the old side, all others on the new one. */
interface Tracked {
  readonly file: FileChange;
  readonly hunks: readonly NonNullable<Line['hunk']>[];
  readonly old: ReadonlyMap<number, Line>;
  readonly now: ReadonlyMap<number, Line>;
  /** Lines like no other in the hunks, by their text. */
  readonly unique: ReadonlyMap<string, Line>;
}

type Find = (path: string) => Tracked | null;

export function createCoverageMeter(change: Change, options: CoverageOptions): CoverageMeter {
  const { root, workingDirectory, subject, diffs } = options;
  const tracked = change.files.map(trackFile);
  const exempt = createExemptions(change, subject);
  const notRequired = change.files.flatMap((file) => {
    const why = exempt(file);
    return why === null ? [] : [{ path: file.path, why }];
  });
  const required = tracked.filter(({ file }) => exempt(file) === null);
  /** A file whose type changes appears twice, and the part with lines is the one to look in. */
  const byPath = new Map<string, Tracked>();
  for (const each of tracked)
    if (!byPath.has(each.file.path) || each.file.kind === 'text') byPath.set(each.file.path, each);
  const find: Find = (path) => byPath.get(path) ?? null;
  /** The paths of files that a list of files or the header of a diff named. */
  const listed = new Set<string>();
  const names = new Set(change.files.map(({ path }) => posix.basename(path)));
  const findFrom = (folder: string, path: string) => {
    // Most words name nothing, and resolving takes its time.
    if (!names.has(path.slice(path.lastIndexOf('/') + 1))) return null;
    const absolute = posix.resolve(folder, path);
    return absolute.startsWith(`${root}/`) ? find(absolute.slice(root.length + 1)) : null;
  };
  const given = new Map([...diffs].map(([path, text]) => [path, indexDiff(text, find)]));

  function observeFile(target: string, text: string): void {
    const inDiff = given.get(posix.resolve(workingDirectory, target));
    const file = findFrom(workingDirectory, target);
    for (const line of linesOf(text)) {
      const { number, rest } = readNumbered(line);
      show(inDiff?.get(number), rest.slice(1));
      show(file?.now.get(number), rest);
      if (file === null) listed.add(readListed(line));
    }
  }

  function observeOutput(command: string, text: string): void {
    const { files, folder } = readCommand(command);
    const diff = createDiffReader(find);
    const output: string[] = [];
    for (const line of linesOf(text)) {
      const part = diff.read(line);
      output.push(part === null ? line : NO_LINE);
      show(part?.line, line.slice(1));
      listed.add(part === null ? readListed(line) : (part.name ?? ''));
      if (part !== null) continue;
      const { number, rest } = readNumbered(line);
      for (const { now } of files) show(now.get(number), rest);
      // `path:12:text` and `path-12-text`, as grep writes them.
      for (const { index, 0: end, 1: at } of [...line.matchAll(/[:-](\d{1,7})[:-]/g)].slice(0, PATH_ENDS))
        show(findFrom(folder, line.slice(0, index))?.now.get(Number(at)), line.slice(index + end.length));
    }
    for (const file of files) showRuns(file, output);
  }

  /** Finds the files that a command names by a word, and the folder of its last `cd`. */
  function readCommand(command: string) {
    const files = new Set<Tracked>();
    let [folder, previous] = [workingDirectory, ''];
    for (const words of command.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"`;|&()<>=,]+)/g)) {
      const word = words.slice(1).find((each) => each !== undefined) ?? '';
      if (previous === 'cd' || previous === '-C') folder = follow(folder, word);
      previous = word;
      // `REVISION:path` begins at the root.
      const colon = word.indexOf(':');
      const file = findFrom(folder, word) ?? (colon === -1 ? null : findFrom(root, word.slice(colon + 1)));
      if (file !== null) files.add(file);
    }
    return { files: [...files].slice(0, MAX_NAMED), folder };
  }

  return {
    observe: ({ tool, target, text }) =>
      tool === 'read_file' ? observeFile(target, text) : observeOutput(target, text),
    measure() {
      const unseen = required.flatMap((each) => (isShown(each, listed) ? [] : [each.file.path]));
      return {
        status: change.incomplete === null ? 'measured' : 'partial',
        why: change.incomplete,
        files: {
          ...{ changed: tracked.length, required: required.length, shown: required.length - unseen.length },
          unseen: unseen.slice(0, LISTED_FILES),
          notRequired: notRequired.slice(0, LISTED_FILES),
        },
      };
    },
  };
}

/** Returns the folder of a `cd`; one that is too long is not followed, so that nothing is named from there. */
function follow(folder: string, to: string): string {
  return folder.length + to.length > MAX_FOLDER ? '/' : posix.resolve(folder, to);
}

/** Whether nine tenths of each hunk were shown, or the name of a file without lines. */
function isShown({ file, hunks }: Tracked, listed: ReadonlySet<string>): boolean {
  if (file.kind === 'unknown') return false;
  if (hunks.every(({ required }) => required === 0)) return listed.has(file.path);
  return hunks.every(({ required, shown }) => shown * 10 >= required * 9);
}

function trackFile(file: FileChange): Tracked {
  const [oldSide, newSide] = [new Map<number, Line>(), new Map<number, Line>()];
  const hunks = file.hunks.map(({ oldStart, newStart, lines }) => {
    const hunk = { required: 0, shown: 0 };
    // If a hunk adds nothing, what it removes has to be shown.
    const counted = lines.some((line) => line.startsWith('+') && !isBlank(line)) ? '+' : '-';
    let [old, now] = [oldStart, newStart];
    for (const marked of lines) {
      const [mark] = marked;
      const number = mark === '-' ? old : now;
      const isRequired = mark === counted && !isBlank(marked);
      if (isRequired) hunk.required += 1;
      const text = comparable(marked.slice(1)).slice(0, COMPARED);
      const line = { number, text, hunk: isRequired ? hunk : null, isShown: false };
      (mark === '-' ? oldSide : newSide).set(number, line);
      if (mark !== '+') old += 1;
      if (mark !== '-') now += 1;
    }
    return hunk;
  });
  // An output without marks shows nothing of what was removed from a file that is still there.
  const texts = Map.groupBy((file.isRemoved ? oldSide : newSide).values(), ({ text }) => text);
  const unique = new Map<string, Line>();
  for (const [text, [line, ...others]] of texts)
    if (line !== undefined && others.length === 0 && THREE_LETTERS.test(text)) unique.set(text, line);
  return { file, hunks, old: oldSide, now: newSide, unique };
}

const isBlank = (marked: string) => marked.slice(1).trim() === '';

/** Shorter texts stand everywhere. */
const THREE_LETTERS = /[\p{L}\p{N}][^\p{L}\p{N}]*[\p{L}\p{N}][^\p{L}\p{N}]*[\p{L}\p{N}]/u;

function show(line: Line | null | undefined, text: string): void {
  if (line == null || line.isShown || line.text !== text.slice(0, COMPARED)) return;
  line.isShown = true;
  if (line.hunk !== null) line.hunk.shown += 1;
}

/** Shows the lines of an output that follow each other in a hunk as well, if one of them is like no other in the file. */
function showRuns({ file, old, now, unique }: Tracked, output: readonly string[]): void {
  const side = file.isRemoved ? old : now;
  for (let at = 0, end = 0; at < output.length; at++) {
    const anchor = at < end ? undefined : unique.get(output[at]?.slice(0, COMPARED) ?? '');
    if (anchor === undefined) continue;
    const lineAt = (place: number) => side.get(anchor.number + place - at);
    const fits = (place: number) => lineAt(place)?.text === output[place]?.slice(0, COMPARED);
    let start = at;
    while (start > end && lineAt(start - 1) !== undefined && fits(start - 1)) start -= 1;
    end = at + 1;
    while (end < output.length && fits(end)) end += 1;
    // Without one of the lines beside it, the text may be that of another line of the file.
    const isAlone = lineAt(at - 1) === undefined && lineAt(at + 1) === undefined;
    if (end - start === 1 && !isAlone) continue;
    for (let place = start; place < end; place++) show(lineAt(place), output[place] ?? '');
  }
}

/** Stands for a line of a diff in an output; no line has a NUL. */
const NO_LINE = '\0';

function linesOf(text: string): readonly string[] {
  return text.split('\n').map(comparable);
}

/** Returns a line as it is compared: control characters as read_file shows them, without colors and its CR. */
function comparable(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (!/[\u0000-\u0008\n-\u001f\u007f\ufeff\ud800-\udfff]|\\x1b/.test(text)) return text;
  const visible = showControls(text.toWellFormed().replaceAll('\ufeff', ''));
  return visible.replace(/\\x1b\[[\d;]{0,99}[mK]/g, '').replace(/\\x0d$/, '');
}

/** A line number as read_file, grep -n, cat -n, nl and code frames write it. */
const NUMBER = /^ *(?:[>❯] *)?(\d{1,7})(?:[\t:-]| *[|│] ?)/;

/** Reads the number before a line; 0 and the whole line if there is none. */
function readNumbered(line: string): { readonly number: number; readonly rest: string } {
  const [prefix = '', digits = '0'] = NUMBER.exec(line) ?? [];
  return { number: Number(digits), rest: line.slice(prefix.length) };
}

/** Returns the path that a row of a list names: our own list, or that of `git diff --name-status`; empty if it is no row. */
function readListed(line: string): string {
  const last = line.slice(line.lastIndexOf('\t') + 1);
  if (last === line) return '';
  return last.startsWith('"') ? readPath(last) : (last.split(' (was ', 1)[0] ?? '');
}

/** A line of a diff: the path that it names, or the line of the change at its place. */
interface DiffLine {
  readonly name: string | null;
  readonly line: Line | null;
}

/** Creates a reader of the lines of a result; it returns null for a line outside of diffs. */
function createDiffReader(find: Find): { read(line: string): DiffLine | null } {
  let file: Tracked | null = null;
  let oldName = '';
  let [old, now, oldLeft, newLeft] = [0, 0, 0, 0];

  const open = (written: string): DiffLine => {
    const path = readPath(written);
    file = find(path.replace(/^[abciwo]\//, '')) ?? find(path);
    return { name: file?.file.path ?? '', line: null };
  };

  function readBody(text: string): DiffLine | null {
    const mark = text[0] ?? ' ';
    if (!' +-\\'.includes(mark)) return null;
    const line = (mark === '+' ? file?.now.get(now) : mark === '-' ? file?.old.get(old) : null) ?? null;
    if (mark === '-' || mark === ' ') [old, oldLeft] = [old + 1, oldLeft - 1];
    if (mark === '+' || mark === ' ') [now, newLeft] = [now + 1, newLeft - 1];
    return { name: null, line };
  }

  return {
    read(text) {
      const body = oldLeft > 0 || newLeft > 0 ? readBody(text) : null;
      if (body !== null) return body;
      if (oldLeft > 0 || newLeft > 0) [oldLeft, newLeft, file] = [0, 0, null];
      if (!/^[dr+@-]/.test(text)) return null;
      const [, word, value = ''] = /^(diff --git|rename to|---|\+\+\+) (.*)$/s.exec(text) ?? [];
      if (word === 'diff --git') return open(readGitHeader(value)?.now ?? '');
      if (word === 'rename to') return open(value);
      if (word === '+++') return open(value === '/dev/null' ? oldName : value);
      if (word === '---') oldName = value;
      const hunk = file === null ? null : readHunkHeader(text);
      if (hunk === null) return null;
      [old, now, oldLeft, newLeft] = [hunk.oldStart, hunk.newStart, hunk.oldCount, hunk.newCount];
      return { name: null, line: null };
    },
  };
}

/** Returns the lines of the change by their numbers in the text of a diff. */
function indexDiff(text: string, find: Find): ReadonlyMap<number, Line> {
  const diff = createDiffReader(find);
  const lines = new Map<number, Line>();
  for (const [at, each] of linesOf(text).entries()) {
    const line = diff.read(each)?.line ?? null;
    if (line !== null) lines.set(at + 1, line);
  }
  return lines;
}
