/** Near spellings, for messages that say what may have been meant. */

/**
 * The candidates closest to a word by edits (insert, delete, replace), closest first, at most `max`; one that would
 * need more than about half its letters changed is left out. Case does not count.
 */
export function nearest(word: string, candidates: readonly string[], max = 3): readonly string[] {
  const wanted = word.slice(0, 100).toLowerCase();
  return [...new Set(candidates)]
    .map((name) => ({ name, edits: distance(wanted, name.slice(0, 100).toLowerCase()) }))
    .filter(({ name, edits }) => edits <= Math.max(2, Math.ceil(Math.max(wanted.length, name.length) / 2)))
    .sort((a, b) => a.edits - b.edits)
    .slice(0, max)
    .map(({ name }) => name);
}

/** The Levenshtein distance, one row of the table at a time. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1) {
      const replaced = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
