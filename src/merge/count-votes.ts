/** Merges the votes of many legs into one verdict, and writes it as JSON. */

import { NO_USAGE } from '../text/figures.ts';
import type { JsonObject } from '../types.ts';
import type { Rule } from './config.ts';
import { mergeFindings } from './findings.ts';
import { byName, groupLegs, type Leg, type LegsOptions } from './legs.ts';
import { MAX_FINDINGS, type Vote } from './read-vote.ts';
import type { Merged, MergedFinding, MergedLeg, MergedVote, VoteOutcome } from './types.ts';
import { tallyWords } from './words.ts';

/**
 * Merges the votes. Their order does not matter.
 * @throws InputError if they are not the votes of this run's legs, each once.
 */
export function merge(votes: readonly Vote[], options: LegsOptions): Merged {
  const present = groupLegs(votes, options);
  const legs = options.expect
    .toSorted(byName)
    .map((name) => mergeLeg(present.find((leg) => leg.name === name) ?? { name, votes: [] }, options));
  const passing = new Set(legs.filter(({ outcome }) => outcome === 'pass').map(({ leg }) => leg));
  const cast = present.flatMap((leg) => leg.votes);
  const findings = mergeFindings(cast, passing);
  const leftOut = cast.reduce((sum, vote) => sum + vote.findingsLeftOut, 0);
  const outcomes = legs.map(({ outcome }) => outcome);
  return {
    outcome: decide('all', outcomes),
    votes: options.votes === null ? null : `${options.votes.rule} of ${options.votes.count}`,
    legs,
    findings: findings.slice(0, MAX_FINDINGS),
    findingsLeftOut: leftOut + Math.max(0, findings.length - MAX_FINDINGS),
  };
}

/**
 * Decides the outcome of votes or legs under a rule. Abstentions are counted once as passing and once as failing: if
 * both give the same result the rule decides, otherwise it abstains. Every rule is monotone (one more pass never
 * harms), so no other combination needs to be tried.
 * @param all all expected votes or legs, with missing ones as abstaining; at least one.
 */
export function decide(rule: Rule, all: readonly VoteOutcome[]): VoteOutcome {
  const passing = all.filter((outcome) => outcome === 'pass').length;
  const abstaining = all.filter((outcome) => outcome === 'abstain').length;
  const atBest = passes(rule, passing + abstaining, all.length);
  const atWorst = passes(rule, passing, all.length);
  if (atBest !== atWorst) return 'abstain';
  return atBest ? 'pass' : 'fail';
}

function passes(rule: Rule, passing: number, all: number): boolean {
  switch (rule) {
    case 'all':
      return passing === all;
    case 'any':
      return passing > 0;
    case 'majority':
      return passing * 2 > all;
  }
}

function mergeLeg({ name, votes: present }: Leg, { votes: rule }: LegsOptions): MergedLeg {
  const missing = Array.from({ length: (rule?.count ?? 1) - present.length }, () => MISSING);
  const votes: readonly MergedVote[] = [...present, ...missing];
  const outcomes = votes.map(({ outcome }) => outcome);
  return { leg: name, outcome: decide(rule?.rule ?? 'all', outcomes), votes };
}

const MISSING: MergedVote = {
  vote: null,
  outcome: 'abstain',
  conclusion: 'missing',
  reason: 'missing',
  why: 'Its envelope is missing.',
  turns: 0,
  usage: NO_USAGE,
  costUsd: 0,
  model: '',
  weaknesses: [],
  attempt: null,
};

/**
 * Builds the payload of a merge that reached a verdict. Names are not masked: a secret in the payload must be found, so
 * that nothing is published.
 */
export function buildPayload(merged: Merged): JsonObject {
  return {
    passed: merged.outcome === 'pass',
    summary: `${tallyWords(merged)}.`,
    ...mergedJson(merged, (text) => text),
    findings: merged.findings.map(findingJson),
    findings_left_out: merged.findingsLeftOut,
  };
}

function findingJson({ endLine, ...finding }: MergedFinding): JsonObject {
  return { ...finding, end_line: endLine };
}

/** Returns the tally and legs of a merge with each vote; `mask` is applied to text written by other jobs. */
export function mergedJson(merged: Merged, mask: (text: string) => string): JsonObject {
  const masked = (text: string | null) => (text === null ? null : mask(text));
  const count = (wanted: VoteOutcome) => merged.legs.filter(({ outcome }) => outcome === wanted).length;
  return {
    votes: merged.votes,
    tally: {
      pass: count('pass'),
      fail: count('fail'),
      abstain: count('abstain'),
      expected: merged.legs.length,
    },
    legs: merged.legs.map(({ leg, outcome, votes }) => ({
      leg: mask(leg),
      passed: PASSED[outcome],
      votes: votes.map((vote) => ({
        vote: masked(vote.vote),
        passed: PASSED[vote.outcome],
        conclusion: vote.conclusion,
        reason: vote.reason,
        why: masked(vote.why),
        num_turns: vote.turns,
        total_cost_usd: vote.costUsd,
        model: mask(vote.model),
        attempt: vote.attempt,
      })),
    })),
  };
}

const PASSED: Readonly<Record<VoteOutcome, boolean | null>> = { pass: true, fail: false, abstain: null };
