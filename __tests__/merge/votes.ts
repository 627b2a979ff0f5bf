import type { Envelope } from '../../src/envelope/envelope.ts';
import type { LegsOptions } from '../../src/merge/legs.ts';
import { readVote, type Vote } from '../../src/merge/vote.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { JsonObject, Subject } from '../../src/types.ts';

export const SUBJECT: Subject = {
  repository: 'octo/demo',
  sha: 'a'.repeat(40),
  ref: 'refs/heads/main',
  event: 'push',
  pull_request: null,
  run_id: '42',
  run_attempt: 3,
};

export const SAMPLE_POLICY = { schema_sha256: 's', gate_sha256: null, prompt_sha256: 'p', version: '0.1.0' };

/** What an envelope says, and the name of its file; `payload` is null if none was published. */
export interface Said
  extends Pick<
    Envelope,
    'leg' | 'vote' | 'conclusion' | 'reason' | 'gate' | 'model' | 'subject' | 'evidence'
  > {
  readonly file: string;
  readonly payload: JsonObject | null;
  readonly turns: number;
  readonly costUsd: number | null;
  readonly replayed: boolean;
  readonly error: string | null;
  readonly policy: Envelope['judge'];
  readonly merged: boolean;
}

/** The vote of a leg that passes in attempt 1. Each test changes the part that it tests. */
export function sampleVote(changes: Partial<Said> = {}, secrets = createSecrets()): Vote {
  const said: Said = {
    file: `verdict-${changes.leg ?? 'api'}-${changes.vote ?? null}/result.json`,
    leg: 'api',
    vote: null,
    conclusion: 'success',
    reason: 'accepted',
    payload: { passed: true, summary: 'Fine.', findings: [] },
    gate: { status: 'none', issues: [] },
    turns: 2,
    costUsd: 0.1,
    model: 'model-1',
    replayed: false,
    error: null,
    subject: { ...SUBJECT, run_attempt: 1 },
    policy: SAMPLE_POLICY,
    evidence: null,
    merged: false,
    ...changes,
  };
  const { file, payload, turns, costUsd, policy, error, replayed, merged, ...rest } = said;
  const envelope: Envelope = {
    ...rest,
    usage: { inputTokens: 100, outputTokens: 10, cachedInputTokens: 5, cacheWriteTokens: 1 },
    num_turns: turns,
    total_cost_usd: costUsd,
    judge: policy,
    ...(payload === null ? {} : { structured_output: payload }),
    ...(error === null ? {} : { error }),
    ...(replayed ? { replayed } : {}),
    ...(merged ? { merged: {} } : {}),
  };
  return readVote(file, envelope, { gate: null, secrets });
}

/** The fields of each outcome in an envelope. */
export const ENDINGS = {
  pass: {},
  fail: { payload: { passed: false, summary: 'No.', findings: [] } },
  abstain: {
    ...({ conclusion: 'inconclusive', reason: 'timeout' } as const),
    ...{ payload: null, gate: null, error: 'It took too long.' },
  },
} as const satisfies Record<string, Partial<Said>>;

/** A vote of a leg. */
export function legVote(
  leg: string,
  vote: string | null,
  outcome: keyof typeof ENDINGS,
  changes: Partial<Said> = {},
): Vote {
  return sampleVote({ leg, vote, ...ENDINGS[outcome], ...changes });
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
