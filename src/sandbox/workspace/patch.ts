/**
 * Filters patches for `git apply`: leaves out files that cause other programs to run, and links that lead out of the
 * tree.
 */
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isProtectedPath } from '../../files/names.ts';

export interface LeftOut {
  /** Quoted as by git. */
  readonly name: string;
  /** `secret` if the file contains a secret or could not be searched for one. */
  readonly why: 'protected' | 'secret';
}

/**
 * A patch that is safe to apply unread as far as its file names are concerned; its contents are written by the agent.
 */
interface FilteredPatch {
  /** null if nothing is left. */
  readonly patch: Buffer | null;
  readonly leftOut: readonly LeftOut[];
}

export interface SecretSearch {
  readonly holdsSecret: (text: string) => boolean;
  /** The same patch made with `--text`, from which binary files are read; null if there is none or it is too long. */
  readonly asText: Buffer | null;
}

const MARK = 'diff --git ';
/** Separates texts that are searched together. No decoding of a text removes it, so that the texts stay separate. */
const APART = '\uffff';
/** Number of characters per search, and how many of them are searched again with the next ones. */
const PIECE = 1024 * 1024;
const OVERLAP = 64 * 1024;

/**
 * Removes files that nobody should apply unread from a git patch (made with `--no-renames`, so that each has one name),
 * as well as those that contain a known secret, because others store, upload and display the patch. Masked files could
 * not be applied.
 * @throws the signal's reason; a patch of 32 MiB takes seconds.
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
    const isRefused = isProtectedPath(name) || isEscapingLink(section, name);
    if (isRefused) leftOut.push({ name, why: 'protected' });
    else if (leaking.has(section))
      leftOut.push({ name: search.holdsSecret(decoded(name)) ? '***' : name, why: 'secret' });
    else return true;
    return false;
  });
  const left = Buffer.from(kept.join(''), 'latin1');
  return { patch: left.length === 0 ? null : left, leftOut };
}

/** Returns the sections with a secret, and binary ones without a text to search. */
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
    // Searched together, because each search has a fixed cost; one by one if there is a match.
    if (await holds(batch.map((one) => one.text).join(APART)))
      for (const one of batch) if (await holds(one.text)) leaking.add(one.section);
    batch = [];
    length = 0;
  }
  return leaking;
}

/**
 * Splits a patch into one section per file, one character per byte. No line of a hunk or of binary data starts like a
 * section, and git ends lines only with `\n`.
 */
function sectionsOf(patch: Buffer): readonly string[] {
  return patch.toString('latin1').split(/(?<![^\n])(?=diff --git )/u);
}

function isBinary(section: string): boolean {
  return section.includes('\nGIT binary patch\n');
}

/** Returns the file names and other metadata, the new contents, and the old contents, each without diff markers. */
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

/** Replaces git's octal escapes with their bytes, because an escape in a name could hide a secret. */
function decoded(text: string): string {
  const bytes = text.replace(/\\([0-3][0-7]{2})/gu, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return utf8(bytes);
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}

/**
 * Parses `a/NAME b/NAME`, possibly quoted; both halves have the same length. null for the text before the first file.
 */
function nameOf(section: string): string | null {
  if (!section.startsWith(MARK)) return null;
  const names = section.slice(MARK.length, section.indexOf('\n'));
  const second = names.slice((names.length + 1) / 2);
  return second.replace(/^"(.*)"$/u, '$1').replace(/^b\//u, '');
}

/** Whether a file is a link with a target that is absolute or outside the tree that the patch is applied to. */
function isEscapingLink(section: string, name: string): boolean {
  const [head = ''] = section.split(/^(?:@@|GIT binary patch)/mu, 1);
  if (!/^(?:new file mode|new mode) 120000$|^index [0-9a-f.]+ 120000$/mu.test(head)) return false;
  const added = section
    .slice(head.length)
    .split('\n')
    .filter((line) => line.startsWith('+'));
  const [target] = added.map((line) => line.slice(1));
  // If git outputs the link as binary data, its target is unknown.
  if (target === undefined || added.length > 1) return !/^deleted file mode/mu.test(head);
  const place = path.posix.normalize(path.posix.join(path.posix.dirname(name), target));
  return target.startsWith('/') || place === '..' || place.startsWith('../');
}
