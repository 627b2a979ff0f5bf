/** A merge in words: how the legs stand, and what the rule makes of it. Names of legs and reasons of votes are hostile. */
import { findWeaknesses, type Weakness } from '../reporters/verdict-text.ts';
import { counted } from '../text/messages.ts';
import { quoted } from './cast.ts';
import { clipped } from './clipped.ts';
import type { Rule } from './rules.ts';
import type { Ballot, Merged, MergedLeg, MergedVote, Tally } from './types.ts';

/** How many legs say what, and what the rule makes of it. */
export function summaryOf(ballot: Ballot, counted: Pick<Merged, 'tally' | 'legs'>, rule: string): string {
  return `${tallyWords(counted)} (rule: ${rule}): ${MEANINGS[ballot]}.`;
}

const MEANINGS: Readonly<Record<Ballot, string>> = {
  pass: 'passed',
  fail: 'not passed',
  abstain: 'no verdict',
};

/** What a rule asks for and what it got, reading on from "the gate"; the names of failing legs in it are hostile. */
export function wantsOf(
  { kind }: Rule,
  { tally, legs }: { readonly tally: Tally; readonly legs: readonly MergedLeg[] },
  text: string,
): string {
  const wanted = {
    all: 'every leg to pass',
    any: 'one leg at least to pass',
    majority: 'more than half of the legs to pass',
    weighted: 'legs to pass that outweigh the threshold',
  } as const;
  const { pass, fail, abstain, expected } = tally;
  const open = abstain === 0 ? '' : '; what is open cannot change it';
  return `wants ${wanted[kind]} (rule: ${text}), and ${pass} of ${expected} ${pass === 1 ? 'passes' : 'pass'}, ${fail} ${fail === 1 ? 'fails' : 'fail'}${failingNames(legs)}${open}`;
}

/** Where a failing leg is, is the first thing that whoever reads the error wants to know. */
function failingNames(legs: readonly MergedLeg[]): string {
  const failing = legs.filter(({ ballot }) => ballot === 'fail');
  if (failing.length === 0) return '';
  const names = failing.slice(0, MAX_FAILING).map(({ leg }) => quoted(leg ?? ''));
  const more = failing.length > MAX_FAILING ? ` and ${failing.length - MAX_FAILING} more` : '';
  return ` (${names.join(', ')}${more})`;
}

/** Failing legs that the sentence about the gate names. */
const MAX_FAILING = 5;
/** The most legs that an undecided merge names. */
const MAX_NAMED = 20;
const MAX_WHY = 300;

/** Why a merge is undecided, and what to do. */
export function undecidedText(
  summary: string,
  legs: readonly MergedLeg[],
  refused: Merged['refused'] = [],
): string {
  const open = legs.filter(({ ballot }) => ballot === 'abstain');
  const known = open.filter(({ leg }) => leg !== null);
  const unknown = open.length - known.length;
  const named = [
    ...known.slice(0, MAX_NAMED).map(openWords),
    ...(known.length > MAX_NAMED ? [`${known.length - MAX_NAMED} more`] : []),
    ...(unknown === 0 ? [] : [`${unknown} of unknown name`]),
  ];
  return `${summary}${refusedWords(refused)} What is open could change it: ${named.join(', ')}. ${adviceFor(open, legs)}`;
}

/** What is missing may lie among the files that did not count: where there are any, they are looked at first. */
function refusedWords(refused: Merged['refused']): string {
  const [first] = refused;
  if (first === undefined) return '';
  const files = refused.length === 1 ? '1 file' : `${refused.length} files`;
  const which = refused.length === 1 ? '' : 'the first of them ';
  // Parts of it may be names out of the file: on one line, whatever they hold.
  const why = JSON.stringify(clipped(first.why, MAX_WHY)).slice(1, -1);
  return ` ${files} did not count, ${which}${quoted(first.file)}: ${why}.`;
}

/** A leg that is red is asked again; of one that is missing nobody knows whether its job is red. */
function adviceFor(open: readonly MergedLeg[], legs: readonly MergedLeg[]): string {
  const abstaining = open.flatMap(({ votes }) => votes.filter(({ ballot }) => ballot === 'abstain'));
  const missing = abstaining.filter(({ conclusion }) => conclusion === 'missing').length;
  const green = abstaining.filter(({ conclusion }) => conclusion === 'success' || conclusion === 'skipped');
  if (green.length === abstaining.length)
    return 'Their jobs are green, so that nothing would ask them again: see why they judged nothing. A leg needs a key, and no replay.';
  const again = '"Re-run failed jobs" asks the red ones again, and merges them with the rest.';
  const votes = legs.flatMap((leg) => leg.votes).length;
  // As a rule a mistake in the workflow, which no second run mends.
  if (missing === votes)
    return `Not one envelope counts: look at what the legs uploaded, and whether verdicts is the folder into which it was downloaded. ${again}`;
  const look =
    'Where the job of a missing one is green, look at what it uploaded, what was downloaded, and the input expect.';
  return missing === 0 ? again : `${again} ${look}`;
}

/** Each reason once: with the votes that have it, where other votes of the leg say something else. */
function openWords({ leg, votes }: MergedLeg): string {
  const reasons = new Map<string, string[]>();
  const abstaining = votes.filter(({ ballot }) => ballot === 'abstain');
  for (const { vote, conclusion, reason } of abstaining) {
    const judged = conclusion === 'success' || conclusion === 'failure';
    const why = judged ? 'no judgement' : reason;
    reasons.set(why, [...(reasons.get(why) ?? []), vote === null ? '' : quoted(vote)]);
  }
  const told = [...reasons].map(([why, names]) => {
    const voters = names.length === votes.length ? [] : names.filter((name) => name !== '');
    const unnamed = names.length < votes.length && voters.length === 0;
    if (unnamed) return `${names.length} of ${votes.length} votes: ${why}`;
    const shown = `${voters.slice(0, 5).join(', ')}${voters.length > 5 ? ' and more' : ''}`;
    return shown === '' ? why : `${voters.length === 1 ? 'vote' : 'votes'} ${shown}: ${why}`;
  });
  return `${quoted(leg ?? '')} (${told.slice(0, 5).join('; ')})`;
}

/** A ballot's mark, seen from afar. */
export const BALLOT_MARKS: Readonly<Record<Ballot, string>> = { pass: '✅', fail: '❌', abstain: '⬜' };

/** How many different reasons of one leg are told. */
const MAX_REASONS = 2;

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
  const runs = castVotes({ legs }).length;
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
function isWeak({ evidence = null, ballot }: MergedVote, weakness: Weakness): boolean {
  return evidence !== null && findWeaknesses(evidence, ballot !== 'abstain').includes(weakness);
}
