/** Links to GitHub pages: of a run, of the judged commit, and of the line that a finding names. */

import type { JsonObject, Subject } from '../types.ts';
import { locationOfRow, type WrittenLocation } from './findings.ts';
import type { Locate, SourceLocation } from './source-locations.ts';

/** Returns the URL of the run attempt, which shows its job summaries; null if the subject is not on GitHub. */
export function runPage(subject: Subject | null, serverUrl: string | null): string | null {
  const home = repositoryPage(subject, serverUrl);
  if (home === null || subject === null || !/^\d{1,30}$/.test(subject.run_id)) return null;
  return `${home}/actions/runs/${subject.run_id}/attempts/${subject.run_attempt}`;
}

/** Returns the URL of the judged commit; null if the subject is not on GitHub. */
export function commitPage(subject: Subject | null, serverUrl: string | null): string | null {
  const home = repositoryPage(subject, serverUrl);
  if (home === null || subject === null || !/^[0-9a-f]{7,64}$/.test(subject.sha)) return null;
  return `${home}/commit/${subject.sha}`;
}

function repositoryPage(subject: Subject | null, serverUrl: string | null): string | null {
  if (subject === null || serverUrl === null || !/^[\w.-]+\/[\w.-]+$/.test(subject.repository)) return null;
  return `${serverUrl.replace(/(?<!\/)\/+$/, '')}/${subject.repository}`;
}

const MAX_PATH = 500;

/** Returns the key that names a row's file; null if there is none. */
export function pathKey(row: JsonObject): string | null {
  return locationOfRow(row)?.key ?? null;
}

/**
 * Returns the URL of a row's file at the judged commit, at its line if it has one.
 * @param locate finds the file in the repository; a row whose file is not found gets no link. By default a path counts
 * as relative to the repository root, and a line is required.
 */
export function lineLink(
  row: JsonObject,
  subject: Subject | null,
  serverUrl: string | null,
  locate: Locate = asWritten,
): string | null {
  const home = repositoryPage(subject, serverUrl);
  if (home === null || subject === null || !/^[0-9a-f]{7,64}$/.test(subject.sha)) return null;
  const written = locationOfRow(row)?.place;
  const place = written === undefined ? null : locate(written);
  if (place === null) return null;
  const lines = place.endLine === null ? `#L${place.line}` : `#L${place.line}-L${place.endLine}`;
  const page = `${home}/blob/${subject.sha}/${urlPath(place.path)}`;
  return place.line === null ? page : page + lines;
}

/**
 * Encodes a path with `/` separators for use in a URL, so that no character ends the path, starts a scheme, or is
 * Markdown syntax.
 */
export function urlPath(file: string): string {
  const escaped = encodeURIComponent(file.toWellFormed()).replaceAll('%2F', '/');
  return escaped.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
}

/** Returns a location as written, for use when no checkout is available to verify it. */
export function asWritten(written: WrittenLocation): SourceLocation | null {
  const file = written.path.replace(/^\.\//, '');
  const isOdd = (segment: string) => segment === '' || segment === '.' || segment === '..';
  if (written.line === null || file.length > MAX_PATH || file.includes('\\') || file.split('/').some(isOdd))
    return null;
  const { line, endLine } = written;
  return {
    path: file,
    line,
    endLine: endLine !== null && endLine > line ? endLine : null,
    column: null,
    source: null,
  };
}
