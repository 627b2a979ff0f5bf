/** Sample merges for reports. Each test changes the part that it tests. */
import { buildPayload, decide } from '../../src/merge/merge.ts';
import { describeMerge } from '../../src/merge/report.ts';
import type { Merged, MergedLeg, MergedVote, VoteOutcome } from '../../src/merge/types.ts';
import { describeGate, describeUndecided } from '../../src/merge/words.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import type { Verdict } from '../../src/types.ts';
import { sampleReport, unpublished } from '../reporters/sample-report.ts';

const NOTHING = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };

/** A vote. A passing one has two turns and costs two cents; an abstaining one is missing by default. */
export function sampleVote(outcome: VoteOutcome, changes: Partial<MergedVote> = {}): MergedVote {
  const cast = {
    turns: 2,
    usage: { inputTokens: 3000, outputTokens: 210, cachedInputTokens: 1200, cacheWriteTokens: 0 },
    costUsd: 0.02,
    model: 'claude-sonnet-5-5',
    attempt: 1,
  };
  const why = 'The gate is not met: `/passed` must be true, is false.';
  const asks: Readonly<Record<VoteOutcome, Omit<MergedVote, 'vote' | 'outcome' | 'weaknesses'>>> = {
    pass: { ...cast, conclusion: 'success', reason: 'accepted', why: null },
    fail: { ...cast, conclusion: 'failure', reason: 'gate_not_met', why },
    abstain: {
      ...{ ...cast, turns: 0, usage: NOTHING, costUsd: 0, model: '', attempt: null },
      ...{ conclusion: 'missing', reason: 'missing', why: 'Its envelope is missing.' },
    },
  };
  return { vote: null, outcome, weaknesses: [], ...asks[outcome], ...changes };
}

/** A leg of one vote, or of those given. */
export function sampleLeg(
  leg: string,
  outcome: VoteOutcome,
  votes: readonly MergedVote[] = [sampleVote(outcome)],
): MergedLeg {
  return { leg, outcome, votes };
}

/** Nine legs, all of which pass. The other values are derived from `legs`. */
export function sampleMerged(changes: Partial<Merged> = {}): Merged {
  const names = ['api', 'auth', 'billing', 'cli', 'core', 'docs', 'search', 'ui', 'web'];
  const legs = changes.legs ?? names.map((name) => sampleLeg(name, 'pass'));
  const votes = legs.flatMap((leg) => leg.votes);
  const outcomes = legs.map(({ outcome }) => outcome);
  const count = (wanted: VoteOutcome) => outcomes.filter((outcome) => outcome === wanted).length;
  const sum = (value: (vote: MergedVote) => number) => votes.reduce((total, vote) => total + value(vote), 0);
  return {
    outcome: decide('all', outcomes),
    votes: null,
    tally: { pass: count('pass'), fail: count('fail'), abstain: count('abstain'), expected: legs.length },
    legs,
    findings: [
      {
        ...{ severity: 'error', path: 'src/billing/invoice.ts', line: 118, endLine: null, rule: 'rounding' },
        ...{ title: 'The total is rounded too early', message: 'Round once, after `applyTax()`.' },
        ...{ legs: ['api', 'billing'], votes: 4, outvoted: false, doubted: false },
      },
      {
        ...{ severity: 'note', path: null, line: null, endLine: null, rule: null, title: null },
        ...{ message: 'The changelog says nothing of it.', legs: ['docs'], votes: 1 },
        ...{ outvoted: false, doubted: false },
      },
    ],
    findingsLeftOut: 0,
    runs: votes.filter(({ conclusion }) => conclusion !== 'missing').length,
    turns: sum((vote) => vote.turns),
    usage: {
      ...NOTHING,
      inputTokens: sum((vote) => vote.usage.inputTokens),
      outputTokens: sum((vote) => vote.usage.outputTokens),
    },
    costUsd: votes.some((vote) => vote.costUsd === null) ? null : sum((vote) => vote.costUsd ?? 0),
    models: [...new Set(votes.map((vote) => vote.model).filter((model) => model !== ''))],
    ...changes,
  };
}

/** The report of a merge with the verdict of its outcome. */
export function sampleMergedReport(merged: Merged = sampleMerged(), changes: Partial<Report> = {}): Report {
  const decided = merged.outcome !== 'abstain';
  const report = sampleReport({
    verdict: VERDICTS[merged.outcome](merged),
    payload: decided ? buildPayload(merged) : null,
    gate: decided ? { status: merged.outcome === 'pass' ? 'met' : 'not_met', issues: [] } : null,
    ...WITHOUT_AGENT,
  });
  return { ...describeMerge(report, merged), ...changes };
}

/** The report of a merge that failed before it could count. */
export function sampleFailedMerge(error: string, changes: Partial<Report['verdict']> = {}): Report {
  const nothing = { turnCount: 0, usage: NOTHING, costUsd: null, model: '' };
  return describeMerge(sampleReport({ ...unpublished(error, changes), ...WITHOUT_AGENT, ...nothing }), null);
}

const WITHOUT_AGENT = {
  durationMs: 310,
  provider: '',
  isolation: 'none',
  changedFiles: null,
} as const satisfies Partial<Report>;

const VERDICTS: Readonly<Record<VoteOutcome, (merged: Merged) => Verdict>> = {
  pass: () => ({
    ...{ conclusion: 'success', reason: 'accepted', subtype: 'success' },
    ...{ exitCode: 0, published: true, error: null },
  }),
  fail: (merged) => ({
    ...{ conclusion: 'failure', reason: 'gate_not_met', subtype: 'gate_not_met' },
    ...{ exitCode: 1, published: true, error: `The gate is not met: ${describeGate(merged)}.` },
  }),
  abstain: (merged) => ({
    ...{ conclusion: 'inconclusive', reason: 'undecided', subtype: 'error_undecided' },
    ...{ exitCode: 1, published: false, error: describeUndecided(merged) },
  }),
};
