/** Makes untrusted text and JSON inert for a terminal, a log or a shell. Reporters apply it before anything else. */

import type { Json } from '../types.ts';
import { CONTROL_SEQUENCE, INVISIBLE, TITLE_SEQUENCE } from './encodings.ts';
import { DISPLAY } from './limits.ts';
import { truncate } from './messages.ts';
import type { Secrets } from './secrets.ts';

/** All line breaks that any log reader recognizes. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** Removes invisible characters except tabs, converts line breaks to `\n`, replaces unpaired surrogates with U+FFFD. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(CONTROL_SEQUENCE, '')
    .replace(TITLE_SEQUENCE, '')
    .replace(LINE_BREAK, '\n')
    .replace(INVISIBLE, '');
}

/**
 * Sanitizes a text for display: masks secrets, then removes invisible characters. Of a text longer than `maxRead` only
 * the beginning is read, and a possible partial secret at its end is left out.
 */
export function sanitize(
  text: string,
  secrets: Pick<Secrets, 'mask' | 'longest'>,
  maxRead = DISPLAY.sanitized,
): string {
  // Masked twice: cleaning can join a secret that a control character split, and can remove characters of a secret.
  const clean = secrets.mask(cleanText(secrets.mask(text.slice(0, maxRead))));
  return text.length <= maxRead ? clean : `${withoutEnd(clean, secrets.longest())}…`;
}

/** Removes the last `count` characters, not counting characters that may separate the letters of a secret. */
function withoutEnd(text: string, count: number): string {
  let end = text.length;
  for (let left = count; left > 0 && end > 0; end -= 1) if (!/[\s`]/.test(text.charAt(end - 1))) left -= 1;
  return text.slice(0, end).toWellFormed();
}

/** Collapses whitespace to put a text on one line, truncated to `max` characters. */
export function singleLine(text: string, max: number): string {
  return truncate(cleanText(text).replace(/\s+/g, ' ').trim(), max);
}

/** Like `singleLine`, with the runners' workflow commands defused. */
export function inertLine(text: string, max: number): string {
  return breakCommands(singleLine(text, max));
}

/** The command prefixes that are recognized anywhere in a line: GitHub's older one, and that of Azure Pipelines. */
const MARKER = /##(?=\[|vso\[)/gi;

/** Defuses workflow commands in JSON text without changing its value: the markers can occur only inside strings. */
export function escapeCommands(json: string): string {
  return json.replace(MARKER, '#\\u0023');
}

/**
 * Visibly breaks up the runners' command markers: `::` counts at the start of a line, `##[` and `##vso[` anywhere in
 * it. Clean the text first, or invisible characters may be between those of a marker.
 */
export function breakCommands(text: string): string {
  return text.replace(/:(?=:)/g, ': ').replace(MARKER, '## ');
}

/**
 * Characters that `JSON.stringify` does not escape but that have an effect: DEL and C1 control characters, line
 * separators recognized by some readers, and characters that change the writing direction. None of them can occur
 * outside a JSON string.
 */
const ACTIVE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Serializes a value to one line of JSON without a trailing newline; parsing it gives back exactly the value. */
export function jsonLine(value: Json): string {
  return escapeCommands(JSON.stringify(value).replace(ACTIVE, escapeCharacter));
}

/**
 * Serializes a value to one line of JSON that stays text if a script inserts it through an unquoted `${{ }}`: shell
 * characters that quote, substitute or redirect become `\u` escapes. None of them can occur outside a JSON string.
 */
export function shellSafeJson(value: Json): string {
  return JSON.stringify(value).replace(/[<>&'`$\u007f-\u009f\u2028\u2029\ufeff]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
