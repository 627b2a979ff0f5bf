/** How grave a finding is, in the words that schemas use for it. */
import type { Json, JsonObject } from '../types.ts';

const WORDS: readonly (readonly [mark: string, words: readonly string[]])[] = [
  ['🔴&nbsp;', ['blocker', 'critical', 'fatal', 'error', 'high']],
  ['🟡&nbsp;', ['warning', 'warn', 'major', 'medium', 'moderate']],
  ['🔵&nbsp;', ['notice', 'minor', 'low', 'info', 'note', 'suggestion', 'nit', 'style']],
];

/** A coloured mark before the word, in Markdown; empty for a word that tells nothing. */
export function severityMark(value: Json): string {
  return WORDS[rank(value)]?.[0] ?? '';
}

/** The rows, those with the gravest `severity` first and otherwise in their own order. */
export function bySeverity(rows: readonly JsonObject[]): readonly JsonObject[] {
  const rankOf = (row: JsonObject) => rank(Object.hasOwn(row, 'severity') ? row['severity'] : undefined);
  return rows.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function rank(value: Json | undefined): number {
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  const found = WORDS.findIndex(([, words]) => words.includes(word));
  return found === -1 ? WORDS.length : found;
}
