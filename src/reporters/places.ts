/** From where a model says that something is to a file of the judged repository that is really there. */
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { type Checkouts, findCheckouts, isBelow } from './checkouts.ts';
import type { WrittenPlace } from './findings.ts';
import { readRegularFile } from './regular-file.ts';
import { type SourceFile, sourceFile } from './source-file.ts';

/** A place in the judged repository. */
export interface Place {
  /** Relative to the repository's root, with `/`, symbolic links resolved; the file is there and regular. */
  readonly path: string;
  /** null where none was named, or one that the file does not have: the finding is about the file then. */
  readonly line: number | null;
  /** More than `line`, and in the file; null for a single line. */
  readonly endLine: number | null;
  /** In UTF-16 units from 1; null where the line does not reach so far. */
  readonly column: number | null;
  /** null for a file that is too large to be read. */
  readonly source: SourceFile | null;
}

/** Finds a written place; null where no file of the judged repository is meant. Never throws. */
export type Locate = (written: WrittenPlace) => Place | null;

/** The world of places. */
export interface PlacesOptions {
  /** Absolute and real. */
  readonly workspace: string;
  /** Where the agent started: absolute, or relative to the workspace. */
  readonly workingDirectory: string;
  /** The judged repository as `owner/name`, and the one that a pull request comes from; none outside GitHub. */
  readonly repositories: readonly string[];
}

/** A larger file keeps its findings, without lines. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_LINES = 300_000;
/** So much text is held in memory at once. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** More paths than a payload that people read would name. */
const MAX_PATHS = 5_000;

/** Whether the judged repository is checked out below the workspace; a job that only merges may well go without. */
export function isCheckedOut({ workspace, repositories }: Omit<PlacesOptions, 'workingDirectory'>): boolean {
  return findCheckouts(workspace, repositories).found;
}

/**
 * Looks on the disk, at first use: the workspace itself, not the agent's scratch copy of it. A path may be absolute, or
 * relative to the repository's root, to where the agent worked, or to the workspace, in this order; it may carry a
 * prefix of a diff (`a/`, `b/`) and backslashes. Links out of the workspace and `.git` lead nowhere.
 */
export function createPlaces(options: PlacesOptions): Locate {
  const found = new Map<string, Omit<Place, 'line' | 'endLine' | 'column'> | null>();
  const read = createReader();
  let world: World | null = null;
  const find = (written: string) => {
    if (found.size >= MAX_PATHS) return null;
    world ??= openWorld(options);
    const file = firstFile(candidates(written, world), options.workspace);
    const root = file === null ? null : world.checkouts.rootOf(file);
    if (file === null || root === null) return null;
    return { path: path.relative(root, file).split(path.sep).join('/'), source: read(file) };
  };
  return (written) => {
    const known = found.get(written.path);
    const file = known === undefined ? find(written.path) : known;
    if (known === undefined && found.size < MAX_PATHS) found.set(written.path, file);
    return file === null ? null : { ...file, ...linesOf(written, file.source) };
  };
}

interface World {
  readonly checkouts: Checkouts;
  readonly bases: readonly string[];
}

function openWorld({ workspace, workingDirectory, repositories }: PlacesOptions): World {
  const checkouts = findCheckouts(workspace, repositories);
  const real = realOf(path.resolve(workspace, workingDirectory));
  const start = real !== null && isBelow(real, workspace) ? real : workspace;
  const around = checkouts.around(start);
  const bases = [...(around === null ? [] : [around]), ...checkouts.roots, start, workspace];
  return { checkouts, bases: [...new Set(bases)] };
}

/** What a path may mean, the most literal first. */
function candidates(written: string, { bases }: World): readonly string[] {
  const spellings = [written, written.replaceAll('\\', '/')].flatMap((text) => [
    text,
    text.replace(/^[ab]\//, ''),
  ]);
  return [...new Set(spellings)].flatMap((text) => [
    ...(path.isAbsolute(text) ? [path.normalize(text)] : []),
    ...bases.map((base) => path.join(base, text)),
  ]);
}

function firstFile(paths: readonly string[], workspace: string): string | null {
  for (const each of paths) {
    const real = isBelow(each, workspace) ? realOf(each) : null;
    if (real === null || !isBelow(real, workspace)) continue;
    const inside = path.relative(workspace, real);
    if (/\p{Cc}/u.test(inside) || inside.split(path.sep).some((part) => part.toLowerCase() === '.git'))
      continue;
    if (lstatSync(real, { throwIfNoEntry: false })?.isFile() === true) return real;
  }
  return null;
}

function realOf(file: string): string | null {
  try {
    return realpathSync.native(file);
  } catch {
    return null;
  }
}

function createReader(): (file: string) => SourceFile | null {
  const sources = new Map<string, SourceFile | null>();
  let left = MAX_TOTAL_BYTES;
  return (file) => {
    const known = sources.get(file);
    if (known !== undefined) return known;
    const text = readRegularFile(file, Math.min(MAX_FILE_BYTES, left));
    left -= text?.length ?? 0;
    const source = text === null ? null : sourceFile(text);
    const kept = source !== null && source.lineCount <= MAX_LINES ? source : null;
    sources.set(file, kept);
    return kept;
  };
}

/** A line that the file does not have points at nothing; a guess at another one would point at something wrong. */
function linesOf(
  written: WrittenPlace,
  source: SourceFile | null,
): Pick<Place, 'line' | 'endLine' | 'column'> {
  const { line, endLine, column } = written;
  if (source === null || line === null || line > source.lineCount)
    return { line: null, endLine: null, column: null };
  const end = endLine === null ? line : Math.min(endLine, source.lineCount);
  return {
    line,
    endLine: end > line ? end : null,
    column: column === null || column > source.line(line).length ? null : column,
  };
}
