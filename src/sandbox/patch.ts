/** What a patch for `git apply` leaves out: files that make other programs run, and links that lead out of the tree. */
import path from 'node:path';
import { foldName } from '../files/names.ts';

/** A patch that is safe to apply unread as far as its names go; its contents are the agent's. */
export interface FilteredPatch {
  /** null where nothing is left. */
  readonly patch: Buffer | null;
  /** The paths that were left out, as git quotes them. */
  readonly leftOut: readonly string[];
}

const MARK = 'diff --git ';

/** Takes the files out of a patch of git's (`--no-renames`, so that each has one name) that nobody should apply unread. */
export function filterPatch(patch: Buffer): FilteredPatch {
  // Each character is one byte. No line of a hunk and none of binary data begins like this.
  const sections = patch.toString('latin1').split(/^(?=diff --git )/mu);
  const leftOut: string[] = [];
  const kept = sections.filter((section) => {
    const name = nameOf(section);
    if (name === null) return true;
    const isRefused = isProtected(name) || isLeavingLink(section, name);
    if (isRefused) leftOut.push(name);
    return !isRefused;
  });
  const left = Buffer.from(kept.join(''), 'latin1');
  return { patch: left.length === 0 ? null : left, leftOut };
}

/** `a/NAME b/NAME`, or the same in quotes: the second half is as long as the first. null for what is before the first file. */
function nameOf(section: string): string | null {
  if (!section.startsWith(MARK)) return null;
  const names = section.slice(MARK.length, section.indexOf('\n'));
  const second = names.slice((names.length + 1) / 2);
  return second.replace(/^"(.*)"$/u, '$1').replace(/^b\//u, '');
}

/** Workflows and actions run in the repository's name, and `.gitmodules` names what git fetches. */
function isProtected(name: string): boolean {
  const parts = name.split('/').map(foldName);
  const last = parts.at(-1) ?? '';
  return (
    parts.some((part) => part === '.github' || part === '.git' || part === 'git~1') ||
    ['action.yml', 'action.yaml', '.gitmodules'].includes(last)
  );
}

/** A link whose target is absolute, or outside of the tree that the patch is applied to. */
function isLeavingLink(section: string, name: string): boolean {
  const [head = ''] = section.split(/^(?:@@|GIT binary patch)/mu, 1);
  if (!/^(?:new file mode|new mode) 120000$|^index [0-9a-f.]+ 120000$/mu.test(head)) return false;
  const added = section
    .slice(head.length)
    .split('\n')
    .filter((line) => line.startsWith('+'));
  const [target] = added.map((line) => line.slice(1));
  // Of a link that is told as binary data nobody knows where it leads.
  if (target === undefined || added.length > 1) return !/^deleted file mode/mu.test(head);
  const place = path.posix.normalize(path.posix.join(path.posix.dirname(name), target));
  return target.startsWith('/') || place === '..' || place.startsWith('../');
}
