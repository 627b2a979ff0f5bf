/** A merge as lines of the log: what holds the verdict up, what it took, what did not count. */

import type { Merged, MergedLeg } from '../merge/types.ts';
import { counted } from '../text/messages.ts';
import { duration, spent } from './format.ts';
import type { Log } from './log.ts';
import { gravestLegs, legReasons, legWord, runWords, tallyWords } from './merge-words.ts';
import type { Report } from './report-types.ts';

/** Legs and files that are told one by one. */
const MAX_LINES = 20;
const MAX_NAME = 80;
const MAX_REASON = 300;
const MARKS = { passes: '✓', fails: '✗', missing: '–', undecided: '?' } as const;

/** The lines, to be indented; parts of them are hostile, which the log's own `excerpt` has cleaned. */
export function mergeLines(
  report: Pick<Report, 'durationMs'>,
  merged: Merged,
  { excerpt }: Pick<Log, 'excerpt'>,
): readonly string[] {
  const grave = gravestLegs(merged).filter(({ ballot }) => ballot !== 'pass');
  const votes = merged.votes === null ? '' : `, votes ${excerpt(merged.votes, MAX_NAME)}`;
  const legLine = (leg: MergedLeg) => {
    const name = leg.leg === null ? '(no name)' : excerpt(leg.leg, MAX_NAME);
    const why = legReasons(leg).map((reason) => `: ${excerpt(reason, MAX_REASON)}`);
    return `${MARKS[legWord(leg)]} ${name} ${WORDS[legWord(leg)]}${why[0] ?? ''}`;
  };
  return [
    `${tallyWords(merged)} (rule ${excerpt(merged.rule, MAX_NAME)}${votes})`,
    ...listed(grave.map(legLine), 'more leg'),
    ...listed(
      merged.refused.map(
        ({ file, why }) => `• ${excerpt(file, MAX_REASON)} did not count: ${excerpt(why, MAX_REASON)}`,
      ),
      'more file',
    ),
    [runWords(merged), counted(merged.turns, 'turn'), spent(merged), duration(report.durationMs)].join(' · '),
  ];
}

const WORDS = { passes: 'passes', fails: 'fails', missing: 'is missing', undecided: 'is undecided' } as const;

function listed(lines: readonly string[], noun: string): readonly string[] {
  const left = lines.length - MAX_LINES;
  return left <= 0 ? lines : [...lines.slice(0, MAX_LINES), `… and ${counted(left, noun)}`];
}
