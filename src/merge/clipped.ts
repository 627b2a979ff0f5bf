/** Bounds texts of other jobs that nothing has masked yet. */

/**
 * The beginning of a text, cut between words: a secret without blanks is in it as a whole, where it is found, or not at
 * all. null stays null.
 */
export function clipped<T extends string | null>(text: T, max: number): T | string {
  if (text === null || text.length <= max) return text;
  let end = max;
  // No regular expression: looking for the last blank with one takes the square of the length.
  while (end > 0 && /\S/u.test(text.charAt(end - 1))) end -= 1;
  // Copied: V8 keeps the whole text for as long as there is a slice of it.
  return `${Buffer.from(text.slice(0, end).trimEnd()).toString()}…`;
}
