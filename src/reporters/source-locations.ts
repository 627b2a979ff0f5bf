/** From where a model says that something is to a file of the judged repository that is really there. */
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import { isArray, isObject } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';
import { type Checkouts, findCheckouts, isBelow } from './checkouts.ts';
import { locationOfRow, type WrittenLocation } from './findings.ts';
import type { Evidence, FindingEvidence, Report } from './report-types.ts';

/** A place in the judged repository. */
export interface SourceLocation {
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
export type Locate = (written: WrittenLocation) => SourceLocation | null;

/** The world of places. */
interface LocatorOptions {
  /** Absolute and real. */
  readonly workspace: string;
  /** Where the agent started: absolute, or relative to the workspace. */
  readonly workingDirectory: string;
  /** The judged repository as `owner/name`, and the one that a pull request comes from; none outside GitHub. */
  readonly repositories: readonly string[];
  /**
   * The files that the change under review touches, relative to the root of the repository. Read with each lookup, since
   * the list may arrive during the run; empty or absent where it is not known.
   */
  readonly changed?: ReadonlySet<string>;
}

/** A larger file keeps its findings, without lines. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_LINES = 300_000;
/** So much text is held in memory at once. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** More paths than a payload that people read would name. */
const MAX_PATHS = 5_000;

/** Whether the judged repository is checked out below the workspace; a job that only merges may well go without. */
export function isCheckedOut({
  workspace,
  repositories,
}: Pick<LocatorOptions, 'workspace' | 'repositories'>): boolean {
  return findCheckouts(workspace, repositories).found;
}

/**
 * Looks on the disk, at first use: the workspace itself, not the agent's scratch copy of it. A path may be absolute, or
 * relative to the repository's root, to where the agent worked, or to the workspace, in this order; where several of
 * these files exist, one that the change touches is preferred. A path may carry a prefix of a diff (`a/`, `b/`) and
 * backslashes. Links out of the workspace and `.git` lead nowhere.
 */
export function createLocator(options: LocatorOptions): Locate {
  const found = new Map<string, Omit<SourceLocation, 'line' | 'endLine' | 'column'> | null>();
  const read = createReader();
  let world: World | null = null;
  const find = (written: string) => {
    if (found.size >= MAX_PATHS) return null;
    world ??= openWorld(options);
    const file = chooseFile(written, world, options);
    const inside = file === null ? null : pathInRepository(file, world);
    return file === null || inside === null ? null : { path: inside, source: read(file) };
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

function openWorld({ workspace, workingDirectory, repositories }: LocatorOptions): World {
  const checkouts = findCheckouts(workspace, repositories);
  const real = realOf(path.resolve(workspace, workingDirectory));
  const start = real !== null && isBelow(real, workspace) ? real : workspace;
  const around = checkouts.around(start);
  const bases = [...(around === null ? [] : [around]), ...checkouts.roots, start, workspace];
  return { checkouts, bases: [...new Set(bases)] };
}

/** The file that a written path means: of those that exist one that the change touches, else the first. */
function chooseFile(written: string, world: World, { workspace, changed }: LocatorOptions): string | null {
  for (const spelling of spellingsOf(written)) {
    const files = existingFiles(candidates(spelling, world), workspace);
    const [first] = files;
    if (first === undefined) continue;
    if (changed === undefined || changed.size === 0) return first;
    return files.find((file) => changed.has(pathInRepository(file, world) ?? '')) ?? first;
  }
  return null;
}

/** How a path may be written, the most literal first. */
function spellingsOf(written: string): readonly string[] {
  const spellings = [written, written.replaceAll('\\', '/')];
  return [...new Set(spellings.flatMap((text) => [text, text.replace(/^[ab]\//, '')]))];
}

/** What a path may be relative to, in the order of preference. */
function candidates(written: string, { bases }: World): readonly string[] {
  const absolute = path.isAbsolute(written) ? [path.normalize(written)] : [];
  return [...absolute, ...bases.map((base) => path.join(base, written))];
}

/** The regular files among the paths, inside the workspace and outside of `.git`, links resolved. */
function existingFiles(paths: readonly string[], workspace: string): readonly string[] {
  return paths.flatMap((each) => {
    const real = isBelow(each, workspace) ? realOf(each) : null;
    if (real === null || !isBelow(real, workspace)) return [];
    const inside = path.relative(workspace, real);
    if (/\p{Cc}/u.test(inside) || inside.split(path.sep).some((part) => part.toLowerCase() === '.git'))
      return [];
    return lstatSync(real, { throwIfNoEntry: false })?.isFile() === true ? [real] : [];
  });
}

/** A file's path as git names it; null where it belongs to no checkout of the judged repository. */
function pathInRepository(file: string, { checkouts }: World): string | null {
  const root = checkouts.rootOf(file);
  return root === null ? null : path.relative(root, file).split(path.sep).join('/');
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
    const text = readBoundedText(file, Math.min(MAX_FILE_BYTES, left));
    left -= text?.length ?? 0;
    const source = text === null ? null : sourceFile(text);
    const kept = source !== null && source.lineCount <= MAX_LINES ? source : null;
    sources.set(file, kept);
    return kept;
  };
}

/** A line that the file does not have points at nothing; a guess at another one would point at something wrong. */
function linesOf(
  written: WrittenLocation,
  source: SourceFile | null,
): Pick<SourceLocation, 'line' | 'endLine' | 'column'> {
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

/** The text of a file in lines, counted from 1 and ended by LF. */
interface SourceFile {
  readonly lineCount: number;
  /** The line without its end; empty for one that is not there. */
  line(number: number): string;
  /** How many lines with the same characters, blanks aside, stand above it. */
  sameAbove(number: number): number;
}

/** Looks at a text in lines. */
export function sourceFile(text: string): SourceFile {
  const lines = text.split('\n');
  // As git counts: a line end at the end begins no further line.
  if (lines.at(-1) === '') lines.pop();
  const line = (number: number) => (lines[number - 1] ?? '').replace(/\r$/, '');
  let above: Uint32Array | null = null;
  return {
    lineCount: lines.length,
    line,
    sameAbove(number) {
      above ??= countSame(lines.length, line);
      return above[number - 1] ?? 0;
    },
  };
}

/** A line without what reformatting changes. */
export function squeezeLine(line: string): string {
  return line.replace(/\s+/g, '');
}

function countSame(lineCount: number, line: (number: number) => string): Uint32Array {
  const seen = new Map<string, number>();
  const above = new Uint32Array(lineCount);
  for (let number = 1; number <= lineCount; number += 1) {
    const key = squeezeLine(line(number));
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    above[number - 1] = before;
  }
  return above;
}

/** The rows that evidence has entries for: the list `findings`, or else the only list whose rows name files. */
function findingRows(payload: JsonObject): readonly Json[] {
  const named = Object.hasOwn(payload, 'findings') ? payload['findings'] : undefined;
  if (isArray(named)) return named;
  const lists = Object.values(payload)
    .filter(isArray)
    .filter((list) => list.some((row) => writtenPath(row) !== null));
  const [only] = lists;
  return lists.length === 1 && only !== undefined ? only : [];
}

function writtenPath(row: Json): string | null {
  return isObject(row) ? (locationOfRow(row)?.place.path ?? null) : null;
}

/**
 * Finds the file of each row.
 * @param earlier of a run whose payload is reused: its entries are taken as they are, where there is one for each row.
 */
export function resolveFindings(
  payload: JsonObject,
  locate: Locate,
  earlier: Evidence | null = null,
): readonly FindingEvidence[] {
  const rows = findingRows(payload);
  if (earlier !== null && earlier.findings.length === rows.length) return earlier.findings;
  return rows.map((row) => {
    const place = isObject(row) ? (locationOfRow(row)?.place ?? null) : null;
    return { path: place === null ? null : (locate(place)?.path ?? null) };
  });
}

/**
 * The resolved path by the path as it was written; null for one that no file was found for. Empty where there is not exactly one
 * entry for each row, as in an envelope that another job has forged.
 */
export function resolvedPaths(
  payload: JsonObject,
  findings: readonly FindingEvidence[],
): ReadonlyMap<string, string | null> {
  const rows = findingRows(payload);
  if (rows.length !== findings.length) return new Map();
  return new Map(
    rows.flatMap((row, at) => {
      const written = writtenPath(row);
      return written === null ? [] : [[written, findings[at]?.path ?? null] as const];
    }),
  );
}

/** Finds files where the evidence of the run says that they are, and others as before. */
export function locateByEvidence(
  { payload, evidence = null }: Pick<Report, 'payload' | 'evidence'>,
  locate: Locate,
): Locate {
  if (payload === null || evidence === null) return locate;
  const resolved = resolvedPaths(payload, evidence.findings);
  return (written) => {
    const path = resolved.get(written.path);
    if (path === null) return null;
    return locate(path === undefined ? written : { ...written, path });
  };
}
