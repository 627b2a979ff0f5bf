/** Bounds texts of other jobs that nothing has masked yet. */

/**
 * The beginning of a text, cut between words: a secret without blanks is in it as a whole, where it is found, or not at
 * all. null stays null.
 */
export function clipped<T extends string | null>(text: T, max: number): T | string {
  if (text === null || text.length <= max) return text;
  return `${text.slice(0, max).replace(/\S*$/u, '').trimEnd()}…`;
}
