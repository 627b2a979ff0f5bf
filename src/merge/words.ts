/** A merge in words. Names of legs and reasons of votes are hostile. */
import type { Weakness } from '../reporters/verdict-text.ts';
import { LISTED } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Merged, MergedLeg, MergedVote, Outcome } from './types.ts';
import { quoteName } from './vote.ts';

const MEANINGS: Readonly<Record<Outcome, string>> = {
  pass: 'passed',
  fail: 'not passed',
  abstain: 'no verdict',
};

type LegWord = 'passes' | 'fails' | 'missing' | 'undecided';

export function legWord({ outcome, votes }: MergedLeg): LegWord {
  if (outcome !== 'abstain') return outcome === 'pass' ? 'passes' : 'fails';
  return votes.every(({ conclusion }) => conclusion === 'missing') ? 'missing' : 'undecided';
}

/** Returns the number of legs per outcome as trusted text: `7 of 9 legs pass, 1 fails, 1 is missing`. */
export function tallyWords({ tally: { pass, fail, expected }, legs }: Merged): string {
  const count = (word: LegWord) => legs.filter((leg) => legWord(leg) === word).length;
  const clause = (number: number, one: string, many: string) =>
    number === 0 ? [] : [`${number} ${number === 1 ? one : many}`];
  return [
    `${pass} of ${counted(expected, 'leg')} ${pass === 1 ? 'passes' : 'pass'}`,
    ...clause(fail, 'fails', 'fail'),
    ...clause(count('missing'), 'is missing', 'are missing'),
    ...clause(count('undecided'), 'is undecided', 'are undecided'),
  ].join(', ');
}

export function summarize(merged: Merged): string {
  return `${tallyWords(merged)}: ${MEANINGS[merged.outcome]}.`;
}

/** Describes what is required, continuing a sentence that starts with "the gate". */
export function describeGate({ tally, legs }: Merged): string {
  const failing = legs.filter(({ outcome }) => outcome === 'fail').map(({ leg }) => quoteName(leg));
  const open = tally.abstain === 0 ? '' : '; what is open cannot change it';
  return `wants every leg to pass, and ${tally.fail} of ${counted(tally.expected, 'leg')} ${tally.fail === 1 ? 'fails' : 'fail'} (${listed(failing, LISTED.some)})${open}`;
}

/** Describes why a merge is undecided and what to do. */
export function describeUndecided(merged: Merged): string {
  const open = merged.legs.filter(({ outcome }) => outcome === 'abstain');
  const named = open.map(({ leg, votes }) => {
    const abstaining = votes.filter(({ outcome }) => outcome === 'abstain');
    return `${quoteName(leg)} (${[...new Set(abstaining.map(reasonOf))].join(', ')})`;
  });
  return `${summarize(merged)} What is open could change it: ${listed(named, LISTED.many)}. ${ADVICE}`;
}

/** A payload that was accepted and does not count, such as that of a replay, is not a reason to abstain. */
function reasonOf({ conclusion, reason }: MergedVote): string {
  return conclusion === 'success' || conclusion === 'failure' ? 'no judgement' : reason;
}

const ADVICE =
  '"Re-run failed jobs" asks the red ones again. If the job of an open leg is green, look at what it uploaded, what was downloaded, and the input expect; a replay, and a run without a key, never count.';

/**
 * Returns why a leg does not pass: the reasons of the votes that agree with its outcome, each once, with the votes if
 * not all votes of the leg have it.
 */
export function legReasons({ outcome, votes }: MergedLeg): readonly string[] {
  if (outcome === 'pass') return [];
  const groups = Map.groupBy(
    votes.filter((vote) => vote.outcome === outcome),
    ({ why }) => why ?? '',
  );
  return [...groups]
    .slice(0, LISTED.few)
    .map(([why, alike]) =>
      alike.length === votes.length ? why : `${alike.length} of ${counted(votes.length, 'vote')}: ${why}`,
    );
}

/** Orders the legs so that those that prevent a passing verdict come first, worst first. */
export function gravestLegs({ legs }: Merged): readonly MergedLeg[] {
  const order: readonly Outcome[] = ['fail', 'abstain', 'pass'];
  return order.flatMap((each) => legs.filter(({ outcome }) => outcome === each));
}

export function presentVotes(legs: readonly MergedLeg[]): readonly MergedVote[] {
  return legs.flatMap(({ votes }) => votes.filter(({ conclusion }) => conclusion !== 'missing'));
}

/** Returns one sentence about what merged runs rest on, if that is less than it could be. */
export function mergeWarnings({ legs }: Merged): readonly string[] {
  const isWeak = ({ weaknesses }: MergedVote) => weaknesses.length > 0;
  const weak = legs.filter(({ votes }) => votes.some(isWeak)).map(({ leg }) => leg);
  const kinds = new Set(legs.flatMap(({ votes }) => votes.flatMap(({ weaknesses }) => weaknesses)));
  const words = [...kinds].map((kind) => WEAKNESSES[kind]).join(', ');
  return weak.length === 0
    ? []
    : [`Runs of ${listed(weak, LISTED.some)} rest on less than they could: ${words}.`];
}

const WEAKNESSES: Readonly<Record<Weakness, string>> = {
  no_diff: 'no diff',
  part_of_diff: 'a part of the diff',
  no_tool_call: 'no tool call',
  unseen_files: 'not every changed file',
  partly_known: 'an amount of the change that is known only in part',
};

/** Joins the first names, and counts the others. */
export function listed(names: readonly string[], max: number): string {
  const more = names.length > max ? ` and ${names.length - max} more` : '';
  return `${names.slice(0, max).join(', ')}${more}`;
}
