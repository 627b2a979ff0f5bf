/** What a patch for `git apply` leaves out: files that make other programs run, and links that lead out of the tree. */
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { foldName, isActionFile, isProtectedPath } from '../../files/names.ts';

/** A file that a patch leaves out. */
export interface LeftOut {
  /** As git quotes it. */
  readonly name: string;
  /** `secret` where it holds one, or could not be searched for one. */
  readonly why: 'protected' | 'secret';
}

/** A patch that is safe to apply unread as far as its names go; its contents are the agent's. */
export interface FilteredPatch {
  /** null where nothing is left. */
  readonly patch: Buffer | null;
  readonly leftOut: readonly LeftOut[];
}

/** What patches are searched for secrets with. */
export interface SecretSearch {
  readonly holdsSecret: (text: string) => boolean;
  /** The same patch with `--text`, from which binary files are read; null where there is none, or it is too long. */
  readonly asText: Buffer | null;
}

const MARK = 'diff --git ';
/** Between texts that are searched together. No reading of a text takes it out, so the texts stay apart. */
const APART = '\uffff';
/** How many characters are searched at a time, and how many of them again with the next ones. */
const PIECE = 1024 * 1024;
const OVERLAP = 64 * 1024;

/**
 * Takes the files out of a patch of git's (`--no-renames`, so that each has one name) that nobody should apply unread, and
 * those that hold a known secret: the patch is kept, uploaded and shown by others. Masked they would not apply.
 * @throws the signal's reason: a patch of 32 MiB takes seconds.
 */
export async function filterPatch(
  patch: Buffer,
  search: SecretSearch,
  signal: AbortSignal,
): Promise<FilteredPatch> {
  const sections = sectionsOf(patch);
  const leaking = await findLeaking(sections, search, signal);
  const leftOut: LeftOut[] = [];
  const kept = sections.filter((section) => {
    const name = nameOf(section);
    if (name === null) return true;
    const isRefused = isProtected(name) || isLeavingLink(section, name);
    if (isRefused) leftOut.push({ name, why: 'protected' });
    else if (leaking.has(section))
      leftOut.push({ name: search.holdsSecret(decoded(name)) ? '***' : name, why: 'secret' });
    else return true;
    return false;
  });
  const left = Buffer.from(kept.join(''), 'latin1');
  return { patch: left.length === 0 ? null : left, leftOut };
}

/** Those with a secret, and binary ones without a text to search. */
async function findLeaking(
  sections: readonly string[],
  { holdsSecret, asText }: SecretSearch,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const texts = new Map(sectionsOf(asText ?? Buffer.alloc(0)).map((one) => [nameOf(one), one]));
  const leaking = new Set<string>();
  const holds = async (text: string): Promise<boolean> => {
    for (let start = 0; start === 0 || start + OVERLAP < text.length; start += PIECE) {
      await setImmediate();
      signal.throwIfAborted();
      if (holdsSecret(text.slice(start, start + PIECE + OVERLAP))) return true;
    }
    return false;
  };
  let batch: { readonly section: string; readonly text: string }[] = [];
  let length = 0;
  for (const [at, section] of sections.entries()) {
    const source = isBinary(section) ? texts.get(nameOf(section)) : section;
    if (source === undefined) leaking.add(section);
    const text = searchable(source ?? '');
    batch.push({ section, text });
    length += text.length;
    if (length < PIECE && at < sections.length - 1) continue;
    // Together, because a search has a price of its own; one by one where that finds something.
    if (await holds(batch.map((one) => one.text).join(APART)))
      for (const one of batch) if (await holds(one.text)) leaking.add(one.section);
    batch = [];
    length = 0;
  }
  return leaking;
}

/** Each character is one byte. No line of a hunk and none of binary data begins like a section; git ends lines at `\n` only. */
function sectionsOf(patch: Buffer): readonly string[] {
  return patch.toString('latin1').split(/(?<![^\n])(?=diff --git )/u);
}

function isBinary(section: string): boolean {
  return section.includes('\nGIT binary patch\n');
}

/** The names and the rest of what is no content, the file as it is now, and as it was, each without the marks of a diff. */
function searchable(section: string): string {
  const [head, now, before]: [string[], string[], string[]] = [[], [], []];
  let inHunk = false;
  for (const line of section.split('\n')) {
    inHunk ||= line.startsWith('@@');
    const mark = inHunk ? line[0] : '';
    if (mark === '+' || mark === ' ') now.push(line.slice(1));
    if (mark === '-' || mark === ' ') before.push(line.slice(1));
    if (mark !== '+' && mark !== '-' && mark !== ' ') head.push(line);
  }
  return [decoded(head.join('\n')), utf8(now.join('\n')), utf8(before.join('\n'))].join(APART);
}

/** Git's text with the bytes of its octal escapes in their place: what nobody sees in a name would hide a secret. */
function decoded(text: string): string {
  const bytes = text.replace(/\\([0-3][0-7]{2})/gu, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return utf8(bytes);
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
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
  const parts = name.split('/');
  const last = parts.at(-1) ?? '';
  return isProtectedPath(parts) || isActionFile(last) || foldName(last) === '.gitmodules';
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
  // Where a link leads is not known if git gives it as binary data.
  if (target === undefined || added.length > 1) return !/^deleted file mode/mu.test(head);
  const place = path.posix.normalize(path.posix.join(path.posix.dirname(name), target));
  return target.startsWith('/') || place === '..' || place.startsWith('../');
}
