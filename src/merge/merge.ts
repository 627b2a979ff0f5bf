/** Merges the votes of many legs into one verdict under the rules, and writes it as JSON. */
import { InputError } from '../errors.ts';
import { usageJson } from '../reporters/envelope.ts';
import { coverageCountsJson } from '../text/coverage.ts';
import { GITHUB } from '../text/limits.ts';
import { shellSafeJson } from '../text/sanitize.ts';
import { addUsage, NO_USAGE, totalCost } from '../text/usage.ts';
import type { Json, JsonObject, Subject } from '../types.ts';
import { type MergeConfig, type Rule, WEIGHT_UNIT } from './config.ts';
import { mergeFindings, type RunFindings } from './findings.ts';
import { byName, groupLegs, type Leg, type LegsOptions, quoteName, type Vote } from './legs.ts';
import type { Merged, MergedFinding, MergedLeg, MergedVote, Outcome } from './types.ts';
import { summarize } from './words.ts';

export interface MergeOptions
  extends LegsOptions,
    Pick<MergeConfig, 'rule' | 'ruleText' | 'votesText' | 'weights'> {
  readonly workspace: string | null;
  /** Returns the URL of a run; null if there is none. */
  readonly page: (subject: Subject | null) => string | null;
  /** Files that do not contain a valid envelope. */
  readonly refused: Merged['refused'];
}

/**
 * Merges the votes. Their order does not matter.
 * @throws InputError if they are not the votes of this run's legs, each once.
 */
export function merge(votes: readonly Vote[], options: MergeOptions): Merged {
  const present = groupLegs(votes, options);
  const voteNames = [...new Set(present.flatMap((leg) => leg.votes.map(({ vote }) => vote)))].filter(
    (name) => name !== null,
  );
  requireOneMeaning(present, voteNames, options);
  const legs = addMissing(present, options).map((leg) => mergeLeg(leg, voteNames, options));
  const outcome = decide(
    options.rule,
    legs.map((leg) => ({ outcome: leg.outcome, weight: Math.round(leg.weight * WEIGHT_UNIT) })),
  );
  const count = (wanted: Outcome) => legs.filter((leg) => leg.outcome === wanted).length;
  const tally = {
    pass: count('pass'),
    fail: count('fail'),
    abstain: count('abstain'),
    expected: legs.length,
  };
  // The cost of replaced attempts is not included: it was reported where they ran.
  const counted = present.flatMap((leg) => leg.votes);
  const sum = (value: (vote: Vote) => number) => counted.reduce((total, vote) => total + value(vote), 0);
  const { findings, leftOut } = mergeFindings(listFindings(present, outcome, legs), options.workspace);
  return {
    outcome,
    rule: options.ruleText,
    votes: options.votesText,
    tally,
    legs,
    findings,
    findingsLeftOut: leftOut,
    summary: summarize(outcome, { tally, legs }, options.ruleText),
    turns: sum(({ turns }) => turns),
    rejections: sum(({ rejections }) => rejections),
    usage: counted.map(({ usage }) => usage).reduce(addUsage, NO_USAGE),
    costUsd: totalCost(counted.map(({ costUsd }) => costUsd)),
    models: [...new Set(counted.map(({ model }) => model))].filter((model) => model !== '').toSorted(byName),
    refused: options.refused,
  };
}

/** An outcome and its weight: an integer from 0, used only by weighted rules. */
export interface Weighed {
  readonly outcome: Outcome;
  readonly weight: number;
}

/**
 * Decides the outcome of votes or legs under a rule. Abstentions are counted once as passing and once as failing: if
 * both give the same result the rule decides, otherwise it abstains. Every rule is monotone (one more pass never
 * harms), so no other combination needs to be tried.
 * @param all all expected votes or legs, with missing ones as abstaining; at least one.
 */
export function decide(rule: Rule, all: readonly Weighed[]): Outcome {
  const atBest = passes(rule, all, ({ outcome }) => outcome !== 'fail');
  const atWorst = passes(rule, all, ({ outcome }) => outcome === 'pass');
  if (atBest !== atWorst) return 'abstain';
  return atBest ? 'pass' : 'fail';
}

function passes(rule: Rule, all: readonly Weighed[], hasPassed: (each: Weighed) => boolean): boolean {
  const passing = all.filter(hasPassed);
  switch (rule.kind) {
    case 'all':
      return passing.length === all.length;
    case 'any':
      return passing.length > 0;
    case 'majority':
      return passing.length * 2 > all.length;
    case 'weighted':
      return passing.reduce((sum, { weight }) => sum + weight, 0) > rule.threshold;
  }
}

/** @throws InputError for a weight that would apply to both a leg and a vote of the same name. */
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
    `weights names ${quoteName(name)}, which is a leg and a vote, and both rules are weighted: it would count for both. Give the votes other names, for example vote: v\${{ matrix.vote }}.`,
  );
}

/**
 * A run that fails although its leg or the merge passes was outvoted, and so are the findings that it alone reported.
 */
function listFindings(
  present: readonly Leg[],
  outcome: Outcome,
  legs: readonly MergedLeg[],
): readonly RunFindings[] {
  const passing = legs.filter((leg) => outcome === 'pass' || leg.outcome === 'pass').map(({ leg }) => leg);
  return present.flatMap(({ name, votes }) =>
    votes.map((vote) => ({
      leg: name,
      run: vote.vote ?? '',
      outvoted: vote.outcome === 'fail' && passing.includes(name),
      findings: vote.findings,
      leftOut: vote.findingsLeftOut,
    })),
  );
}

/** A leg, present or missing; `name` is null for a missing leg if only the number of envelopes is known. */
interface ExpectedLeg extends Pick<Leg, 'votes'> {
  readonly name: string | null;
}

/** Returns present and missing legs by name, with those of unknown name last. */
function addMissing(legs: readonly Leg[], { expect, votes }: MergeOptions): readonly ExpectedLeg[] {
  if (expect.kind === 'legs') {
    return expect.names
      .toSorted(byName)
      .map((name) => legs.find((leg) => leg.name === name) ?? { name, votes: [] });
  }
  const missing = expect.count / (votes?.count ?? 1) - legs.length;
  return [...legs, ...Array.from({ length: missing }, () => ({ name: null, votes: [] }))];
}

function mergeLeg(leg: ExpectedLeg, voteNames: readonly string[], options: MergeOptions): MergedLeg {
  const weigh = (name: string | null) =>
    name === null ? WEIGHT_UNIT : (options.weights.get(name) ?? WEIGHT_UNIT);
  const why = `No envelope ${options.refused.length > 0 ? 'that counts' : 'of it'} is there.`;
  const votes: readonly MergedVote[] = [
    ...leg.votes.map((vote) => toMergedVote(vote, options.page)),
    ...nameMissing(leg, voteNames, options).map((vote) => ({ ...MISSING, vote, why })),
  ];
  const weighed = votes.map(({ outcome, vote }) => ({ outcome, weight: weigh(vote) }));
  return {
    leg: leg.name,
    outcome: decide(options.votes?.rule ?? { kind: 'all' }, weighed),
    weight: options.rule.kind === 'weighted' ? weigh(leg.name) / WEIGHT_UNIT : 1,
    votes,
  };
}

/**
 * Returns the missing votes of a leg, by name if known from the weights or from other legs.
 * @throws InputError if more votes have a weight than the leg is missing: one of the names is wrong, and the sum would
 * be too.
 */
function nameMissing(
  { name, votes }: ExpectedLeg,
  voteNames: readonly string[],
  options: MergeOptions,
): readonly (string | null)[] {
  const missing = (options.votes?.count ?? 1) - votes.length;
  const present = votes.map(({ vote }) => vote);
  const weighed = listWeighedVotes(options).filter((vote) => !present.includes(vote));
  if (weighed.length > missing) {
    throw new InputError(
      'weights',
      `weights names the vote ${weighed.map(quoteName).join(', ')}, and leg ${quoteName(name ?? '')} has the votes ${present.map((vote) => quoteName(vote ?? '')).join(', ')}. Correct weights, or the votes of the legs.`,
    );
  }
  const others = voteNames.filter((vote) => !present.includes(vote) && !weighed.includes(vote));
  const names = [...weighed, ...(weighed.length + others.length <= missing ? others : [])].toSorted(byName);
  return Array.from({ length: missing }, (_, at) => names[at] ?? null);
}

/** Returns, under a weighted rule for votes, the names in `weights` that are not legs. */
function listWeighedVotes({ expect, rule, votes, weights }: MergeOptions): readonly string[] {
  if (votes?.rule.kind !== 'weighted') return [];
  const legs = rule.kind === 'weighted' && expect.kind === 'legs' ? expect.names : [];
  return [...weights.keys()].filter((name) => !legs.includes(name)).toSorted(byName);
}

function toMergedVote({ subject, ...vote }: Vote, page: MergeOptions['page']): MergedVote {
  const { outcome, why, conclusion, reason, turns, usage, costUsd, model, reused, evidence = null } = vote;
  return {
    ...{ vote: vote.vote, outcome, why, conclusion, reason, turns, usage, costUsd, model, reused, evidence },
    attempt: subject?.run_attempt ?? null,
    url: page(subject),
  };
}

const MISSING: Omit<MergedVote, 'vote' | 'why'> = {
  outcome: 'abstain',
  conclusion: 'missing',
  reason: 'missing',
  turns: 0,
  usage: NO_USAGE,
  costUsd: 0,
  model: '',
  reused: false,
  evidence: null,
  attempt: null,
  url: null,
};

type Mask = (text: string) => string;

/** Minimum number of bytes available to the findings, if they need them. */
const MIN_FINDINGS_BYTES = GITHUB.output / 4;

/**
 * Builds the payload of a merge that reached a verdict. It fits into a step output: it contains as many findings as fit
 * beside the legs, most severe first, and the number of the others. If hundreds of legs leave the findings less than a
 * quarter of the size, the lists of votes are empty. Nothing is masked: a secret in the payload must be detected, so
 * that nothing is published.
 */
export function buildPayload(merged: Merged): JsonObject {
  const counted = mergedJson(merged, (text) => text);
  const findings = merged.findings.map(findingJson);
  const sizes = findings.map((finding) => countBytes(finding) + ','.length);
  const build = (legs: Json, shown: number): JsonObject => ({
    passed: merged.outcome === 'pass',
    summary: merged.summary,
    ...counted,
    legs,
    findings: findings.slice(0, shown),
    findings_left_out: merged.findingsLeftOut + findings.length - shown,
    total: {
      turns: merged.turns,
      input_tokens: merged.usage.inputTokens,
      output_tokens: merged.usage.outputTokens,
      cost_usd: merged.costUsd,
    },
  });
  const wanted = sizes.reduce((sum, size) => sum + size, 0);
  const mostOfLegs = GITHUB.output - Math.min(MIN_FINDINGS_BYTES, wanted);
  const isLong = countBytes(build(counted.legs, 0)) > mostOfLegs;
  const legs = isLong ? counted.legs.map((leg) => ({ ...leg, votes: [] })) : counted.legs;
  let room = GITHUB.output - countBytes(build(legs, 0));
  const over = sizes.findIndex((size) => {
    room -= size;
    return room < 0;
  });
  return build(legs, over === -1 ? sizes.length : over);
}

/** The size of a value in a step output. */
function countBytes(value: Json): number {
  return Buffer.byteLength(shellSafeJson(value));
}

/** Absent properties are omitted, and `outvoted` is present only if true. */
function findingJson(finding: MergedFinding): JsonObject {
  const { severity, path, line, endLine, rule, title, message, legs, votes, outvoted } = finding;
  return {
    severity,
    ...(path === null ? {} : { path }),
    ...(line === null ? {} : { line }),
    ...(endLine === null ? {} : { end_line: endLine }),
    ...(rule === null ? {} : { rule }),
    ...(title === null ? {} : { title }),
    message,
    legs,
    votes,
    ...(outvoted ? { outvoted } : {}),
  };
}

/** Returns the rules, tally and legs of a merge with each vote; `mask` is applied to text written by other jobs. */
export function mergedJson(
  merged: Merged,
  mask: Mask,
): JsonObject & { readonly legs: readonly JsonObject[] } {
  return {
    rule: merged.rule,
    votes: merged.votes,
    tally: { ...merged.tally },
    legs: merged.legs.map((leg) => legJson(leg, mask)),
  };
}

/** A leg with the conclusion and reason of its vote if it has only one, otherwise those of the rule. */
function legJson({ leg, outcome, weight, votes }: MergedLeg, mask: Mask): JsonObject {
  const [only] = votes;
  const isMissing = votes.every(({ conclusion }) => conclusion === 'missing');
  const { conclusion, reason } = (votes.length === 1 || isMissing ? only : undefined) ?? WORDS[outcome];
  return {
    leg: leg === null ? null : mask(leg),
    passed: PASSED[outcome],
    conclusion,
    reason,
    weight,
    num_turns: votes.reduce((sum, { turns }) => sum + turns, 0),
    total_cost_usd: totalCost(votes.map(({ costUsd }) => costUsd)),
    url: votes.find(({ url }) => url !== null)?.url ?? null,
    votes: votes.map((vote) => voteJson(vote, mask)),
  };
}

const PASSED: Readonly<Record<Outcome, boolean | null>> = { pass: true, fail: false, abstain: null };
const WORDS = {
  pass: { conclusion: 'success', reason: 'accepted' },
  fail: { conclusion: 'failure', reason: 'gate_not_met' },
  abstain: { conclusion: 'inconclusive', reason: 'undecided' },
} as const;

function voteJson(vote: MergedVote, mask: Mask): JsonObject {
  const { evidence = null } = vote;
  return {
    vote: vote.vote === null ? null : mask(vote.vote),
    passed: PASSED[vote.outcome],
    conclusion: vote.conclusion,
    reason: vote.reason,
    why: vote.why === null ? null : mask(vote.why),
    num_turns: vote.turns,
    usage: usageJson(vote.usage),
    total_cost_usd: vote.costUsd,
    model: mask(vote.model),
    reused: vote.reused,
    evidence: evidence && {
      context: evidence.context,
      tool_calls: evidence.toolCalls,
      ...(evidence.coverage === undefined ? {} : { coverage: coverageCountsJson(evidence.coverage) }),
    },
    attempt: vote.attempt,
    url: vote.url,
  };
}
