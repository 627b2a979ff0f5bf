/** What a gate wanted and what the payload says, as reports in Markdown tell it. */
import type { MarkdownSanitizer, Report } from './report-types.ts';

/** Characters of a clause, each of which may take six when it is escaped: a comment holds few of them. */
const MAX_CLAUSE = 500;

type Judged = Pick<Report, 'verdict' | 'gate'>;

/** Why the gate is not met, a line for each wish, to stand in a block quote; empty where one sentence says it all. */
export function gateReasons({ verdict, gate }: Judged, sanitizer: MarkdownSanitizer): readonly string[] {
  const words = gate?.words ?? [];
  if (verdict.reason !== 'gate_not_met' || words.length < 2) return [];
  return [
    'The gate is not met:',
    '',
    ...words.map((clause) => `- It ${sanitizer.prose(clause, MAX_CLAUSE)}.`),
  ];
}

/** What the gate wanted, as one paragraph, where the verdict's own sentence does not say it; empty without a gate. */
export function gateParagraph({ verdict, gate }: Judged, sanitizer: MarkdownSanitizer): string {
  const words = gate?.words ?? [];
  if (verdict.reason === 'gate_not_met' || words.length === 0) return '';
  return `${words.map((clause) => `The gate ${sanitizer.prose(clause, MAX_CLAUSE)}.`).join(' ')}\n\n`;
}
