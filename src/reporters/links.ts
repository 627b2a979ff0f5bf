/** Links to GitHub pages: of a run, of the judged commit, and of the line that a finding names. */
import type { JsonObject, Subject } from '../types.ts';
import { locationOfRow, type SourcePlace } from './findings.ts';
import type { Locate } from './places.ts';

/** Returns the URL of the run attempt, which shows its job summaries; null if the subject is not on GitHub. */
export function runPage(subject: Subject | null, serverUrl: string | null): string | null {
  if (subject === null || serverUrl === null) return null;
  return `${serverUrl}/${subject.repository}/actions/runs/${subject.run_id}/attempts/${subject.run_attempt}`;
}

/** Returns the URL of the judged commit, or of its files; null if the subject is not on GitHub. */
export function commitPage(
  subject: Subject | null,
  serverUrl: string | null,
  kind: 'commit' | 'blob' = 'commit',
) {
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

/**
 * Encodes a path with `/` separators for use in a URL, so that no character ends the path, starts a scheme, or is
 * Markdown syntax.
 */
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
