/** What a merge says in sentences. Only `undecidedText` has words of the legs in it, which are hostile. */
import { tallyWords } from '../reporters/merge-words.ts';
import type { Ballot, Merged, MergedLeg, Tally } from '../types.ts';
import { quoted } from './cast.ts';
import type { Rule } from './rules.ts';

/** How many legs say what, and what the rule makes of it. */
export function summaryOf(ballot: Ballot, counted: Pick<Merged, 'tally' | 'legs'>, rule: string): string {
  return `${tallyWords(counted)} (rule: ${rule}): ${MEANINGS[ballot]}.`;
}

const MEANINGS: Readonly<Record<Ballot, string>> = {
  pass: 'passed',
  fail: 'not passed',
  abstain: 'no verdict',
};

/** What a rule asks for, reading on from "the gate". */
export function wantsOf({ kind }: Rule, tally: Tally, text: string): string {
  const wanted = {
    all: 'every leg to pass',
    any: 'one leg at least to pass',
    majority: 'more than half of the legs to pass',
    weighted: 'legs to pass that outweigh the threshold',
  } as const;
  const { pass, fail, abstain, expected } = tally;
  const open = abstain === 0 ? '' : `; the ${abstain} undecided cannot change it`;
  return `wants ${wanted[kind]} (rule: ${text}), and ${pass} of ${expected} ${pass === 1 ? 'passes' : 'pass'}, ${fail} ${fail === 1 ? 'fails' : 'fail'}${open}`;
}

/** The most legs that an undecided merge names. */
const MAX_NAMED = 20;

/** Why a merge is undecided, and what to do. */
export function undecidedText(summary: string, legs: readonly MergedLeg[]): string {
  const open = legs.filter(({ ballot }) => ballot === 'abstain');
  const known = open.filter(({ leg }) => leg !== null);
  const unknown = open.length - known.length;
  const named = [
    ...known.slice(0, MAX_NAMED).map(openWords),
    ...(known.length > MAX_NAMED ? [`${known.length - MAX_NAMED} more`] : []),
    ...(unknown === 0 ? [] : [`${unknown} of unknown name`]),
  ];
  return `${summary} What is open could change it: ${named.join(', ')}. "Re-run failed jobs" asks only those again, and merges them with the rest.`;
}

function openWords({ leg, votes }: MergedLeg): string {
  const reasons = votes
    .filter(({ ballot }) => ballot === 'abstain')
    .map(({ vote, reason }) => (vote === null ? reason : `${quoted(vote)} ${reason}`));
  return `${quoted(leg ?? '')} (${reasons.slice(0, 5).join(', ')}${reasons.length > 5 ? ' and more' : ''})`;
}
