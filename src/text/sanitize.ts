/** Hostile text made harmless for a terminal or a log: what every reporter does to it before anything else. */

import { CONTROL_SEQUENCE, INVISIBLE, TITLE_SEQUENCE } from './encodings.ts';
import { truncate } from './messages.ts';
import type { Secrets } from './secrets.ts';

/** Every line break that some reader of logs ends a line at. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** The text without anything invisible but tabs, its line breaks all `\n`, unpaired surrogates as U+FFFD. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(CONTROL_SEQUENCE, '')
    .replace(TITLE_SEQUENCE, '')
    .replace(LINE_BREAK, '\n')
    .replace(INVISIBLE, '');
}

/** So many characters are read of a text of which people are shown some thousands: megabytes would take seconds. */
const MAX_READ = 64 * 1024;

/**
 * The text as people may be shown it: without secrets, and clean. Of a text that is longer than `maxRead` only the
 * beginning is read, and what may be a part of a secret at its end is left out.
 */
export function sanitize(
  text: string,
  secrets: Pick<Secrets, 'mask' | 'longest'>,
  maxRead = MAX_READ,
): string {
  // Masked twice: cleaning can join what a control character split, and take out what belonged to the value.
  const clean = secrets.mask(cleanText(secrets.mask(text.slice(0, maxRead))));
  return text.length <= maxRead ? clean : `${withoutEnd(clean, secrets.longest())}…`;
}

/** The text without its last `count` characters, not counting those that may stand between the letters of a secret. */
function withoutEnd(text: string, count: number): string {
  let end = text.length;
  for (let left = count; left > 0 && end > 0; end -= 1) if (!/[\s`]/.test(text.charAt(end - 1))) left -= 1;
  return text.slice(0, end).toWellFormed();
}

/** The text on one line, blanks collapsed, cut to at most `max` characters. */
export function singleLine(text: string, max: number): string {
  return truncate(cleanText(text).replace(/\s+/g, ' ').trim(), max);
}

/** The text on one line, as `singleLine` gives it, in which no runner of a workflow reads a command. */
export function inertLine(text: string, max: number): string {
  return breakCommands(singleLine(text, max));
}

/** What begins a command wherever it stands in a line: GitHub's older marker, and that of Azure Pipelines. */
const MARKER = /##(?=\[|vso\[)/gi;

/** JSON text in which no runner reads a command, and every parser the same value: the markers stand in its strings only. */
export function escapeCommands(json: string): string {
  return json.replace(MARKER, '#\\u0023');
}

/**
 * The text with the runners' command markers taken apart, visibly: `::` counts at the start of a line, `##[` and `##vso[`
 * anywhere in it. Clean the text first, or something invisible may stand between the characters.
 */
export function breakCommands(text: string): string {
  return text.replace(/:(?=:)/g, ': ').replace(MARKER, '## ');
}
