/** A merge in words. Names of legs and reasons of votes are hostile. */
import { LISTED } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import { quoteName } from './read-vote.ts';
import type { Merged, MergedLeg, MergedVote } from './types.ts';

type LegWord = 'passed' | 'failed' | 'missing' | 'undecided';

export function legWord({ outcome, votes }: MergedLeg): LegWord {
  if (outcome !== 'abstain') return outcome === 'pass' ? 'passed' : 'failed';
  return votes.every(({ conclusion }) => conclusion === 'missing') ? 'missing' : 'undecided';
}

/** Returns the number of legs per outcome as trusted text: `7 of 9 legs passed, 1 failed, 1 missing`. */
export function tallyWords({ legs }: Merged): string {
  const count = (wanted: LegWord) => legs.filter((leg) => legWord(leg) === wanted).length;
  const others = (['failed', 'missing', 'undecided'] as const).filter((word) => count(word) > 0);
  const clauses = others.map((word) => `${count(word)} ${word}`);
  return [`${count('passed')} of ${counted(legs.length, 'leg')} passed`, ...clauses].join(', ');
}

/** Describes why the gate of a merge is not met. */
export function describeGate(merged: Merged): string {
  const failing = merged.legs.filter(({ outcome }) => outcome === 'fail').map(({ leg }) => quoteName(leg));
  return `every leg must pass, and ${tallyWords(merged)}; failed: ${listed(failing, LISTED.some)}`;
}

/** Describes why a merge is undecided and what to do. */
export function describeUndecided(merged: Merged): string {
  const open = merged.legs.filter(({ outcome }) => outcome === 'abstain');
  const named = open.map(({ leg, votes }) => {
    const abstaining = votes.filter(({ outcome }) => outcome === 'abstain');
    return `${quoteName(leg)} (${[...new Set(abstaining.map(reasonOf))].join(', ')})`;
  });
  return `Legs without a verdict could change the result: ${listed(named, LISTED.many)}. ${ADVICE}`;
}

/** A payload that was accepted and does not count, such as that of a replay, is not a reason to abstain. */
function reasonOf({ conclusion, reason }: MergedVote): string {
  return conclusion === 'success' || conclusion === 'failure' ? 'no judgement' : reason;
}

const ADVICE =
  '"Re-run failed jobs" runs the red ones again. If the job of such a leg is green, look at what it uploaded, what was downloaded, and the input expect; a replay, and a run without a key, never count.';

/** Returns why a leg does not pass: the reasons of the votes that agree with its outcome, each once. */
export function legReasons({ outcome, votes }: MergedLeg): readonly string[] {
  const alike = votes.filter((vote) => vote.outcome === outcome);
  return [...new Set(alike.flatMap(({ why }) => why ?? []))].slice(0, LISTED.few);
}

/** Returns one sentence about the weaknesses of merged runs, if there are any. */
export function mergeWarnings({ legs }: Merged): readonly string[] {
  const isWeak = ({ weaknesses }: MergedVote) => weaknesses.length > 0;
  const weak = legs.filter(({ votes }) => votes.some(isWeak)).map(({ leg }) => leg);
  const kinds = new Set(legs.flatMap(({ votes }) => votes.flatMap(({ weaknesses }) => weaknesses)));
  const words = [...kinds].join(', ').replaceAll('_', ' ');
  return weak.length === 0 ? [] : [`Runs of ${listed(weak, LISTED.some)}: ${words}.`];
}

/** Joins the first names, and counts the others. */
export function listed(names: readonly string[], max: number): string {
  const more = names.length > max ? ` and ${names.length - max} more` : '';
  return `${names.slice(0, max).join(', ')}${more}`;
}
