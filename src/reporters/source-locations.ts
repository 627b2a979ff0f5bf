/** Finds the files that a model names in the judged repository. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import type { JsonObject } from '../types.ts';
import { findCheckout, isBelow, realOrNull, repositoryAround } from './checkouts.ts';
import { findingRows, locationOfRow, type SourcePlace } from './findings.ts';
import type { FindingEvidence, Report } from './report-types.ts';

/** Bytes of a file with findings; those in a larger one are kept, but without lines. */
const MAX_SOURCE_FILE = 10 * 1024 ** 2;
/** Characters of all files with findings. */
const MAX_SOURCE_FILES = 64 * 1024 ** 2;
/** Different paths of findings; more than a human-readable payload would name. */
const MAX_SOURCE_PATHS = 5_000;
/** The file systems of macOS and Windows ignore the case of a name. */
const OF_GIT = /(?:^|[/\\])\.git(?:[/\\]|$)/i;

/**
 * Finds a place that a model has written in the judged repository. Returns the file's path relative to the root of the
 * repository, with `/` and links resolved, and those of the lines that the file has; null if there is no such file. Never
 * throws.
 * @param isResolved whether the path is relative to the root for certain
 */
export type Locate = (written: SourcePlace, isResolved?: boolean) => SourcePlace | null;

interface LocatorOptions {
  /** Absolute and real. */
  readonly workspace: string;
  /** The agent's working directory: absolute, or relative to the workspace. */
  readonly workingDirectory: string;
  /**
   * Files that the change under review touches, relative to the root of the repository. Read on each lookup, since the
   * list may arrive during the run; empty or absent if unknown.
   */
  readonly changed?: ReadonlySet<string>;
}

interface SourceFile {
  /** Relative to the root of the repository, with `/`. */
  readonly path: string;
  readonly lineCount: number;
}

/**
 * Creates a locator that looks at the workspace itself, not at what the agent wrote. A path is looked for at the root of
 * the repository, then in the working directory; if both files exist, the one that the change touches is taken. Files
 * outside the repository, also behind links, in `.git` or in a nested repository are not found.
 */
export function createLocator({ workspace, workingDirectory, changed }: LocatorOptions): Locate {
  const folder = path.resolve(workspace, workingDirectory);
  const root = findCheckout(folder, workspace) ?? workspace;
  const known = new Map<string, SourceFile | null>();
  let room = MAX_SOURCE_FILES;

  function open(file: string): SourceFile | null {
    if (known.has(file) || known.size >= MAX_SOURCE_PATHS) return known.get(file) ?? null;
    const name = nameInRepository(file, root);
    const text = name && readBoundedText(path.join(root, name), Math.min(MAX_SOURCE_FILE, room));
    room -= text?.length ?? 0;
    const found = name === null ? null : { path: name, lineCount: countLines(text ?? '') };
    known.set(file, found);
    return found;
  }

  return (written, isResolved = false) => {
    const bases = isResolved ? [root] : [root, folder];
    const files = bases.map((base) => open(path.resolve(base, written.path))).filter((file) => file !== null);
    const file = files.find((each) => changed?.has(each.path)) ?? files[0];
    return file === undefined ? null : { path: file.path, ...linesOf(written, file.lineCount) };
  };
}

/** Returns a file's path as git names it; null for anything that is not a file of the repository. */
function nameInRepository(file: string, root: string): string | null {
  const real = realOrNull(file);
  if (real === null || !isBelow(real, root)) return null;
  if (lstatSync(real, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const name = path.relative(root, real);
  const isForeign = (repositoryAround(path.dirname(real), root) ?? root) !== root;
  return isForeign || OF_GIT.test(name) || /\p{Cc}/u.test(name) ? null : name.split(path.sep).join('/');
}

/** As in git, a final line break does not start another line. */
function countLines(text: string): number {
  const breaks = text.split('\n').length - 1;
  return text === '' || text.endsWith('\n') ? breaks : breaks + 1;
}

/** Leaves out a line that the file does not have, because guessing another one could point to the wrong code. */
function linesOf({ line, endLine }: SourcePlace, lineCount: number): Pick<SourcePlace, 'line' | 'endLine'> {
  if (line === null || line > lineCount) return { line: null, endLine: null };
  const end = Math.min(endLine ?? line, lineCount);
  return { line, endLine: end > line ? end : null };
}

/** Finds the file of each row. */
export function resolveFindings(payload: JsonObject, locate: Locate): readonly FindingEvidence[] {
  return findingRows(payload).map((row) => {
    const written = locationOfRow(row);
    return { path: written === null ? null : (locate(written.place)?.path ?? null) };
  });
}

/** Returns a locator for the payload of `placeFindings`, whose paths the run's evidence has resolved. */
export function locateByEvidence({ evidence }: Pick<Report, 'payload' | 'evidence'>, locate: Locate): Locate {
  const resolved = new Set(evidence?.findings.map(({ path: name }) => name));
  return (written) => locate(written, resolved.has(written.path));
}
