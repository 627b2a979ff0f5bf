/** Sample merges for reports: real ones, of votes that are given as marks. */
import { buildPayload, merge } from '../../src/merge/count-votes.ts';
import type { Vote } from '../../src/merge/read-vote.ts';
import { describeMerge } from '../../src/merge/report.ts';
import type { Merged } from '../../src/merge/types.ts';
import { describeGate, describeUndecided } from '../../src/merge/words.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { verdictOf } from '../../src/run/ending-sentences.ts';
import type { GateResult } from '../../src/types.ts';
import { sampleReport, unpublished } from '../reporters/sample-report.ts';
import { ENDINGS, legVote, majorityOf, options } from './votes.ts';

const ROUNDING = {
  ...{ severity: 'error', path: 'src/billing/invoice.ts', line: 118, rule: 'rounding' },
  ...{ title: 'The total is rounded too early', message: 'Round once, after `applyTax()`.' },
};

const NINE = {
  ...{ api: 'p', auth: 'p', billing: 'p', cli: 'p', core: 'p' },
  ...{ docs: 'p', search: 'p', ui: 'p', web: 'p' },
};

/**
 * Merges the votes of legs, such as `{ api: 'ppf', web: '-' }`: p passes, f fails with a finding, - is missing.
 * @param more votes of these legs that marks cannot describe
 */
export function sampleMerged(
  legs: Readonly<Record<string, string>> = NINE,
  more: readonly Vote[] = [],
): Merged {
  const votes = Object.entries(legs).flatMap(([leg, marks]) => {
    const cast = (mark: string, at: number) => {
      const vote = marks.length === 1 ? null : String(at + 1);
      const payload = { ...ENDINGS.fail.payload, findings: [ROUNDING] };
      return mark === 'f' ? legVote(leg, vote, 'fail', { payload }) : legVote(leg, vote, 'pass');
    };
    return [...marks].flatMap((mark, at) => (mark === '-' ? [] : cast(mark, at)));
  });
  const count = Math.max(...Object.values(legs).map((marks) => marks.length));
  const rule = count > 1 ? majorityOf(count) : null;
  return merge([...votes, ...more], options({ expect: Object.keys(legs), votes: rule }));
}

/** The report of a merge with the verdict of its outcome. */
export function sampleMergedReport(merged: Merged = sampleMerged(), changes: Partial<Report> = {}): Report {
  const isDecided = merged.outcome !== 'abstain';
  const payload = isDecided ? buildPayload(merged) : null;
  const issue = { path: '/passed', keyword: 'const', message: describeGate(merged) };
  const isMet = merged.outcome === 'pass';
  const gate: GateResult = isMet ? { status: 'met', issues: [] } : { status: 'not_met', issues: [issue] };
  const verdict = verdictOf(
    payload === null
      ? { kind: 'no_verdict', reason: 'undecided', text: describeUndecided(merged) }
      : { kind: 'submitted', payload, repaired: null },
    { turns: 0, gate, entry: 'action' },
  );
  const report = sampleReport({ verdict, payload, gate: isDecided ? gate : null, ...WITHOUT_AGENT });
  return { ...describeMerge(report, merged), ...changes };
}

/** The report of a merge that failed before it could count. */
export function sampleFailedMerge(error: string, changes: Partial<Report['verdict']> = {}): Report {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
  const nothing = { turnCount: 0, usage, costUsd: null, model: '' };
  return describeMerge(sampleReport({ ...unpublished(error, changes), ...WITHOUT_AGENT, ...nothing }), null);
}

const WITHOUT_AGENT = {
  durationMs: 310,
  provider: '',
  isolation: 'none',
  changedFiles: null,
} as const satisfies Partial<Report>;
