/** Resolves locations written by a model to files that exist in the judged repository. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import { isObject } from '../text/json.ts';
import type { JsonObject } from '../types.ts';
import { type Checkouts, findCheckouts, isBelow, realOrNull } from './checkouts.ts';
import { findingRows, locationOfRow, type WrittenLocation, writtenPath } from './findings.ts';
import { placeFindings } from './grounding.ts';
import type { FindingEvidence, Report } from './report-types.ts';

/** Bytes of a file with findings; those in a larger one are kept, but without lines. */
const MAX_SOURCE_FILE = 10 * 1024 ** 2;
/** Bytes of all files with findings, which are held in memory. */
const MAX_SOURCE_FILES = 64 * 1024 ** 2;
/** Different paths of findings; more than a human-readable payload would name. */
const MAX_SOURCE_PATHS = 5_000;
/** Lines of a file with findings. */
const MAX_SOURCE_LINES = 300_000;

/** A location in the judged repository. */
export interface SourceLocation {
  /** Relative to the repository root, with `/` and symbolic links resolved; an existing regular file. */
  readonly path: string;
  /** null if no line was named or the file does not have it: the finding is then about the whole file. */
  readonly line: number | null;
  /** Greater than `line` and within the file; null for a single line. */
  readonly endLine: number | null;
  /** 1-based, in UTF-16 code units; null if the line is shorter. */
  readonly column: number | null;
  /** null if the file is too large to be read. */
  readonly source: SourceFile | null;
}

/** Resolves a written location; null if it names no file of the judged repository. Never throws. */
export type Locate = (written: WrittenLocation) => SourceLocation | null;

interface LocatorOptions {
  /** Absolute and real. */
  readonly workspace: string;
  /** The agent's working directory: absolute, or relative to the workspace. */
  readonly workingDirectory: string;
  /** The judged repository as `owner/name`, and the head repository of a pull request; empty outside GitHub. */
  readonly repositories: readonly string[];
  /**
   * Files that the change under review touches, relative to the repository root. Read on each lookup, since the list
   * may arrive during the run; empty or absent if unknown.
   */
  readonly changed?: ReadonlySet<string>;
}

/** Whether the judged repository is checked out below the workspace; a job that only merges may not need a checkout. */
export function isCheckedOut({
  workspace,
  repositories,
}: Pick<LocatorOptions, 'workspace' | 'repositories'>): boolean {
  return findCheckouts(workspace, repositories).found;
}

/**
 * Creates a locator that inspects the disk on first use: the workspace itself, not the agent's scratch layer. A path may
 * be absolute, or relative to the repository root, to the agent's working directory, or to the workspace, in this
 * order; if several of these files exist, one that the change touches is preferred. A path may have a diff prefix
 * (`a/`, `b/`) and backslashes. Links that lead out of the workspace and paths into `.git` are not resolved.
 */
export function createLocator(options: LocatorOptions): Locate {
  const found = new Map<string, Omit<SourceLocation, 'line' | 'endLine' | 'column'> | null>();
  const read = createReader();
  let world: World | null = null;
  const find = (written: string) => {
    if (found.size >= MAX_SOURCE_PATHS) return null;
    world ??= openWorld(options);
    const file = chooseFile(written, world, options);
    const inside = file === null ? null : pathInRepository(file, world);
    return file === null || inside === null ? null : { path: inside, source: read(file) };
  };
  return (written) => {
    const known = found.get(written.path);
    const file = known === undefined ? find(written.path) : known;
    if (known === undefined && found.size < MAX_SOURCE_PATHS) found.set(written.path, file);
    return file === null ? null : { ...file, ...linesOf(written, file.source) };
  };
}

interface World {
  readonly checkouts: Checkouts;
  readonly bases: readonly string[];
}

function openWorld({ workspace, workingDirectory, repositories }: LocatorOptions): World {
  const checkouts = findCheckouts(workspace, repositories);
  const real = realOrNull(path.resolve(workspace, workingDirectory));
  const start = real !== null && isBelow(real, workspace) ? real : workspace;
  const around = checkouts.around(start);
  const bases = [...(around === null ? [] : [around]), ...checkouts.roots, start, workspace];
  return { checkouts, bases: [...new Set(bases)] };
}

/** Chooses the file for a written path: among existing files one that the change touches, otherwise the first. */
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

/** Possible spellings of a path, most literal first. */
function spellingsOf(written: string): readonly string[] {
  const spellings = [written, written.replaceAll('\\', '/')];
  return [...new Set(spellings.flatMap((text) => [text, text.replace(/^[ab]\//, '')]))];
}

/** Absolute paths that a written path may mean, in order of preference. */
function candidates(written: string, { bases }: World): readonly string[] {
  const absolute = path.isAbsolute(written) ? [path.normalize(written)] : [];
  return [...absolute, ...bases.map((base) => path.join(base, written))];
}

/** Returns the regular files among the paths that are in the workspace and outside `.git`, with links resolved. */
function existingFiles(paths: readonly string[], workspace: string): readonly string[] {
  return paths.flatMap((each) => {
    const real = isBelow(each, workspace) ? realOrNull(each) : null;
    if (real === null || !isBelow(real, workspace)) return [];
    const inside = path.relative(workspace, real);
    if (/\p{Cc}/u.test(inside) || inside.split(path.sep).some((part) => part.toLowerCase() === '.git'))
      return [];
    return lstatSync(real, { throwIfNoEntry: false })?.isFile() === true ? [real] : [];
  });
}

/** Returns a file's path as git names it; null if it belongs to no checkout of the judged repository. */
function pathInRepository(file: string, { checkouts }: World): string | null {
  const root = checkouts.rootOf(file);
  return root === null ? null : path.relative(root, file).split(path.sep).join('/');
}

function createReader(): (file: string) => SourceFile | null {
  const sources = new Map<string, SourceFile | null>();
  let left = MAX_SOURCE_FILES;
  return (file) => {
    const known = sources.get(file);
    if (known !== undefined) return known;
    const text = readBoundedText(file, Math.min(MAX_SOURCE_FILE, left));
    left -= text?.length ?? 0;
    const source = text === null ? null : sourceFile(text);
    const kept = source !== null && source.lineCount <= MAX_SOURCE_LINES ? source : null;
    sources.set(file, kept);
    return kept;
  };
}

/** Omits a line that the file does not have, because guessing another one could point to the wrong code. */
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

/** The lines of a file, numbered from 1 and terminated by LF. */
interface SourceFile {
  readonly lineCount: number;
  /** Returns a line without its terminator; empty if it does not exist. */
  line(number: number): string;
  /** Returns how many earlier lines have the same characters, ignoring whitespace. */
  sameAbove(number: number): number;
}

export function sourceFile(text: string): SourceFile {
  const lines = text.split('\n');
  // As in git, a trailing newline does not start another line.
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

/** Removes all whitespace from a line, so that reformatting does not change it. */
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

/** Resolves the file of each row. */
export function resolveFindings(payload: JsonObject, locate: Locate): readonly FindingEvidence[] {
  return findingRows(payload).map((row) => {
    const place = isObject(row) ? (locationOfRow(row)?.place ?? null) : null;
    return { path: place === null ? null : (locate(place)?.path ?? null) };
  });
}

/**
 * Maps each written path to its resolved path, or to null if no file was found. Empty unless there is exactly one entry
 * for each row, for example in an envelope forged by another job.
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

/**
 * Wraps a locator so that it uses the paths resolved in the run's evidence, and resolves other paths as before. If
 * findings were checked, the rows of `placeFindings` name resolved paths themselves.
 */
export function locateByEvidence(
  { payload, evidence = null }: Pick<Report, 'payload' | 'evidence'>,
  locate: Locate,
): Locate {
  if (payload === null || evidence === null) return locate;
  if (placeFindings(payload, evidence).byRow.size > 0)
    return locateGrounded(payload, evidence.findings, locate);
  const resolved = resolvedPaths(payload, evidence.findings);
  return (written) => {
    const path = resolved.get(written.path);
    if (path === null) return null;
    return locate(path === undefined ? written : { ...written, path });
  };
}

function locateGrounded(payload: JsonObject, findings: readonly FindingEvidence[], locate: Locate): Locate {
  const found = new Set(findings.map(({ path }) => path));
  const lost = new Set(
    findingRows(payload).flatMap((row, at) => (findings[at]?.path === null ? [writtenPath(row)] : [])),
  );
  return (written) => (lost.has(written.path) && !found.has(written.path) ? null : locate(written));
}
