/** Finds the checkout that is judged, and the files in it that a model names. */
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import { READ } from '../text/limits.ts';
import type { JsonObject } from '../types.ts';
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
 * Returns the root of the repository around a folder, or else of the only one that is checked out in a folder of the
 * workspace, as with `path:`; null if there is none, or the choice is ambiguous.
 * @param workspace absolute and real
 */
export function findCheckout(folder: string, workspace: string): string | null {
  const real = realOrNull(folder) ?? workspace;
  const around = repositoryAround(isBelow(real, workspace) ? real : workspace, workspace);
  if (around !== null) return around;
  const [only, ...others] = foldersIn(workspace).filter(isCheckout);
  return only === undefined || others.length > 0 ? null : only;
}

/**
 * Returns the root of the repository around a folder, within the workspace; null if there is none. Both paths are
 * absolute and real.
 */
export function repositoryAround(folder: string, workspace: string): string | null {
  for (let at = folder; isBelow(at, workspace); at = path.dirname(at)) {
    if (isCheckout(at)) return at;
    if (at === workspace) break;
  }
  return null;
}

export function realOrNull(folder: string): string | null {
  try {
    return realpathSync.native(folder);
  } catch {
    return null;
  }
}

/** Whether `inner` is `outer` or is below it; both paths are absolute and normalized. */
export function isBelow(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

/** A workspace that is not a folder is reported like any invalid option, once the run has started. */
function foldersIn(workspace: string): readonly string[] {
  try {
    const entries = readdirSync(workspace, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(workspace, name));
  } catch {
    return [];
  }
}

/** Whether `.git` is a repository, or the file that names that of a worktree or a submodule. */
function isCheckout(folder: string): boolean {
  const git = path.join(folder, '.git');
  return (
    existsSync(path.join(git, 'HEAD')) || readBoundedText(git, READ.pointer)?.startsWith('gitdir: ') === true
  );
}

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

/**
 * Creates a locator that looks at the workspace itself, not at what the agent wrote. A path is looked for at the root of
 * the repository, then in the working directory; if both files exist, the one that the change touches is taken. Files
 * outside the repository, also behind links, in `.git` or in a nested repository are not found.
 */
export function createLocator({ workspace, workingDirectory, changed }: LocatorOptions): Locate {
  const folder = path.resolve(workspace, workingDirectory);
  const root = findCheckout(folder, workspace) ?? workspace;
  const known = new Map<string, { readonly path: string; readonly lineCount: number } | null>();
  let room = MAX_SOURCE_FILES;

  const open = (file: string) => {
    if (known.has(file) || known.size >= MAX_SOURCE_PATHS) return known.get(file) ?? null;
    const name = nameInRepository(file, root);
    const text = name && readBoundedText(path.join(root, name), Math.min(MAX_SOURCE_FILE, room));
    room -= text?.length ?? 0;
    const found = name === null ? null : { path: name, lineCount: countLines(text ?? '') };
    known.set(file, found);
    return found;
  };

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

/** Returns a locator for findings at the places in the run's evidence, whose paths are resolved already. */
export function locateByEvidence({ evidence }: Pick<Report, 'evidence'>, locate: Locate): Locate {
  const resolved = new Set(evidence?.findings.map(({ path: name }) => name));
  return (written) => locate(written, resolved.has(written.path));
}
