/** Sample votes, and sample merges for reports: real ones, of votes that are given as marks. */
import type { Envelope } from '../../src/envelope/envelope.ts';
import { buildPayload, merge } from '../../src/merge/count-votes.ts';
import type { LegsOptions } from '../../src/merge/legs.ts';
import { readVote, type Vote } from '../../src/merge/read-vote.ts';
import { describeMerge } from '../../src/merge/report.ts';
import type { Merged } from '../../src/merge/types.ts';
import { describeGate, describeUndecided } from '../../src/merge/words.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { verdictOf } from '../../src/run/ending-sentences.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { GateResult, JsonObject, Reason, Subject } from '../../src/types.ts';
import { sampleReport, unpublished } from '../reporters/sample-report.ts';

export const SUBJECT: Subject = {
  ...{ repository: 'octo/demo', sha: 'a'.repeat(40), ref: 'refs/heads/main', event: 'push' },
  ...{ pull_request: null, run_id: '42', run_attempt: 3 },
};

/** What an envelope says, and the name of its file; `payload` is null if none was published. */
export interface Said extends Partial<Omit<Envelope, 'structured_output'>> {
  readonly file?: string;
  readonly payload?: JsonObject | null;
}

/** The fields of each outcome in an envelope. */
export const ENDINGS = {
  pass: {},
  fail: { payload: { passed: false, summary: 'No.', findings: [] } },
  abstain: {
    ...({ conclusion: 'inconclusive', reason: 'timeout' } as const),
    ...{ payload: null, gate: null, error: 'It took too long.' },
  },
} as const satisfies Record<string, Said>;

/** The vote of a leg in attempt 1. Each test changes the part that it tests. */
export function legVote(
  leg: string,
  vote: string | null,
  outcome: keyof typeof ENDINGS,
  said: Said = {},
  secrets = createSecrets(),
): Vote {
  const { file, payload, ...changes }: Said = { leg, vote, ...ENDINGS[outcome], ...said };
  const judge = { schema_sha256: 's', gate_sha256: null, prompt_sha256: 'p', version: '0.1.0' };
  const envelope: Envelope = {
    ...{
      leg,
      vote,
      conclusion: 'success',
      reason: 'accepted',
      exit_code: 0,
      duration_ms: 4321,
      num_turns: 2,
    },
    ...{ gate: { status: 'none', issues: [] }, judge, evidence: null, sandbox: 'bwrap' },
    ...{ model: 'claude-sonnet-5-5', total_cost_usd: 0.02, subject: { ...SUBJECT, run_attempt: 1 } },
    usage: { inputTokens: 3000, outputTokens: 210, cachedInputTokens: 1200, cacheWriteTokens: 0 },
    ...changes,
    ...(payload === null ? {} : { structured_output: payload ?? findingPayload() }),
  };
  const name = file ?? `verdict-${envelope.leg}-${envelope.vote}/result.json`;
  return readVote(name, envelope, { gate: null, secrets });
}

/** A payload that passes, with findings. */
export function findingPayload(...findings: readonly JsonObject[]): JsonObject {
  return { passed: true, summary: 'Fine.', findings };
}

/** Two legs with one vote each by default. */
export function options(changes: Partial<LegsOptions> = {}): LegsOptions {
  return { expect: ['api', 'web'], votes: null, subject: SUBJECT, anyCommit: false, ...changes };
}

export const majorityOf = (count: number) => ({ rule: 'majority', count }) as const;

const ROUNDING = {
  ...{ severity: 'error', path: 'src/billing/invoice.ts', line: 118, rule: 'rounding' },
  ...{ title: 'The total is rounded too early', message: 'Round once, after `applyTax()`.' },
};

const NINE = ['api', 'auth', 'billing', 'cli', 'core', 'docs', 'search', 'ui', 'web'];
const PASSING = Object.fromEntries(NINE.map((leg) => [leg, 'p']));

/**
 * Merges the votes of legs, such as `{ api: 'ppf', web: '-' }`: p passes, f fails with a finding, - is missing.
 * @param more votes of these legs that marks cannot describe
 */
export function sampleMerged(
  legs: Readonly<Record<string, string>> = PASSING,
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
export function sampleMergedReport(merged: Merged = sampleMerged()): Report {
  const payload = merged.outcome === 'abstain' ? null : buildPayload(merged);
  const issue = { path: '/passed', keyword: 'const', message: describeGate(merged) };
  const isMet = merged.outcome === 'pass';
  const gate: GateResult = isMet ? { status: 'met', issues: [] } : { status: 'not_met', issues: [issue] };
  const verdict = verdictOf(
    payload === null
      ? { kind: 'no_verdict', reason: 'undecided', text: describeUndecided(merged) }
      : { kind: 'submitted', payload, repaired: null },
    { turns: 0, gate, entry: 'action' },
  );
  const judged = { verdict, payload, gate: payload === null ? null : gate };
  return describeMerge(sampleReport({ ...judged, ...WITHOUT_AGENT }), merged);
}

/** The report of a merge that failed before it could count. */
export function sampleFailedMerge(error: string, reason?: Reason): Report {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
  const nothing = { turnCount: 0, usage, costUsd: null, model: '' };
  return describeMerge(sampleReport({ ...unpublished(error, reason), ...WITHOUT_AGENT, ...nothing }), null);
}

const WITHOUT_AGENT: Partial<Report> = {
  durationMs: 310,
  provider: '',
  isolation: 'none',
  changedFiles: null,
};
