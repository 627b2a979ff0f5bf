/** A payload that was sent back for its findings is taken, however the run ends. */
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
import { createReview, type ReviewOptions } from '../../src/evidence/review.ts';
import type { Coverage } from '../../src/types.ts';
import { submit } from '../support/fakes/model/scripted-provider.ts';
import { type AgentRunOptions, runScripted } from '../support/worlds/agent-run.ts';

const limits = { maxTurns: 30, maxTotalTokens: null, maxCostUsd: null };
const held = submit({ passed: true, summary: 'held' });
const NOTHING_SHOWN: Coverage = {
  ...{ status: 'measured', why: null },
  files: { changed: 1, required: 1, shown: 0, unseen: [], notRequired: [] },
};

function review(more: Partial<ReviewOptions> = {}) {
  const opened = createReview({
    ...{ minCoverage: 'off', autoShare: null, isPreset: false, hasComplete: false, grounding: 'require' },
    isRed: ({ passed }) => passed === false,
    meter: { observe: () => undefined, measure: () => NOTHING_SHOWN },
    hasLooked: () => true,
    judgeCommand: async () => null,
    ground: async () => [{ path: '/findings/0/quote', keyword: 'quote', message: 'is not there' }],
    ...more,
  });
  return async () => opened;
}
const usage = { inputTokens: 60, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };

describe('a payload that was sent back for its findings', () => {
  const taken = { kind: 'submitted', payload: { passed: true, summary: 'held' }, repaired: null };

  it.each([
    ['the model goes on in plain text', {}],
    ['the model refuses to go on', { refuses: true }],
    ['the limit of tokens is reached', { limits: { ...limits, maxTotalTokens: 100 } }],
    ['the limit of turns is reached', { limits: { ...limits, maxTurns: 2 } }],
  ])(
    'is taken if %s',
    async (_, { refuses = false, ...options }: AgentRunOptions & { refuses?: boolean }) => {
      const talk = { text: 'Hm.', usage, ...(refuses ? { stopReason: 'refusal' as const } : {}) };
      const answers = [{ calls: [held], usage }, talk, talk];
      expect((await runScripted(answers, { evidence: review(), ...options })).outcome).toEqual(taken);
    },
  );

  /** A run whose second request is answered by something that happens. */
  const interrupted = (happen: () => void, more: Parameters<typeof runScripted>[1] = {}) =>
    runScripted(
      (_, index) => {
        if (index > 0) happen();
        return { calls: [held] };
      },
      { evidence: review(), ...more },
    );

  it('is taken if the provider fails, and if time is up', async () => {
    const failing = interrupted(() => {
      throw new ProviderError('error', 'gone', { status: 500 });
    });
    expect((await failing).outcome).toEqual(taken);
    const stop = new AbortController();
    const late = interrupted(() => stop.abort({ stop: 'timeout' }), { signal: stop.signal });
    expect((await late).outcome).toEqual(taken);
  });

  it('is not taken after a signal', async () => {
    const stop = new AbortController();
    const both = { signal: stop.signal, interrupt: stop.signal };
    const run = interrupted(() => stop.abort('SIGTERM'), both);
    expect((await run).outcome).toEqual({ kind: 'cancelled', signal: 'SIGTERM' });
  });
});

it('a payload that was sent back for what was not shown is not taken', async () => {
  const evidence = review({ grounding: 'off', minCoverage: 1 });
  const run = await runScripted([{ calls: [held] }, { text: 'Done.' }, { text: 'Done.' }], { evidence });
  expect(run.outcome.kind).toBe('plain_text');
});

it('evidence is asked for only once the sandbox is ready', async () => {
  let isReady = false;
  const ready = async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    isReady = true;
  };
  const evidence = async () => {
    expect(isReady).toBe(true);
    return review()();
  };
  const wrong = { calls: [submit({ passed: 1 })] };
  const run = await runScripted([wrong, { text: 'Done.' }], { ready, evidence, forceOutput: false });
  expect([run.outcome.kind, isReady]).toEqual(['plain_text', true]);
});
