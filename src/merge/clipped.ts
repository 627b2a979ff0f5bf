/** Bounds texts of other jobs that nothing has masked yet. */
import type { Secrets, Span } from '../text/secrets.ts';

/** What knows the secrets that must not be cut in half. */
export type Known = Pick<Secrets, 'spans'>;

/** A blank so many characters before another place to cut is taken in its stead: words are shorter. */
const NEAR = 100;
/**
 * What no token of a machine has in it: a letter or mark of another script, a bracket, a quote, a semicolon. What is not
 * seen may stand within one, and is taken out later.
 */
const SEAM = /[^\x21-\x7e\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]|[()[\]{}<>"'`;]/u;

/**
 * The beginning of a text, of at most `max` characters and an ellipsis. A known secret is in it as a whole, where it is
 * found, or not at all. So is what only looks like one, a run of characters as keys and tokens have them: the log of a
 * runner masks secrets that nobody told this step. The cut is between words, or, where there is no blank nearby, as in
 * Chinese or in a minified line, beside a character that no token has. null stays null.
 * @param known null where nobody knows the secrets: then the cut is between words alone.
 */
export function clipped<T extends string | null>(
  text: T,
  max: number,
  known: Known | null = null,
): T | string {
  if (text === null || text.length <= max) return text;
  const end = known === null ? blankBefore(text, max) : seamBefore(text, max, joined(known.spans(text, max)));
  // Copied: V8 keeps the whole text for as long as there is a slice of it.
  return `${Buffer.from(text.slice(0, end).trimEnd()).toString()}…`;
}

/** No regular expression over the text: looking for the last blank with one takes the square of the length. */
function blankBefore(text: string, max: number): number {
  let end = max;
  while (end > 0 && !isBlank(text, end - 1)) end -= 1;
  return end;
}

/** One way back through the text and through what must stay whole. */
function seamBefore(text: string, max: number, wholes: readonly Span[]): number {
  let seam = 0;
  let at = wholes.length - 1;
  for (let end = max; end > 0 && (seam === 0 || seam - end < NEAR); end -= 1) {
    while (at >= 0 && (wholes[at]?.[0] ?? 0) >= end) at -= 1;
    if (end < (wholes[at]?.[1] ?? 0)) continue;
    if (isBlank(text, end - 1)) return end;
    if (seam === 0 && isSeam(text, end)) seam = end;
  }
  return seam;
}

function isBlank(text: string, at: number): boolean {
  return /\s/u.test(text.charAt(at));
}

function isSeam(text: string, end: number): boolean {
  const [behind = ''] = text.slice(end, end + 2);
  const before = [...text.slice(Math.max(0, end - 2), end)].at(-1) ?? '';
  // The halves of one character: in a pair alone they are well-formed.
  const isSplit = !before.isWellFormed() && (before + text.charAt(end)).isWellFormed();
  return !isSplit && (SEAM.test(before) || SEAM.test(behind));
}

/** Those that overlap as one: between two that only touch a cut leaves both whole. */
function joined(spans: readonly Span[]): readonly Span[] {
  const wholes: Span[] = [];
  for (const [start, end] of spans) {
    const last = wholes.at(-1);
    if (last !== undefined && start < last[1]) wholes[wholes.length - 1] = [last[0], Math.max(last[1], end)];
    else wholes.push([start, end]);
  }
  return wholes;
}
