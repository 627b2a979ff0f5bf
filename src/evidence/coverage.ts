import { posix } from 'node:path';
import { withoutSequences } from '../text/sanitize.ts';
import type { Coverage, NotRequired, UnseenFile } from '../types.ts';
import type { Change, FileChange } from './change.ts';
import { comparable, indexLines, isTrivial, MARKS, type Mark, type SeenLine } from './changed-lines.ts';
import { findCommandFiles, type NamedFile } from './command-files.ts';
import { createDiffReader, readListedPath } from './diff-reader.ts';
import { linesOf } from './lines.ts';
import { createExemptions } from './not-required.ts';
import { boundLine, type Candidate, readCandidates, readNumbered, readPrefixed } from './result-lines.ts';

/** Characters of results that are read; a run of hundreds of turns has fewer. */
const MAX_CHARACTERS = 50_000_000;
/** Files in each list of a coverage. */
const LISTED_FILES = 200;

/** A tool's result as the model received it, after it was shortened. */
export interface SeenResult {
  readonly tool: string;
  /** The path of `read_file`, the whole command of `shell`; empty for other tools. */
  readonly target: string;
  readonly text: string;
}

export interface CoverageMeter {
  /** Takes time in proportion to the result, whatever it and the change contain. */
  observe(result: SeenResult): void;
  measure(): Coverage;
  /** Returns the paths of all required files that are not shown, in the order of the change. */
  unseen(): readonly string[];
}

export interface CoverageOptions {
  /** The root of the repository, and the folder in which tools run; absolute, as the tools see them. */
  readonly root: string;
  readonly workingDirectory: string;
  /** The judged folder, relative to the root; empty for the root itself. */
  readonly subject: string;
}

/** Where the lines of a result come from. */
interface Source {
  /** The files that it names. */
  readonly files: readonly NamedFile[];
  /** Whether it shows lines of the files that it names only, whatever they look like. */
  readonly isOnly: boolean;
  /** Whether the numbers before its lines are those of the file: others may count the lines of a part. */
  readonly isNumbered: boolean;
  /** The folder to which paths in the result are relative; null if unknown. */
  readonly folder: string | null;
}

/** A line of the change with the way in which it was read, and its file in a diff or behind a path. */
interface Read extends SeenLine {
  readonly way: number;
  readonly file: number | null;
}

export function createCoverageMeter(change: Change, options: CoverageOptions): CoverageMeter {
  const { files } = change;
  const exempt = createExemptions(change, options.subject);
  const reasons: readonly (NotRequired | null)[] = files.map(exempt);
  const lines = indexLines(files);
  /** By path: a file whose type changes appears twice, and the part with lines is the one to look in. */
  const byPath = new Map<string, number>();
  for (const [file, { path, kind }] of files.entries())
    if (!byPath.has(path) || kind === 'text') byPath.set(path, file);
  const byOldPath = new Map(
    files.flatMap(({ previous }, file) => (previous === null ? [] : [[previous, file] as const])),
  );
  /** Paths whose header or row was shown, for changes without lines. */
  const listed = new Set<string>();
  let left = MAX_CHARACTERS;
  let isCut = false;

  const resolvePath = (path: string) => byPath.get(path) ?? null;
  const relativeTo = (absolute: string): string | null => {
    const path = posix.relative(options.root, absolute);
    return path === '..' || path.startsWith('../') ? null : path;
  };
  const resolveAbsolute = (absolute: string) => {
    const path = relativeTo(absolute);
    if (path === null) return null;
    return byPath.get(path) ?? byOldPath.get(path) ?? null;
  };

  function sourceOf({ tool, target }: SeenResult): Source {
    const { root, workingDirectory } = options;
    if (tool === 'read_file') {
      const path = relativeTo(posix.resolve(workingDirectory, target));
      const other = { files: [], isOnly: false, isNumbered: false, folder: workingDirectory };
      if (path === null) return other;
      const file = resolvePath(path);
      const named = file === null ? [] : [{ file, isOld: false }];
      return { ...other, files: named, isOnly: true, isNumbered: true };
    }
    if (tool !== 'shell') return { files: [], isOnly: false, isNumbered: false, folder: workingDirectory };
    const found = findCommandFiles(target, { root, workingDirectory, resolve: resolveAbsolute });
    return { ...found, isOnly: found.isPlain, isNumbered: false };
  }

  function noteListed(path: string | null): void {
    if (path !== null && byPath.has(path)) listed.add(path);
  }

  function readResult(text: string, source: Source): void {
    const diff = createDiffReader(resolvePath);
    const resolveInOutput = (path: string) =>
      source.folder === null && !path.startsWith('/')
        ? null
        : resolveAbsolute(posix.resolve(source.folder ?? '/', path));
    let previous: readonly Read[] = [];
    for (const whole of linesOf(text)) {
      const line = withoutSequences(boundLine(whole));
      const numbered = readNumbered(line);
      const inDiff = source.isOnly ? null : diff.read(line, numbered?.rest ?? null);
      if (inDiff?.kind === 'header') {
        if (inDiff.file !== null) listed.add(files[inDiff.file]?.path ?? '');
        previous = [];
        continue;
      }
      if (inDiff !== null) {
        const { file, candidate } = inDiff;
        previous = file === null ? [] : showLine([candidate], [{ file, isOld: false }], file, previous);
        continue;
      }
      if (!source.isOnly && line.includes('\t'))
        for (const row of [line, numbered?.rest ?? '']) noteListed(readListedPath(row));
      const prefixed = source.isOnly ? null : readPrefixed(line, resolveInOutput);
      if (prefixed !== null) {
        const { file, candidate } = prefixed;
        previous = showLine([candidate], [{ file, isOld: false }], file, previous);
        continue;
      }
      previous = showLine(
        readCandidates(line, numbered, source.isOnly),
        source.files,
        null,
        previous,
        source,
      );
    }
  }

  /**
   * Shows a line of a result, read in all ways. Returns what the next line may be a neighbour of.
   * @param named the files that it may belong to.
   * @param owner the only file that it can belong to, if the line itself or its diff says so.
   */
  function showLine(
    candidates: readonly Candidate[],
    named: readonly NamedFile[],
    owner: number | null,
    previous: readonly Read[],
    { isOnly, isNumbered }: Pick<Source, 'isOnly' | 'isNumbered'> = FROM_DIFF,
  ): readonly Read[] {
    const reads: Read[] = [];
    let isOrdinary = false;
    for (const { way, text: whole, mark, number } of candidates) {
      const text = comparable(whole);
      const id = lines.find(text);
      const trivial = isTrivial(text);
      isOrdinary ||= trivial && text !== '--';
      if (id === undefined) continue;
      const read: Read = { way, text: id, mark, file: owner };
      for (const { file, isOld } of named) {
        const seen = { text: id, mark: markIn(mark, isOld) };
        if (lines.show(file, seen, number)) continue;
        // The same two lines may stand elsewhere in the file.
        if (isNumbered && number !== null) continue;
        for (const before of previous)
          if (before.way === way && before.file === owner)
            lines.showPair(file, { text: before.text, mark: markIn(before.mark, isOld) }, seen);
      }
      if (trivial) continue;
      if (owner === null && !isOnly)
        for (const before of previous)
          if (before.way === way && before.file === null) lines.showPairAnywhere(before, read);
      reads.push(read);
    }
    // Neighbours are the nearest lines that are not trivial.
    return reads.length === 0 && isOrdinary ? previous : reads;
  }

  function shownOf(file: FileChange, at: number) {
    if (file.kind === 'unit') {
      const isShown = listed.has(file.path);
      // It is one thing to be seen. No hunks at all mean that the lines are not known.
      return { hunks: 1, shownHunks: isShown ? 1 : 0, isShown };
    }
    const measured = lines.measure(at);
    return { ...measured, isShown: measured.hunks > 0 && measured.shownHunks === measured.hunks };
  }

  function unseenFiles(): readonly UnseenFile[] {
    return files.flatMap((file, at) => {
      if (reasons[at] !== null) return [];
      const { isShown, hunks, shownHunks } = shownOf(file, at);
      return isShown ? [] : [{ path: file.path, hunks, shownHunks }];
    });
  }

  return {
    observe(result) {
      left -= result.text.length;
      if (left < 0) isCut = true;
      else readResult(result.text, sourceOf(result));
    },
    measure() {
      const unseen = unseenFiles();
      const required = reasons.filter((reason) => reason === null).length;
      const why = change.incomplete ?? (isCut ? TOO_MUCH : null);
      const notRequired = files.flatMap(({ path }, at) => {
        const reason = reasons[at] ?? null;
        return reason === null ? [] : [{ path, why: reason }];
      });
      return {
        status: why === null ? 'measured' : 'partial',
        why,
        files: {
          ...{ changed: files.length, required, shown: required - unseen.length },
          unseen: unseen.slice(0, LISTED_FILES),
          notRequired: notRequired.slice(0, LISTED_FILES),
        },
      };
    },
    unseen: () => unseenFiles().map(({ path }) => path),
  };
}

const FROM_DIFF = { isOnly: false, isNumbered: false };

const TOO_MUCH =
  'The results of the tools have more than 50 million characters; those after that are not counted.';

/** A line without a mark may come from the old revision that a command reads. */
function markIn(mark: Mark, isOld: boolean): Mark {
  return isOld && mark === MARKS.none ? MARKS.old : mark;
}
