/** The diff in the first message, which spares a run over a small change most of its turns. */
import { createHash } from 'node:crypto';
import { parsePatches } from '../evidence/change.ts';
import { createExemptions } from '../evidence/not-required.ts';
import { listedTexts } from '../github/context.ts';
import { showControls } from '../text/sanitize.ts';
import type { ListedChange } from '../types.ts';

/** Characters of a diff in the first message. */
const MAX_INLINED = 60_000;

/**
 * Returns the part of a change that has to be seen; null if GitHub does not list all of it, if it is too long, or empty.
 * @param subject the judged folder, relative to the repository root; empty for the root itself.
 */
export function inlineDiff({ files, more }: ListedChange, subject: string): string | null {
  const changes = parsePatches(files);
  if (more !== null || changes.some(({ kind }) => kind === 'unknown')) return null;
  // What the base marks is not known yet, so it is shown as well.
  const exempt = createExemptions({ marked: new Map() }, subject);
  const required = files.filter((_, at) => {
    const file = changes[at];
    return file !== undefined && exempt(file) === null;
  });
  const { names, diff } = listedTexts(required);
  const text = showControls(`${names}\n${diff}`);
  if (required.length === 0 || text.length > MAX_INLINED) return null;
  // No text inside can hold the hash of the whole, so none can end it; and a replay has the same bytes.
  const mark = createHash('sha256').update(text).digest('hex');
  return `<diff sha256="${mark}">\n${text}</diff sha256="${mark}">`;
}
