/** Helpers for messages: quoted and truncated text, counts with their nouns, spelling suggestions, names of inputs. */

import type { RedactedIssue } from '../types.ts';
import { DISPLAY, LISTED } from './limits.ts';

/** Truncates a text to at most `max` UTF-16 code units including an ellipsis, without splitting a surrogate pair. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, Math.max(0, max - 1));
  return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}…`;
}

/** Quotes an untrusted text for use in a sentence: a JSON string of at most `max` UTF-16 code units of the text. */
export function quote(text: string, max: number = DISPLAY.phrase): string {
  return JSON.stringify(truncate(text, max));
}

/** Joins alternatives for a sentence: `a`, `a or b`, `a, b or c`. */
export function joinWithOr(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

/** Formats a whole number with thousands separators: `3,210`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats a count with its noun: `1 turn`, `3 turns`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Returns at most `max` candidates closest to a word by edit distance (insert, delete, replace), closest first.
 * Candidates that need changes in more than a third of the letters are left out; in short words, in more than two letters
 * or half of them. Case is ignored.
 */
export function suggest(word: string, candidates: readonly string[], max = 3): readonly string[] {
  const wanted = word.slice(0, 100).toLowerCase();
  const isNear = (edits: number, letters: number) => edits <= Math.max(letters / 3, Math.min(2, letters / 2));
  return [...new Set(candidates)]
    .map((name) => ({ name, edits: distance(wanted, name.slice(0, 100).toLowerCase()) }))
    .filter(({ name, edits }) => isNear(edits, Math.max(wanted.length, name.length)))
    .sort((a, b) => a.edits - b.edits)
    .slice(0, max)
    .map(({ name }) => name);
}

/** Returns the Levenshtein distance, keeping only one row of the table at a time. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1) {
      const replaced = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Lists a rejection by path, keyword and missing property, without its messages, which may quote the payload. */
export function listIssues(issues: readonly RedactedIssue[]): string {
  const parts = issues.map(({ path, keyword, missing }) => {
    const what = missing === undefined ? keyword : `${keyword}: ${truncate(missing, DISPLAY.value)}`;
    return `${path === '' ? 'the root' : path} (${what})`;
  });
  return parts.join(', ');
}

/** Lists the first names in quotes, because they are hostile; the rest are counted. */
export function listNames(names: readonly string[], max: number = LISTED.some): string {
  const quoted = names.slice(0, max).map((name) => JSON.stringify(name.slice(0, DISPLAY.path)));
  const more = names.length - quoted.length;
  return `${quoted.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** How the user started the program. The action and the merge action are both `action`. */
export type Entry = 'action' | 'command-line' | 'library';

/** The environment variable for the key on the command line, for any provider. */
export const KEY_VARIABLE = 'STRUCTURED_AGENT_API_KEY';

/** Returns an input's name as users of an entry write it: `base-url`, `--base-url`, `baseUrl`. */
export function inputName(input: string, entry: Entry): string {
  if (entry === 'action') return input;
  if (entry === 'library') return input.replace(/-([a-z])/gu, (_, letter: string) => letter.toUpperCase());
  return input === 'api-key' ? KEY_VARIABLE : `--${input}`;
}
