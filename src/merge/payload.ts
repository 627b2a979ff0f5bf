/** A merge as JSON: the tally in its envelope, and the payload that it publishes. */
import { usageJson } from '../reporters/envelope.ts';
import { shellSafeJson } from '../reporters/inert-json.ts';
import { GITHUB } from '../text/limits.ts';
import { totalCost } from '../text/usage.ts';
import type { Json, JsonObject } from '../types.ts';
import type { Merged, MergedFinding, MergedLeg, MergedVote, Outcome } from './types.ts';

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
    evidence: evidence && { context: evidence.context, tool_calls: evidence.toolCalls },
    attempt: vote.attempt,
    url: vote.url,
  };
}
