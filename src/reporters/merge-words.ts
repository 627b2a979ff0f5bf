/** What a merge found in words that every reporter uses: how the legs stand, and which come first. */

import type { Ballot, Merged, MergedLeg, MergedVote } from '../merge/types.ts';
import { counted } from '../text/messages.ts';
import type { Report } from './report-types.ts';

/** A ballot's mark, seen from afar. */
export const BALLOT_MARKS: Readonly<Record<Ballot, string>> = { pass: '✅', fail: '❌', abstain: '⬜' };

/** What a finding is that decided nothing, for a person who sees it beside a green verdict. */
export const OUTVOTED = 'Outvoted: only failing runs have the finding, and the vote passes all the same.';

/** How many different reasons of one leg are told. */
const MAX_REASONS = 2;

/** Whether a report is a merge's, which no agent ran for: also where it failed before it could count. */
export function isMerge({ merged }: Pick<Report, 'merged'>): boolean {
  return merged !== undefined;
}

/** The merge whose tally is the verdict; null where something else ended it, and for the run of an agent. */
export function countedMerge({ merged, verdict }: Pick<Report, 'merged' | 'verdict'>): Merged | null {
  const counts = ['accepted', 'gate_not_met', 'undecided'].includes(verdict.reason);
  return counts ? (merged ?? null) : null;
}

/** How the legs stand, in words of ours: `7 of 9 legs pass, 1 fails, 1 is missing`. */
export function tallyWords({ tally, legs }: Pick<Merged, 'tally' | 'legs'>): string {
  const { pass, fail, abstain, expected } = tally;
  const missing = legs.filter(isMissing).length;
  const undecided = abstain - missing;
  const are = (count: number) => (count === 1 ? 'is' : 'are');
  return [
    `${pass} of ${counted(expected, 'leg')} ${pass === 1 ? 'passes' : 'pass'}`,
    ...(fail === 0 ? [] : [`${fail} ${fail === 1 ? 'fails' : 'fail'}`]),
    ...(missing === 0 ? [] : [`${missing} ${are(missing)} missing`]),
    ...(undecided === 0 ? [] : [`${undecided} ${are(undecided)} undecided`]),
  ].join(', ');
}

/** Whether nothing at all came of a leg. */
function isMissing({ ballot, votes }: MergedLeg): boolean {
  return ballot === 'abstain' && votes.every(({ conclusion }) => conclusion === 'missing');
}

/** What a leg says, as one word. */
export function legWord(leg: MergedLeg): 'passes' | 'fails' | 'missing' | 'undecided' {
  if (leg.ballot === 'abstain') return isMissing(leg) ? 'missing' : 'undecided';
  return leg.ballot === 'pass' ? 'passes' : 'fails';
}

/** The legs with those first that hold the verdict up: failing before undecided ones, but where it is undecided. */
export function gravestLegs({ ballot, legs }: Pick<Merged, 'ballot' | 'legs'>): readonly MergedLeg[] {
  const order: readonly Ballot[] = ballot === 'abstain' ? ['abstain', 'fail'] : ['fail', 'abstain'];
  return [...order, 'pass' as const].flatMap((each) => legs.filter((leg) => leg.ballot === each));
}

/** Why a leg does not pass: the reasons of the votes that say what it says, each once with their names; hostile text. */
export function legReasons({ ballot, votes }: MergedLeg): readonly string[] {
  if (ballot === 'pass') return [];
  const voters = new Map<string, string[]>();
  for (const { ballot: said, vote, why } of votes) {
    if (said === ballot && why !== null) voters.set(why, [...(voters.get(why) ?? []), vote ?? '']);
  }
  const reasons = [...voters].map(([why, names]) => {
    if (names.length === votes.length) return why;
    if (names.includes('')) return `${names.length} of ${votes.length} votes: ${why}`;
    return `${names.length === 1 ? 'vote' : 'votes'} ${names.join(', ')}: ${why}`;
  });
  return reasons.slice(0, MAX_REASONS);
}

/** The votes that were cast. */
function castVotes({ legs }: Pick<Merged, 'legs'>): readonly MergedVote[] {
  return legs.flatMap(({ votes }) => votes.filter(({ conclusion }) => conclusion !== 'missing'));
}

/** What was merged: `27 runs, 3 of them reused`. */
export function runWords(merged: Pick<Merged, 'legs'>): string {
  const cast = castVotes(merged);
  const reused = cast.filter((vote) => vote.reused).length;
  return `${counted(cast.length, 'run')}${reused === 0 ? '' : `, ${reused} of them reused`}`;
}
