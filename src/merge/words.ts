/**
 * Describes a merge in words: the state of the legs, and the outcome under the rule. Names of legs and reasons of votes
 * are hostile.
 */
import { findWeaknesses, type Weakness } from '../reporters/verdict-text.ts';
import { LISTED } from '../text/limits.ts';
import { counted, grouped } from '../text/messages.ts';
import type { Rule } from './config.ts';
import { quoteName } from './legs.ts';
import type { Merged, MergedLeg, MergedVote, Outcome } from './types.ts';

/** Maximum number of different reasons given per leg. */
const MAX_REASONS = 2;

/** Marks that make outcomes easy to recognize. */
export const OUTCOME_MARKS: Readonly<Record<Outcome, string>> = { pass: '✅', fail: '❌', abstain: '⬜' };

const MEANINGS: Readonly<Record<Outcome, string>> = {
  pass: 'passed',
  fail: 'not passed',
  abstain: 'no verdict',
};

export function summarize(outcome: Outcome, counts: Pick<Merged, 'tally' | 'legs'>, rule: string): string {
  return `${tallyWords(counts)} (rule: ${rule}): ${MEANINGS[outcome]}.`;
}

const WANTED: Readonly<Record<Rule['kind'], string>> = {
  all: 'every leg to pass',
  any: 'one leg at least to pass',
  majority: 'more than half of the legs to pass',
  weighted: 'legs to pass that outweigh the threshold',
};

/**
 * Describes what a rule requires and what it got, continuing a sentence that starts with "the gate"; names of failing
 * legs in it are hostile.
 */
export function describeGate(
  { kind }: Rule,
  { tally, legs }: Pick<Merged, 'tally' | 'legs'>,
  text: string,
): string {
  const { pass, fail, abstain, expected } = tally;
  const failing = legs.filter(({ outcome }) => outcome === 'fail').map(({ leg }) => quoteName(leg ?? ''));
  const names = failing.slice(0, LISTED.some).join(', ');
  const more = failing.length > LISTED.some ? ` and ${failing.length - LISTED.some} more` : '';
  const open = abstain === 0 ? '' : '; what is open cannot change it';
  return `wants ${WANTED[kind]} (rule: ${text}), and ${pass} of ${expected} ${pass === 1 ? 'passes' : 'pass'}, ${fail} ${fail === 1 ? 'fails' : 'fail'}${names === '' ? '' : ` (${names}${more})`}${open}`;
}

/** Describes why a merge is undecided and what to do. */
export function describeUndecided({
  summary,
  legs,
  refused,
}: Pick<Merged, 'summary' | 'legs' | 'refused'>): string {
  const open = legs.filter(({ outcome }) => outcome === 'abstain');
  const known = open.filter(({ leg }) => leg !== null);
  const unknown = open.length - known.length;
  const named = [
    ...known.slice(0, LISTED.many).map(openWords),
    ...(known.length > LISTED.many ? [`${known.length - LISTED.many} more`] : []),
    ...(unknown === 0 ? [] : [`${unknown} of unknown name`]),
  ];
  return `${summary}${refusedWords(refused)} What is open could change it: ${named.join(', ')}. ${adviceFor(open, legs)}`;
}

/** Describes refused files first, since missing votes may be among them. */
function refusedWords(refused: Merged['refused']): string {
  const [first] = refused;
  if (first === undefined) return '';
  const files = refused.length === 1 ? '1 file' : `${refused.length} files`;
  const which = refused.length === 1 ? '' : 'the first of them ';
  // The reason may contain names from the file, so it is quoted to keep it on one line.
  return ` ${files} did not count, ${which}${quoteName(first.file)}: ${quoteName(first.why).slice(1, -1)}.`;
}

/**
 * Advice on how to decide the merge: a failed leg can be re-run, but whether the job of a missing leg failed is
 * unknown.
 */
function adviceFor(open: readonly MergedLeg[], legs: readonly MergedLeg[]): string {
  const abstaining = open.flatMap(({ votes }) => votes.filter(({ outcome }) => outcome === 'abstain'));
  const missing = abstaining.filter(({ conclusion }) => conclusion === 'missing').length;
  if (abstaining.every(({ conclusion }) => conclusion === 'success' || conclusion === 'skipped'))
    return 'Their jobs are green, so that nothing would ask them again: see why they judged nothing. A leg needs a key, and no replay.';
  const again = '"Re-run failed jobs" asks the red ones again, and merges them with the rest.';
  // Usually a mistake in the workflow, which a re-run does not correct.
  if (missing === legs.flatMap(({ votes }) => votes).length)
    return `Not one envelope counts: look at what the legs uploaded, and whether verdicts is the folder into which it was downloaded. ${again}`;
  const look =
    'Where the job of a missing one is green, look at what it uploaded, what was downloaded, and the input expect.';
  return missing === 0 ? again : `${again} ${look}`;
}

/** Lists each reason once, with the votes that have it if other votes of the leg differ. */
function openWords({ leg, votes }: MergedLeg): string {
  const abstaining = votes.filter(({ outcome }) => outcome === 'abstain');
  const reasons = groupByReason(abstaining, ({ conclusion, reason }) =>
    conclusion === 'success' || conclusion === 'failure' ? 'no judgement' : reason,
  );
  const words = reasons.map(([reason, names]) => {
    const shown = names.slice(0, LISTED.some).map(quoteName).join(', ');
    return attribute(reason, names, votes.length, `${shown}${names.length > LISTED.some ? ' and more' : ''}`);
  });
  return `${quoteName(leg ?? '')} (${words.slice(0, LISTED.some).join('; ')})`;
}

/**
 * Returns why a leg does not pass: the reasons of the votes that agree with its outcome, each once with their names;
 * hostile text.
 */
export function legReasons({ outcome, votes }: MergedLeg): readonly string[] {
  if (outcome === 'pass') return [];
  const alike = votes.filter((vote) => vote.outcome === outcome);
  return groupByReason(alike, ({ why }) => why)
    .map(([reason, names]) => attribute(reason, names, votes.length, names.join(', ')))
    .slice(0, MAX_REASONS);
}

/** Groups votes by reason, with their names; empty for unnamed votes. */
function groupByReason(
  votes: readonly MergedVote[],
  reasonOf: (vote: MergedVote) => string | null,
): readonly (readonly [reason: string, names: readonly string[]])[] {
  return [...Map.groupBy(votes, reasonOf)].flatMap(([reason, group]) =>
    reason === null ? [] : [[reason, group.map(({ vote }) => vote ?? '')] as const],
  );
}

/** Prefixes a reason with the votes that it applies to, unless that is all votes of the leg. */
function attribute(reason: string, names: readonly string[], all: number, shown: string): string {
  if (names.length === all) return reason;
  if (names.includes('')) return `${names.length} of ${all} votes: ${reason}`;
  return `${names.length === 1 ? 'vote' : 'votes'} ${shown}: ${reason}`;
}

/** Returns the number of legs per outcome as trusted text: `7 of 9 legs pass, 1 fails, 1 is missing`. */
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

function isMissing({ outcome, votes }: MergedLeg): boolean {
  return outcome === 'abstain' && votes.every(({ conclusion }) => conclusion === 'missing');
}

export function legWord(leg: MergedLeg): 'passes' | 'fails' | 'missing' | 'undecided' {
  if (leg.outcome === 'abstain') return isMissing(leg) ? 'missing' : 'undecided';
  return leg.outcome === 'pass' ? 'passes' : 'fails';
}

/**
 * Orders the legs so that those that prevent a passing verdict come first: failing before undecided ones, or the
 * reverse if the merge is undecided.
 */
export function gravestLegs({ outcome, legs }: Pick<Merged, 'outcome' | 'legs'>): readonly MergedLeg[] {
  const order: readonly Outcome[] = outcome === 'abstain' ? ['abstain', 'fail'] : ['fail', 'abstain'];
  return [...order, 'pass' as const].flatMap((each) => legs.filter((leg) => leg.outcome === each));
}

function presentVotes({ legs }: Pick<Merged, 'legs'>): readonly MergedVote[] {
  return legs.flatMap(({ votes }) => votes.filter(({ conclusion }) => conclusion !== 'missing'));
}

/** Describes what was merged: `27 runs, 3 of them reused`. */
export function runWords(merged: Pick<Merged, 'legs'>): string {
  const present = presentVotes(merged);
  const reused = present.filter((vote) => vote.reused).length;
  return `${counted(present.length, 'run')}${reused === 0 ? '' : `, ${reused} of them reused`}`;
}

interface WeaknessWords {
  readonly ofVote: string;
  /** Follows `3 of 12 runs`. */
  readonly ofVotes: string;
  /** The same after `1 of 12 runs`, if it differs. */
  readonly ofOne?: string;
}

const VOTE_WEAKNESSES: Readonly<Record<Weakness, WeaknessWords>> = {
  no_diff: {
    ofVote: 'Judged without the diff of the change.',
    ofVotes: 'judged the change without its diff',
  },
  part_of_diff: {
    ofVote: 'Judged with a part of the diff of the change.',
    ofVotes: 'judged the change with a part of its diff',
  },
  no_tool_call: {
    ofVote: 'Accepted without a single tool call.',
    ofVotes: 'had a payload accepted without a single tool call',
  },
  unseen_files: {
    ofVote: 'Not shown every changed file.',
    ofVotes: 'were not shown every changed file',
    ofOne: 'was not shown every changed file',
  },
  partly_known: {
    ofVote: 'What it was shown of the change is known in part only.',
    ofVotes: 'were shown an amount of the change that is known in part only',
    ofOne: 'was shown an amount of the change that is known in part only',
  },
};
const WEAKNESSES: readonly Weakness[] = [
  'no_diff',
  'part_of_diff',
  'no_tool_call',
  'unseen_files',
  'partly_known',
];

/** Returns one sentence for each weakness in the evidence of votes, with their number if it does not apply to all. */
export function voteWarnings(votes: readonly MergedVote[]): readonly string[] {
  return WEAKNESSES.flatMap((weakness) => {
    const { ofVote } = VOTE_WEAKNESSES[weakness];
    const weak = votes.filter((vote) => isWeak(vote, weakness));
    if (weak.length === 0) return [];
    const [only] = weak;
    const files =
      weakness === 'unseen_files' && weak.length === 1 ? only?.evidence?.coverage?.files : undefined;
    const said =
      files === undefined
        ? ofVote
        : `Shown ${grouped(files.shown)} of ${grouped(files.required)} changed files.`;
    return [weak.length === votes.length ? said : `${weak.length} of ${votes.length} votes: ${said}`];
  });
}

/** Returns the weaknesses in the evidence of all merged runs. */
export function mergeWarnings({ legs }: Pick<Merged, 'legs'>): readonly string[] {
  const runs = presentVotes({ legs }).length;
  return WEAKNESSES.flatMap((weakness) => {
    const weak = legs.flatMap(({ leg, votes }) =>
      votes.filter((vote) => isWeak(vote, weakness)).map(() => leg ?? ''),
    );
    if (weak.length === 0) return [];
    const names = [...new Set(weak)];
    const more = names.length > LISTED.some ? ` and ${counted(names.length - LISTED.some, 'more leg')}` : '';
    const named = `${names.slice(0, LISTED.some).join(', ')}${more}`;
    const { ofVotes, ofOne = ofVotes } = VOTE_WEAKNESSES[weakness];
    return [`${weak.length} of ${counted(runs, 'run')} ${weak.length === 1 ? ofOne : ofVotes}: ${named}.`];
  });
}

/** An abstaining vote has no payload that counts. */
function isWeak({ evidence = null, outcome }: MergedVote, weakness: Weakness): boolean {
  return evidence !== null && findWeaknesses(evidence, outcome !== 'abstain').includes(weakness);
}
