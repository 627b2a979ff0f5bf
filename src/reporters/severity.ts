/** How grave a finding is, in the words that schemas use for it. */
import type { Json, JsonObject } from '../types.ts';

/** How grave a finding is to everything that shows findings: SARIF's words for it. */
export type Severity = 'error' | 'warning' | 'note';

/** The three severities, the gravest first. */
export const SEVERITIES: readonly Severity[] = ['error', 'warning', 'note'];

const MARKS: Readonly<Record<Severity, string>> = {
  error: '🔴&nbsp;',
  warning: '🟡&nbsp;',
  note: '🔵&nbsp;',
};

const WORDS: ReadonlyMap<string, Severity> = new Map([
  ...words('error', 'blocker critical fatal severe error high'),
  ...words('warning', 'warning warn major medium moderate'),
  ...words(
    'note',
    'notice minor low info information informational note remark suggestion recommendation hint nit nitpick style trivial',
  ),
]);

/**
 * The words of scales for vulnerabilities, as the numbers that GitHub shows as these very words (more than 9.0 is
 * critical, from 7.0 high, from 4.0 medium, from 0.1 low).
 */
const SCORES: ReadonlyMap<string, number> = new Map([
  ['critical', 9.5],
  ['high', 8],
  ['medium', 5.5],
  ['moderate', 5.5],
  ['low', 2],
]);

/** What a word means, whatever its case; null for one that tells nothing. */
export function severityOf(value: Json | undefined): Severity | null {
  return WORDS.get(wordOf(value)) ?? null;
}

/** The `security-severity` (0.1 to 10) of a word of a scale for vulnerabilities; null for any other word. */
export function securityScore(value: Json | undefined): number | null {
  return SCORES.get(wordOf(value)) ?? null;
}

/** A coloured mark before the word, in Markdown; empty for a word that tells nothing. */
export function severityMark(value: Json): string {
  const severity = severityOf(value);
  return severity === null ? '' : MARKS[severity];
}

/** The rows, those with the gravest `severity` first and otherwise in their own order. */
export function bySeverity(rows: readonly JsonObject[]): readonly JsonObject[] {
  const rankOf = (row: JsonObject) => {
    const severity = severityOf(Object.hasOwn(row, 'severity') ? row['severity'] : undefined);
    return severity === null ? SEVERITIES.length : SEVERITIES.indexOf(severity);
  };
  return rows.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function words(severity: Severity, text: string): [string, Severity][] {
  return text.split(' ').map((word) => [word, severity]);
}

function wordOf(value: Json | undefined): string {
  return typeof value === 'string' ? value.trim().toLowerCase() : '';
}
