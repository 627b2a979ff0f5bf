/** The diff in the first message, which spares a run over a small change most of its turns. */
import { createHash } from 'node:crypto';
import { type Change, parseDiff } from '../evidence/change.ts';
import { createExemptions } from '../evidence/not-required.ts';
import { quotedPath } from '../github/context.ts';

/** Characters of a diff in the first message. */
const MAX_INLINED = 60_000;

/**
 * Returns the part of a change that has to be seen; null if not all of it is known, if it is too long, or empty.
 * @param diff of the whole change, with control characters as visible escapes.
 * @param subject the judged folder, relative to the repository root; empty for the root itself.
 */
export function inlineDiff(change: Change, diff: string, subject: string): string | null {
  const exempt = createExemptions(change, subject);
  const required = change.files.filter((file) => exempt(file) === null);
  const isWhole = change.incomplete === null && required.every(({ kind }) => kind !== 'unknown');
  if (!isWhole || required.length === 0) return null;
  const paths = new Set(required.map(({ path }) => path));
  const isRequired = (section: string) => parseDiff(section).some(({ path }) => paths.has(path));
  const names = required.map(
    ({ path, isRemoved }) => `${isRemoved ? 'removed' : 'changed'}\t${quotedPath(path)}\n`,
  );
  // No line of a hunk or of binary data starts like this.
  const sections = diff.split(/(?<![^\n])(?=diff --git )/u).filter(isRequired);
  const text = `${names.join('')}\n${sections.join('')}`;
  if (text.length > MAX_INLINED) return null;
  // No text inside can hold the hash of the whole, so none can end it; and a replay has the same bytes.
  const mark = createHash('sha256').update(text).digest('hex');
  return `<diff sha256="${mark}">\n${text}</diff sha256="${mark}">`;
}
