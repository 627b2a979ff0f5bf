/** Finds the checkout that is judged and the files in it that a model names, and links to them on GitHub. */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { readBoundedText } from '../files/read-bounded.ts';
import { isInside, realOrNull } from '../files/real-paths.ts';
import { READ } from '../text/limits.ts';
import type { JsonObject, Subject } from '../types.ts';
import { type Finding, findingRows, locationOfRow, readFindings } from './findings.ts';
import type { FindingEvidence, Locate, Report, SourcePlace } from './report-types.ts';

/** Bytes of a file with findings; those in a larger one are kept, but without lines. */
const MAX_SOURCE_FILE = 10 * 1024 ** 2;
/** Characters of all files with findings. */
const MAX_SOURCE_FILES = 64 * 1024 ** 2;
/** The file systems of macOS and Windows ignore the case of a name. */
const OF_GIT = /(?:^|[/\\])\.git(?:[/\\]|$)/i;

/**
 * Returns the root of the repository around a folder, or else of the only one that is checked out in a folder of the
 * workspace, as with `path:`; null if there is none, or the choice is ambiguous.
 * @param workspace absolute and real
 */
export function findCheckout(folder: string, workspace: string): string | null {
  const real = realOrNull(folder) ?? workspace;
  const around = repositoryAround(isInside(real, workspace) ? real : workspace, workspace);
  if (around !== null) return around;
  const [only, ...others] = foldersIn(workspace).filter(isCheckout);
  return only === undefined || others.length > 0 ? null : only;
}

/** Returns the root of the repository around a folder, within the workspace; null if there is none. Both are real paths. */
function repositoryAround(folder: string, workspace: string): string | null {
  for (let at = folder; isInside(at, workspace); at = path.dirname(at)) {
    if (isCheckout(at)) return at;
    if (at === workspace) break;
  }
  return null;
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
 * Creates a locator that looks at the workspace itself, not at what the agent wrote. A path is looked for at the root of
 * the repository, then in the working directory; if both files exist, the one that the change touches is taken. Files
 * outside the repository, also behind links, in `.git` or in a nested repository are not found.
 * @param workspace absolute and real
 * @param workingDirectory absolute, or relative to the workspace
 * @param changed files of the change, relative to the root of the repository; they may be added during the run
 */
export function createLocator(
  workspace: string,
  workingDirectory: string,
  changed: ReadonlySet<string> = new Set(),
): Locate {
  const folder = path.resolve(workspace, workingDirectory);
  const root = findCheckout(folder, workspace) ?? workspace;
  const known = new Map<string, { readonly path: string; readonly lineCount: number } | null>();
  let room = MAX_SOURCE_FILES;

  const open = (file: string) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    const name = nameInRepository(file, root);
    const text = (name && readBoundedText(path.join(root, name), Math.min(MAX_SOURCE_FILE, room))) ?? '';
    room -= text.length;
    // As in git, a final line break does not start another line.
    const lineCount = text === '' ? 0 : text.replace(/\n$/u, '').split('\n').length;
    const found = name === null ? null : { path: name, lineCount };
    known.set(file, found);
    return found;
  };

  return (written, isResolved = false) => {
    const bases = isResolved ? [root] : [root, folder];
    const files = bases.map((base) => open(path.resolve(base, written.path))).filter((file) => file !== null);
    const file = files.find((each) => changed.has(each.path)) ?? files[0];
    return file === undefined ? null : { path: file.path, ...linesOf(written, file.lineCount) };
  };
}

/** Returns a file's path as git names it; null for anything that is not a file of the repository. */
function nameInRepository(file: string, root: string): string | null {
  const real = realOrNull(file);
  if (real === null || !isInside(real, root)) return null;
  if (lstatSync(real, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const name = path.relative(root, real);
  const isForeign = (repositoryAround(path.dirname(real), root) ?? root) !== root;
  return isForeign || OF_GIT.test(name) || /\p{Cc}/u.test(name) ? null : name.split(path.sep).join('/');
}

/** Leaves out a line that the file does not have, because guessing another one could point to the wrong code. */
function linesOf({ line, endLine }: SourcePlace, lineCount: number): Pick<SourcePlace, 'line' | 'endLine'> {
  if (line === null || line > lineCount) return { line: null, endLine: null };
  const end = Math.min(endLine ?? line, lineCount);
  return { line, endLine: end > line ? end : null };
}

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

/**
 * Returns the findings of a published payload, most severe first, at places in the repository or at none. Those of a merge
 * that did not decide the verdict come last, as notes with a remark: an error beside a green verdict would contradict it.
 * Whether they are doubted stands in their rows, because a merge has no evidence of its own.
 */
export function findingsToShow(report: Report, locate: Locate): readonly Finding[] {
  const { payload, evidence, view } = report;
  const find = locateByEvidence(report, locate);
  const findings = readFindings(payload ?? {}, evidence).map(
    (finding): Finding => ({ ...finding, place: finding.place && find(finding.place) }),
  );
  const remark = view?.outvoted;
  if (remark === undefined) return findings;
  const isOutvoted = ({ row }: Finding) => row['outvoted'] === true;
  const merged = findings.map((finding) => ({ ...finding, isDoubted: finding.row['doubted'] === true }));
  const notes = merged.filter(isOutvoted).map((finding): Finding => {
    return { ...finding, severity: 'note', score: 0, message: `${remark}\n${finding.message}` };
  });
  return [...merged.filter((finding) => !isOutvoted(finding)), ...notes];
}

/** Returns the URL of the run attempt, which shows its job summaries; null if the subject is not on GitHub. */
export function runPage(subject: Subject | null, serverUrl: string | null): string | null {
  if (subject === null || serverUrl === null) return null;
  return `${serverUrl}/${subject.repository}/actions/runs/${subject.run_id}/attempts/${subject.run_attempt}`;
}

/** Returns the URL of the judged commit, or of its files; null if the subject is not on GitHub. */
export function commitPage(subject: Subject | null, serverUrl: string | null, kind = 'commit') {
  // A merge takes the commit from the envelopes of other jobs.
  if (subject === null || serverUrl === null || !/^[0-9a-f]{7,64}$/.test(subject.sha)) return null;
  return `${serverUrl}/${subject.repository}/${kind}/${subject.sha}`;
}

/** Returns the URL of a row's file at the judged commit, at its line if it has one; null if the file is not found. */
export function lineLink(
  row: JsonObject,
  subject: Subject | null,
  serverUrl: string | null,
  locate: Locate = asWritten,
): string | null {
  const written = locationOfRow(row)?.place;
  const place = written === undefined ? null : locate(written);
  const commit = commitPage(subject, serverUrl, 'blob');
  if (place === null || commit === null) return null;
  const { line, endLine } = place;
  const page = `${commit}/${urlPath(place.path)}`;
  if (line === null) return page;
  return endLine === null ? `${page}#L${line}` : `${page}#L${line}-L${endLine}`;
}

/** Encodes a path for use in a URL, so that no character ends it, starts a scheme, or is Markdown syntax. */
export function urlPath(file: string): string {
  const escaped = encodeURIComponent(file.toWellFormed()).replaceAll('%2F', '/');
  return escaped.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
}

/** Returns a place as written, for use when no checkout is available; null if it does not look like one. */
export function asWritten(written: SourcePlace): SourcePlace | null {
  const path = written.path.replace(/^\.\//, '');
  const isOdd = (part: string) => ['', '.', '..'].includes(part) || part.includes('\\');
  return written.line === null || path.split('/').some(isOdd) ? null : { ...written, path };
}
