/** JSON on one line, for stdout and for outputs: nothing in it acts on a terminal, a log of a runner or a shell. */
import { escapeCommands } from '../text/sanitize.ts';
import type { Json } from '../types.ts';

/**
 * What `JSON.stringify` leaves as it is although somebody acts on it: control characters of the second kind, what some
 * readers end a line at, and what turns the direction of writing. None of them can stand outside a JSON string.
 */
const ACTIVE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The value as JSON text on one line, without a line break at its end; read, it is exactly the value. */
export function jsonLine(value: Json): string {
  const text = JSON.stringify(value).replace(
    ACTIVE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return escapeCommands(text);
}

/** The most bytes of `structured_output`: GitHub takes no longer output of a job. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024;

/**
 * A value as one line of JSON that a careless `${{ }}` in a script leaves as text: what quotes, substitutes or
 * redirects in a shell is a `\u` escape. None of these characters can stand outside a JSON string.
 */
export function shellSafeJson(value: Json): string {
  return JSON.stringify(value).replace(
    /[<>&'`$\u007f-\u009f\u2028\u2029\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
