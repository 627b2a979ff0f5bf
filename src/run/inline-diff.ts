/** The diff in the first message, which spares a run over a small change most of its turns. */
import { createHash } from 'node:crypto';
import { type FileChange, parsePatches } from '../evidence/change.ts';
import { createExemptions } from '../evidence/not-required.ts';
import { listedTexts } from '../github/context.ts';
import { isBinaryName } from '../text/binary-names.ts';
import { showControls } from '../text/sanitize.ts';
import type { ListedChange } from '../types.ts';

/** Characters of a diff in the first message. */
const MAX_INLINED = 60_000;

/**
 * Returns the part of a change that has to be seen; null if GitHub does not list all of it, if it is too long, or empty.
 * @param subject the judged folder, relative to the repository root; empty for the root itself.
 */
export function inlineDiff({ files, more }: ListedChange, subject: string): string | null {
  // What the base marks is not known yet, so it is shown as well.
  const exempt = createExemptions({ marked: new Map() }, subject);
  const changes = parsePatches(files);
  const isRequired = (file: FileChange | undefined) => file !== undefined && exempt(file) === null;
  const required = changes.filter(isRequired);
  const known = required.filter(({ kind }) => kind !== 'unknown');
  // An image has no lines. If a text has such a name, it is not shown by this.
  const isWhole = required.every((file) => file.kind !== 'unknown' || isBinaryName(file.path));
  if (more !== null || known.length === 0 || !isWhole) return null;
  const { names, diff } = listedTexts(files.filter((_, at) => isRequired(changes[at])));
  const text = showControls(`${names}\n${diff}`);
  if (text.length > MAX_INLINED) return null;
  // No text inside can hold the hash of the whole, so none can end it; and a replay has the same bytes.
  const mark = createHash('sha256').update(text).digest('hex');
  return `<diff sha256="${mark}">\n${text}</diff sha256="${mark}">`;
}
