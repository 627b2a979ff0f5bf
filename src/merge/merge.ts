/** Many legs, one verdict: the votes that were read → what they come to under the rules. The front door of this folder. */
import { InputError } from '../errors.ts';
import { addUsage, NO_USAGE, totalCost } from '../text/usage.ts';
import type { Subject } from '../types.ts';
import { type Cast, quoted } from './cast.ts';
import { type Found, mergeFindings } from './findings.ts';
import { byName, type Expected, type Leg, legsOf } from './legs.ts';
import { decide, type Rule } from './rules.ts';
import type { Ballot, Merged, MergedLeg, MergedVote } from './types.ts';
import { summaryOf } from './words.ts';

export { type Cast, castOf, type LegGate, quoted } from './cast.ts';
export { payloadOf } from './payload.ts';
export { undecidedText, wantsOf } from './words.ts';

/** What a merge is told. */
export interface MergeOptions {
  readonly expect: Expected;
  readonly rule: Rule;
  /** The rule within a leg and how many votes it has; null where each leg has one. */
  readonly votes: { readonly rule: Rule; readonly count: number } | null;
  /** Both as typed, for people. */
  readonly ruleText: string;
  readonly votesText: string | null;
  /** Of legs and votes by name, in whole units; what is not named weighs `unit`. */
  readonly weights: ReadonlyMap<string, number>;
  readonly unit: number;
  readonly subject: Subject | null;
  readonly anyCommit: boolean;
  readonly workspace: string | null;
  /** The page of a run; null where there is none. */
  readonly page: (subject: Subject | null) => string | null;
  /** Files that hold no envelope that counts. */
  readonly refused: Merged['refused'];
}

/**
 * Merges the votes. Their order does not matter.
 * @throws InputError where they are not the votes of this run's legs, each once.
 */
export function merge(casts: readonly Cast[], options: MergeOptions): Merged {
  const legs = legsOf(casts, { ...options, votes: options.votes?.count ?? null });
  const known = votesOf(legs);
  requireOneMeaning(legs, known, options);
  const merged = withMissing(legs, options).map((leg) => mergedLeg(leg, known, options));
  const ballot = decide(
    options.rule,
    merged.map((leg) => ({ ballot: leg.ballot, weight: Math.round(leg.weight * options.unit) })),
  );
  const tally = { ...tallyOf(merged), expected: merged.length };
  // What a replaced attempt took is not told: it was told where it ran.
  const counted = legs.flatMap((leg) => leg.casts);
  const { findings, leftOut } = mergeFindings(foundIn(legs, ballot, merged), options.workspace);
  return {
    ballot,
    rule: options.ruleText,
    votes: options.votesText,
    tally,
    legs: merged,
    findings,
    findingsLeftOut: leftOut,
    summary: summaryOf(ballot, { tally, legs: merged }, options.ruleText),
    turns: sum(counted, ({ turns }) => turns),
    rejections: sum(counted, ({ rejections }) => rejections),
    usage: counted.map(({ usage }) => usage).reduce(addUsage, NO_USAGE),
    costUsd: totalCost(counted.map(({ costUsd }) => costUsd)),
    models: [...new Set(counted.map(({ model }) => model))].filter((model) => model !== '').toSorted(byName),
    refused: options.refused,
  };
}

/** @throws InputError for a weight that would count for a leg and for a vote of the same name. */
function requireOneMeaning(
  legs: readonly Leg[],
  voteNames: readonly string[],
  { expect, rule, votes, weights }: MergeOptions,
): void {
  if (rule.kind !== 'weighted' || votes?.rule.kind !== 'weighted') return;
  const legNames = [...legs.map(({ name }) => name), ...(expect.kind === 'legs' ? expect.names : [])];
  const name = [...weights.keys()].find((each) => legNames.includes(each) && voteNames.includes(each));
  if (name === undefined) return;
  throw new InputError(
    'weights',
    `weights names ${quoted(name)}, which is a leg and a vote, and both rules are weighted: it would count for both. Give the votes other names, for example vote: v\${{ matrix.vote }}.`,
  );
}

/** A run that fails where its leg passes, or all together do, was outvoted, and so is what it alone found. */
function foundIn(legs: readonly Leg[], ballot: Ballot, merged: readonly MergedLeg[]): readonly Found[] {
  const passing = new Set(
    merged.filter((leg) => ballot === 'pass' || leg.ballot === 'pass').map(({ leg }) => leg),
  );
  return legs.flatMap(({ name, casts }) =>
    casts.map((cast) => ({
      leg: name,
      run: cast.vote ?? '',
      outvoted: cast.ballot === 'fail' && passing.has(name),
      findings: cast.findings,
    })),
  );
}

interface ExpectedLeg {
  readonly name: string | null;
  readonly casts: readonly Cast[];
}

/** The legs that are there and those that are missing, by name; the last are those of which no name is known. */
function withMissing(legs: readonly Leg[], { expect, votes }: MergeOptions): readonly ExpectedLeg[] {
  if (expect.kind === 'legs') {
    return expect.names
      .toSorted(byName)
      .map((name) => legs.find((leg) => leg.name === name) ?? { name, casts: [] });
  }
  const missing = expect.count / (votes?.count ?? 1) - legs.length;
  return [...legs, ...Array.from({ length: missing }, () => ({ name: null, casts: [] }))];
}

function mergedLeg({ name, casts }: ExpectedLeg, known: readonly string[], options: MergeOptions): MergedLeg {
  const { votes, weights, unit, page } = options;
  const weigh = (key: string | null) => (key === null ? unit : (weights.get(key) ?? unit));
  const there: readonly MergedVote[] = casts.map((cast) => votedBy(cast, page));
  const missing = missingVotes({ name, casts }, known, options);
  const all = [...there, ...missing.map((vote) => absent(vote, options.refused.length > 0))];
  const ballots = all.map(({ ballot, vote }) => ({ ballot, weight: weigh(vote) }));
  return {
    leg: name,
    ballot: decide(votes?.rule ?? { kind: 'all' }, ballots),
    weight: options.rule.kind === 'weighted' ? weigh(name) / unit : 1,
    votes: all,
  };
}

/**
 * The votes that a leg lacks, by name where it is known: from the weights, or because other legs cast it.
 * @throws InputError where more have a weight than the leg lacks: one of the names is wrong, and so would the sum be.
 */
function missingVotes(
  { name, casts }: ExpectedLeg,
  known: readonly string[],
  options: MergeOptions,
): readonly (string | null)[] {
  const missing = (options.votes?.count ?? 1) - casts.length;
  const cast = casts.map(({ vote }) => vote);
  const weighed = namedVotes(options).filter((vote) => !cast.includes(vote));
  if (weighed.length > missing) {
    throw new InputError(
      'weights',
      `weights names the vote ${weighed.map(quoted).join(', ')}, and leg ${quoted(name ?? '')} has the votes ${cast.map((vote) => quoted(vote ?? '')).join(', ')}. Correct weights, or the votes of the legs.`,
    );
  }
  const others = known.filter((vote) => !cast.includes(vote) && !weighed.includes(vote));
  const named = [...weighed, ...(weighed.length + others.length <= missing ? others : [])].toSorted(byName);
  return Array.from({ length: missing }, (_, at) => named[at] ?? null);
}

/** The names under which any leg casts its votes. */
function votesOf(legs: readonly Leg[]): readonly string[] {
  const names = legs.flatMap(({ casts }) => casts.map(({ vote }) => vote));
  return [...new Set(names)].filter((vote) => vote !== null);
}

/** Under a weighted rule for votes, the names with a weight that are no legs'. */
function namedVotes({ expect, rule, votes, weights }: MergeOptions): readonly string[] {
  if (votes?.rule.kind !== 'weighted') return [];
  const legs = rule.kind === 'weighted' && expect.kind === 'legs' ? expect.names : [];
  return [...weights.keys()].filter((name) => !legs.includes(name)).toSorted(byName);
}

function votedBy(cast: Cast, page: MergeOptions['page']): MergedVote {
  const { vote, ballot, why, conclusion, reason, turns, usage, costUsd, model, reused, subject } = cast;
  const { evidence = null } = cast;
  const attempt = subject?.run_attempt ?? null;
  return {
    ...{ vote, ballot, why, conclusion, reason, turns, usage, costUsd, model, reused },
    evidence,
    attempt,
    url: page(subject),
  };
}

function absent(vote: string | null, refused: boolean): MergedVote {
  return {
    vote,
    ballot: 'abstain',
    conclusion: 'missing',
    reason: 'missing',
    why: refused ? 'No envelope that counts is there.' : 'No envelope of it is there.',
    turns: 0,
    usage: NO_USAGE,
    costUsd: 0,
    model: '',
    reused: false,
    evidence: null,
    attempt: null,
    url: null,
  };
}

function tallyOf(legs: readonly MergedLeg[]) {
  const count = (ballot: Ballot) => legs.filter((leg) => leg.ballot === ballot).length;
  return { pass: count('pass'), fail: count('fail'), abstain: count('abstain') };
}

function sum(casts: readonly Cast[], value: (cast: Cast) => number): number {
  return casts.reduce((total, cast) => total + value(cast), 0);
}
