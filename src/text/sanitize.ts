/** Makes untrusted text and JSON inert for a terminal, a log or a shell. Reporters apply it before anything else. */

import type { Json } from '../types.ts';
import { DISPLAY } from './limits.ts';
import { truncate } from './messages.ts';

/**
 * Terminal escape sequences, which are removed as a whole; a lone ESC matches `INVISIBLE`. No match extends past the
 * beginning of another sequence: otherwise a megabyte of beginnings would be scanned once for each of them.
 */
const CONTROL_SEQUENCE = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g;
/** A terminal title or hyperlink. */
const TITLE_SEQUENCE = /(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n\r]*(?:\x07|\x1b\\|\x9c)/g;
/** Control, bidi and zero-width characters, except tabs and line feeds: some comparisons, as in .NET, ignore them. */
const INVISIBLE = /[^\P{Cc}\t\n]|\p{Cf}|\p{Default_Ignorable_Code_Point}/gu;
/** All line breaks that any log reader recognizes. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** Removes terminal escape sequences and invisible characters except tabs, converts line breaks to `\n`, replaces unpaired surrogates with U+FFFD. */
export function cleanText(text: string): string {
  const withoutSequences = text.replace(CONTROL_SEQUENCE, '').replace(TITLE_SEQUENCE, '');
  return withoutSequences.toWellFormed().replace(LINE_BREAK, '\n').replace(INVISIBLE, '');
}

/** Sanitizes the first characters of a text for display. They are masked before they are cut: nobody finds half a secret. */
export function sanitize(
  text: string,
  secrets: { mask(text: string): string },
  maxRead: number = DISPLAY.sanitized,
): string {
  // Masked twice: cleaning can join a secret that a control character split.
  return secrets.mask(cleanText(truncate(secrets.mask(text), maxRead)));
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

/** Visibly breaks up the runners' command markers. Clean the text first: invisible characters may be inside a marker. */
export function breakCommands(text: string): string {
  return text.replace(/:(?=:)/g, ': ').replace(MARKER, '## ');
}

/**
 * Characters that `JSON.stringify` does not escape: DEL and C1 control characters, line separators of some readers, and
 * characters that change the writing direction. Like those of a shell below, they occur in JSON strings only.
 */
const ACTIVE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Serializes a value to one line of JSON without a trailing newline; parsing it gives back exactly the value. */
export function jsonLine(value: Json): string {
  return escapeCommands(JSON.stringify(value).replace(ACTIVE, escapeCharacter));
}

/**
 * Serializes a value to one line of JSON that stays text if a script inserts it through an unquoted `${{ }}`: shell
 * characters that quote, substitute or redirect become `\u` escapes.
 */
export function shellSafeJson(value: Json): string {
  return JSON.stringify(value).replace(/[<>&'`$\u007f-\u009f\u2028\u2029\ufeff]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Shows control characters except tabs and line ends as escapes, and a NUL, which some model APIs reject, as a sign. */
export function showControls(text: string): string {
  return text
    .replaceAll('\0', '\u2400')
    .replace(
      /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f]|\r(?!\n)/g,
      (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
    );
}
