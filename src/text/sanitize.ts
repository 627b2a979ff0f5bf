/** Hostile text made harmless for a terminal or a log: what every reporter does to it before anything else. */

import { CONTROL_SEQUENCE, INVISIBLE, TITLE_SEQUENCE } from './encodings.ts';
import { truncate } from './messages.ts';

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
