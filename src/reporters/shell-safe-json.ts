/** How a payload stands in a step's output, and how long it may be there. */
import type { Json } from '../types.ts';

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
