/** What a merge counted, as its envelope tells it. */
import { usageJson } from '../reporters/envelope.ts';
import { totalCost } from '../text/usage.ts';
import type { JsonObject } from '../types.ts';
import type { Ballot, Merged, MergedLeg, MergedVote } from './types.ts';

/** Rules, tally and legs of a merge with each vote; the findings stand in the payload. `mask` is applied to what other jobs wrote. */
export function mergedJson(merged: Merged, mask: (text: string) => string): JsonObject {
  return {
    rule: merged.rule,
    votes: merged.votes,
    tally: { ...merged.tally },
    legs: merged.legs.map((leg) => ({
      ...legJson(leg, mask),
      votes: leg.votes.map((vote) => voteJson(vote, mask)),
    })),
  };
}

/** A leg as a whole: in the words of its vote where it has one, in those of the rule where it has several. */
function legJson({ leg, ballot, weight, votes }: MergedLeg, mask: (text: string) => string): JsonObject {
  const [only] = votes;
  const isMissing = votes.every(({ conclusion }) => conclusion === 'missing');
  const alike = votes.length === 1 || isMissing ? only : undefined;
  return {
    leg: leg === null ? null : mask(leg),
    passed: PASSED[ballot],
    conclusion: alike?.conclusion ?? WORDS[ballot].conclusion,
    reason: alike?.reason ?? WORDS[ballot].reason,
    weight,
    num_turns: votes.reduce((sum, { turns }) => sum + turns, 0),
    total_cost_usd: totalCost(votes.map(({ costUsd }) => costUsd)),
    url: votes.find(({ url }) => url !== null)?.url ?? null,
  };
}

const PASSED: Readonly<Record<Ballot, boolean | null>> = { pass: true, fail: false, abstain: null };

const WORDS = {
  pass: { conclusion: 'success', reason: 'accepted' },
  fail: { conclusion: 'failure', reason: 'gate_not_met' },
  abstain: { conclusion: 'inconclusive', reason: 'undecided' },
} as const satisfies Readonly<Record<Ballot, object>>;

function evidenceJson({ evidence = null }: MergedVote): JsonObject | null {
  return evidence === null ? null : { context: evidence.context, tool_calls: evidence.toolCalls };
}

function voteJson(vote: MergedVote, mask: (text: string) => string): JsonObject {
  return {
    vote: vote.vote === null ? null : mask(vote.vote),
    passed: PASSED[vote.ballot],
    conclusion: vote.conclusion,
    reason: vote.reason,
    why: vote.why === null ? null : mask(vote.why),
    num_turns: vote.turns,
    usage: usageJson(vote.usage),
    total_cost_usd: vote.costUsd,
    model: mask(vote.model),
    reused: vote.reused,
    evidence: evidenceJson(vote),
    attempt: vote.attempt,
    url: vote.url,
  };
}
