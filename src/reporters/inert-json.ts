/** Single-line JSON for stdout and outputs, in which nothing acts on a terminal, a runner's log or a shell. */
import { escapeCommands } from '../text/sanitize.ts';
import type { Json } from '../types.ts';

/**
 * Characters that `JSON.stringify` does not escape but that have an effect: DEL and C1 control characters, line
 * separators recognized by some readers, and characters that change the writing direction. None of them can occur
 * outside a JSON string.
 */
const ACTIVE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Serializes a value to one line of JSON without a trailing newline; parsing it gives back exactly the value. */
export function jsonLine(value: Json): string {
  const text = JSON.stringify(value).replace(
    ACTIVE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return escapeCommands(text);
}

/**
 * Serializes a value to one line of JSON that stays text if a script inserts it through an unquoted `${{ }}`: shell
 * characters that quote, substitute or redirect become `\u` escapes. None of them can occur outside a JSON string.
 */
export function shellSafeJson(value: Json): string {
  return JSON.stringify(value).replace(
    /[<>&'`$\u007f-\u009f\u2028\u2029\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
