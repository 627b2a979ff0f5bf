import type { Envelope } from '../../src/envelope/envelope.ts';
import type { LegsOptions } from '../../src/merge/legs.ts';
import { readVote, type Vote } from '../../src/merge/read-vote.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { JsonObject, Subject } from '../../src/types.ts';

export const SUBJECT: Subject = {
  ...{ repository: 'octo/demo', sha: 'a'.repeat(40), ref: 'refs/heads/main', event: 'push' },
  ...{ pull_request: null, run_id: '42', run_attempt: 3 },
};

const SAMPLE_POLICY = { schema_sha256: 's', gate_sha256: null, prompt_sha256: 'p', version: '0.1.0' };

/** What an envelope says, and the name of its file; `payload` is null if none was published. */
export interface Said extends Partial<Omit<Envelope, 'structured_output'>> {
  readonly file?: string;
  readonly payload?: JsonObject | null;
}

/** The vote of a leg that passes in attempt 1. Each test changes the part that it tests. */
export function sampleVote({ file, payload, ...changes }: Said = {}, secrets = createSecrets()): Vote {
  const envelope: Envelope = {
    ...({ leg: 'api', vote: null, conclusion: 'success', reason: 'accepted', exit_code: 0 } as const),
    ...({ gate: { status: 'none', issues: [] }, judge: SAMPLE_POLICY, evidence: null } as const),
    ...{
      sandbox: 'bwrap',
      duration_ms: 4321,
      num_turns: 2,
      model: 'claude-sonnet-5-5',
      total_cost_usd: 0.02,
    },
    usage: { inputTokens: 3000, outputTokens: 210, cachedInputTokens: 1200, cacheWriteTokens: 0 },
    subject: { ...SUBJECT, run_attempt: 1 },
    ...changes,
    ...(payload === null ? {} : { structured_output: payload ?? findingPayload() }),
  };
  const name = file ?? `verdict-${envelope.leg}-${envelope.vote}/result.json`;
  return readVote(name, envelope, { gate: null, secrets });
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

/** A vote of a leg. */
export function legVote(
  leg: string,
  vote: string | null,
  outcome: keyof typeof ENDINGS,
  changes: Said = {},
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
