/** JSON for stdout: one line for every reader, and inert in a terminal and in a runner's log. */

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
