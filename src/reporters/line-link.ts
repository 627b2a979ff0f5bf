/** From a finding to the page of its line. */
import type { JsonObject, Subject } from '../types.ts';

/** The key that names a row's file; null where it names none. */
export function pathKey(row: JsonObject): 'path' | 'file' | null {
  for (const key of ['path', 'file'] as const) {
    if (Object.hasOwn(row, key) && typeof row[key] === 'string') return key;
  }
  return null;
}

/** The page of a line at the judged commit; null where the row names none that could be in the repository. */
export function lineLink(row: JsonObject, subject: Subject | null, serverUrl: string | null): string | null {
  const key = pathKey(row);
  if (key === null || subject === null || serverUrl === null) return null;
  const file = row[key];
  const line = Object.hasOwn(row, 'line') ? row['line'] : undefined;
  if (typeof file !== 'string' || typeof line !== 'number' || !Number.isSafeInteger(line) || line < 1)
    return null;
  if (!/^[\w.-]+\/[\w.-]+$/.test(subject.repository) || !/^[0-9a-f]{7,64}$/.test(subject.sha)) return null;
  const segments = file.replace(/^\.\//, '').split('/');
  if (
    file.length > 500 ||
    segments.some((each) => each === '' || each === '.' || each === '..' || /[\p{Cc}\\]/u.test(each))
  ) {
    return null;
  }
  const escaped = segments.map((each) =>
    encodeURIComponent(each).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`),
  );
  return `${serverUrl}/${subject.repository}/blob/${subject.sha}/${escaped.join('/')}#L${line}`;
}
