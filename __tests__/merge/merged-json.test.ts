import { describe, expect, it } from 'vitest';
import { mergedJson } from '../../src/merge/merged-json.ts';
import type { MergedLeg } from '../../src/merge/types.ts';
import type { JsonObject } from '../../src/types.ts';
import { sampleLeg, sampleMerged, sampleVote } from './sample-merged.ts';

/** A leg as the envelope tells it. */
function legOf(leg: MergedLeg): unknown {
  const { legs } = mergedJson(sampleMerged({ legs: [leg], votes: 'majority of 3' }), (text) => text);
  return Array.isArray(legs) ? legs[0] : null;
}

describe('mergedJson', () => {
  it('knows no cost of a leg where that of one vote is not known, and adds up the others exactly', () => {
    const costs = (...all: readonly (number | null)[]) =>
      legOf(
        sampleLeg(
          'api',
          'pass',
          all.map((costUsd) => sampleVote('pass', { costUsd })),
        ),
      );
    expect(costs(0.1, null, 0.2)).toMatchObject({ total_cost_usd: null });
    expect(costs(0.1, 0.2)).toMatchObject({ total_cost_usd: 0.3 });
  });

  it('tells a leg in the words of its vote, and one of several in those of the rule unless all are missing', () => {
    const cutOff = sampleVote('abstain', { conclusion: 'inconclusive', reason: 'timeout' });
    const missing = sampleVote('abstain', { conclusion: 'missing', reason: 'missing' });
    const words = (...votes: Parameters<typeof sampleLeg>[2] & {}) =>
      legOf(sampleLeg('api', 'abstain', votes));
    expect(words(cutOff)).toMatchObject({ conclusion: 'inconclusive', reason: 'timeout', passed: null });
    expect(words(cutOff, missing)).toMatchObject({ conclusion: 'inconclusive', reason: 'undecided' });
    expect(words(missing, missing)).toMatchObject({ conclusion: 'missing', reason: 'missing' });
  });

  it('masks what other jobs wrote', () => {
    const vote = sampleVote('fail', { vote: 'key', why: 'key', model: 'key' });
    const merged = sampleMerged({ legs: [sampleLeg('key', 'fail', [vote])] });
    const told: JsonObject = mergedJson(merged, (text) => text.replaceAll('key', '***'));
    expect(JSON.stringify(told)).not.toContain('key');
  });
});
