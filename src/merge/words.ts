/** A merge in words: how the legs are, and what the rule makes of it. Names of legs and reasons of votes are hostile. */
import { findWeaknesses, type Weakness } from '../reporters/verdict-text.ts';
import { counted } from '../text/messages.ts';
import type { Rule } from './config.ts';
import type { Merged, MergedLeg, MergedVote, Outcome } from './types.ts';
import { quoteName } from './vote.ts';

/** Failing legs that the sentence about the gate names. */
const MAX_FAILING = 5;
/** The most legs that an undecided merge names. */
const MAX_NAMED = 20;
/** How many different reasons of one leg are given. */
const MAX_REASONS = 2;

/** An outcome's mark, seen from afar. */
export const OUTCOME_MARKS: Readonly<Record<Outcome, string>> = { pass: '✅', fail: '❌', abstain: '⬜' };

const MEANINGS: Readonly<Record<Outcome, string>> = {
  pass: 'passed',
  fail: 'not passed',
  abstain: 'no verdict',
};

/** How many legs say what, and what the rule makes of it. */
export function summarize(outcome: Outcome, counts: Pick<Merged, 'tally' | 'legs'>, rule: string): string {
  return `${tallyWords(counts)} (rule: ${rule}): ${MEANINGS[outcome]}.`;
}

const WANTED: Readonly<Record<Rule['kind'], string>> = {
  all: 'every leg to pass',
  any: 'one leg at least to pass',
  majority: 'more than half of the legs to pass',
  weighted: 'legs to pass that outweigh the threshold',
};

/** What a rule asks for and what it got, reading on from "the gate"; the names of failing legs in it are hostile. */
export function describeGate(
  { kind }: Rule,
  { tally, legs }: Pick<Merged, 'tally' | 'legs'>,
  text: string,
): string {
  const { pass, fail, abstain, expected } = tally;
  const failing = legs.filter(({ outcome }) => outcome === 'fail').map(({ leg }) => quoteName(leg ?? ''));
  const names = failing.slice(0, MAX_FAILING).join(', ');
  const more = failing.length > MAX_FAILING ? ` and ${failing.length - MAX_FAILING} more` : '';
  const open = abstain === 0 ? '' : '; what is open cannot change it';
  return `wants ${WANTED[kind]} (rule: ${text}), and ${pass} of ${expected} ${pass === 1 ? 'passes' : 'pass'}, ${fail} ${fail === 1 ? 'fails' : 'fail'}${names === '' ? '' : ` (${names}${more})`}${open}`;
}

/** Why a merge is undecided, and what to do. */
export function describeUndecided({
  summary,
  legs,
  refused,
}: Pick<Merged, 'summary' | 'legs' | 'refused'>): string {
  const open = legs.filter(({ outcome }) => outcome === 'abstain');
  const known = open.filter(({ leg }) => leg !== null);
  const unknown = open.length - known.length;
  const named = [
    ...known.slice(0, MAX_NAMED).map(openWords),
    ...(known.length > MAX_NAMED ? [`${known.length - MAX_NAMED} more`] : []),
    ...(unknown === 0 ? [] : [`${unknown} of unknown name`]),
  ];
  return `${summary}${refusedWords(refused)} What is open could change it: ${named.join(', ')}. ${adviceFor(open, legs)}`;
}

/** What is missing may be among the files that did not count: where there are any, they are looked at first. */
function refusedWords(refused: Merged['refused']): string {
  const [first] = refused;
  if (first === undefined) return '';
  const files = refused.length === 1 ? '1 file' : `${refused.length} files`;
  const which = refused.length === 1 ? '' : 'the first of them ';
  // Parts of it may be names out of the file: on one line, whatever they hold.
  return ` ${files} did not count, ${which}${quoteName(first.file)}: ${quoteName(first.why).slice(1, -1)}.`;
}

/** A leg that is red is asked again; of one that is missing nobody knows whether its job is red. */
function adviceFor(open: readonly MergedLeg[], legs: readonly MergedLeg[]): string {
  const abstaining = open.flatMap(({ votes }) => votes.filter(({ outcome }) => outcome === 'abstain'));
  const missing = abstaining.filter(({ conclusion }) => conclusion === 'missing').length;
  if (abstaining.every(({ conclusion }) => conclusion === 'success' || conclusion === 'skipped'))
    return 'Their jobs are green, so that nothing would ask them again: see why they judged nothing. A leg needs a key, and no replay.';
  const again = '"Re-run failed jobs" asks the red ones again, and merges them with the rest.';
  // As a rule a mistake in the workflow, which no second run corrects.
  if (missing === legs.flatMap(({ votes }) => votes).length)
    return `Not one envelope counts: look at what the legs uploaded, and whether verdicts is the folder into which it was downloaded. ${again}`;
  const look =
    'Where the job of a missing one is green, look at what it uploaded, what was downloaded, and the input expect.';
  return missing === 0 ? again : `${again} ${look}`;
}

/** Each reason once: with the votes that have it, where other votes of the leg say something else. */
function openWords({ leg, votes }: MergedLeg): string {
  const abstaining = votes.filter(({ outcome }) => outcome === 'abstain');
  const reasons = groupByReason(abstaining, ({ conclusion, reason }) =>
    conclusion === 'success' || conclusion === 'failure' ? 'no judgement' : reason,
  );
  const words = reasons.map(([reason, names]) => {
    const shown = names.slice(0, 5).map(quoteName).join(', ');
    return attribute(reason, names, votes.length, `${shown}${names.length > 5 ? ' and more' : ''}`);
  });
  return `${quoteName(leg ?? '')} (${words.slice(0, 5).join('; ')})`;
}

/** Why a leg does not pass: the reasons of the votes that say what it says, each once with their names; hostile text. */
export function legReasons({ outcome, votes }: MergedLeg): readonly string[] {
  if (outcome === 'pass') return [];
  const alike = votes.filter((vote) => vote.outcome === outcome);
  return groupByReason(alike, ({ why }) => why)
    .map(([reason, names]) => attribute(reason, names, votes.length, names.join(', ')))
    .slice(0, MAX_REASONS);
}

/** Each reason with the names of the votes that have it, empty for those that have none. */
function groupByReason(
  votes: readonly MergedVote[],
  reasonOf: (vote: MergedVote) => string | null,
): readonly (readonly [reason: string, names: readonly string[]])[] {
  return [...Map.groupBy(votes, reasonOf)].flatMap(([reason, group]) =>
    reason === null ? [] : [[reason, group.map(({ vote }) => vote ?? '')] as const],
  );
}

/** A reason and whose it is, where it is not that of all votes of the leg. */
function attribute(reason: string, names: readonly string[], all: number, shown: string): string {
  if (names.length === all) return reason;
  if (names.includes('')) return `${names.length} of ${all} votes: ${reason}`;
  return `${names.length === 1 ? 'vote' : 'votes'} ${shown}: ${reason}`;
}

/** How many legs say what, in words of ours: `7 of 9 legs pass, 1 fails, 1 is missing`. */
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
function isMissing({ outcome, votes }: MergedLeg): boolean {
  return outcome === 'abstain' && votes.every(({ conclusion }) => conclusion === 'missing');
}

/** What a leg says, as one word. */
export function legWord(leg: MergedLeg): 'passes' | 'fails' | 'missing' | 'undecided' {
  if (leg.outcome === 'abstain') return isMissing(leg) ? 'missing' : 'undecided';
  return leg.outcome === 'pass' ? 'passes' : 'fails';
}

/** The legs with those first that hold the verdict up: failing before undecided ones, but where it is undecided. */
export function gravestLegs({ outcome, legs }: Pick<Merged, 'outcome' | 'legs'>): readonly MergedLeg[] {
  const order: readonly Outcome[] = outcome === 'abstain' ? ['abstain', 'fail'] : ['fail', 'abstain'];
  return [...order, 'pass' as const].flatMap((each) => legs.filter((leg) => leg.outcome === each));
}

/** The votes that are there. */
function presentVotes({ legs }: Pick<Merged, 'legs'>): readonly MergedVote[] {
  return legs.flatMap(({ votes }) => votes.filter(({ conclusion }) => conclusion !== 'missing'));
}

/** What was merged: `27 runs, 3 of them reused`. */
export function runWords(merged: Pick<Merged, 'legs'>): string {
  const present = presentVotes(merged);
  const reused = present.filter((vote) => vote.reused).length;
  return `${counted(present.length, 'run')}${reused === 0 ? '' : `, ${reused} of them reused`}`;
}

const VOTE_WEAKNESSES: Readonly<Record<Weakness, { readonly ofVote: string; readonly ofVotes: string }>> = {
  no_diff: {
    ofVote: 'Judged without the diff of the pull request.',
    ofVotes: 'judged the pull request without its diff',
  },
  part_of_diff: {
    ofVote: 'Judged with a part of the diff of the pull request.',
    ofVotes: 'judged the pull request with a part of its diff',
  },
  no_tool_call: {
    ofVote: 'Accepted without a single tool call.',
    ofVotes: 'had a payload accepted without a single tool call',
  },
};
const WEAKNESSES: readonly Weakness[] = ['no_diff', 'part_of_diff', 'no_tool_call'];
/** Legs that are named one by one. */
const MAX_WEAK_LEGS = 5;

/** What is weak about the evidence of votes: each sentence once, with how many of them where that is not all. */
export function voteWarnings(votes: readonly MergedVote[]): readonly string[] {
  return WEAKNESSES.flatMap((weakness) => {
    const { ofVote } = VOTE_WEAKNESSES[weakness];
    const weak = votes.filter((vote) => isWeak(vote, weakness)).length;
    if (weak === 0) return [];
    return [weak === votes.length ? ofVote : `${weak} of ${votes.length} votes: ${ofVote}`];
  });
}

/** What is weak about the evidence of all runs that were merged. */
export function mergeWarnings({ legs }: Pick<Merged, 'legs'>): readonly string[] {
  const runs = presentVotes({ legs }).length;
  return WEAKNESSES.flatMap((weakness) => {
    const weak = legs.flatMap(({ leg, votes }) =>
      votes.filter((vote) => isWeak(vote, weakness)).map(() => leg ?? ''),
    );
    if (weak.length === 0) return [];
    const names = [...new Set(weak)];
    const more =
      names.length > MAX_WEAK_LEGS ? ` and ${counted(names.length - MAX_WEAK_LEGS, 'more leg')}` : '';
    const named = `${names.slice(0, MAX_WEAK_LEGS).join(', ')}${more}`;
    return [`${weak.length} of ${counted(runs, 'run')} ${VOTE_WEAKNESSES[weakness].ofVotes}: ${named}.`];
  });
}

/** A vote that abstains has no payload that counts. */
function isWeak({ evidence = null, outcome }: MergedVote, weakness: Weakness): boolean {
  return evidence !== null && findWeaknesses(evidence, outcome !== 'abstain').includes(weakness);
}
