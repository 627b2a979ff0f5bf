import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Vote } from '../../src/merge/legs.ts';
import { merge } from '../../src/merge/merge.ts';
import { type ENDINGS, envelopes, legs, legVote, majorityOf, options, SUBJECT } from './votes.ts';

const attempt = (run_attempt: number) => ({ subject: { ...SUBJECT, run_attempt } });

describe('a merge of any envelopes', () => {
  const NAMES = ['leg-1', 'leg-2', 'leg-10', 'ünï', 'a b'];
  const there = fc
    .uniqueArray(
      fc.record({
        leg: fc.constantFrom(...NAMES),
        vote: fc.constantFrom('1', '2', '3'),
        attempt: fc.integer({ min: 1, max: 3 }),
        outcome: fc.constantFrom<keyof typeof ENDINGS>('pass', 'fail', 'abstain'),
        cost: fc.double({ min: 0, max: 50, noNaN: true }),
      }),
      { selector: ({ leg, vote, attempt: number }) => `${leg} ${vote} ${number}`, maxLength: 20 },
    )
    .map((all) =>
      all.map(({ leg, vote, attempt: number, outcome, cost }, at) =>
        legVote(leg, vote, outcome, { ...attempt(number), file: `${at}.json`, costUsd: cost }),
      ),
    );
  const shuffled = there.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  const kinds = fc.constantFrom('all', 'any', 'majority');
  const expected = fc.constantFrom(legs(...NAMES), envelopes(15));

  it('has the same result in any order', () => {
    fc.assert(
      fc.property(shuffled, kinds, kinds, expected, ([all, other], across, within, names) => {
        const own = options({
          rule: { kind: across },
          votes: { rule: { kind: within }, count: 3 },
          expect: names,
        });
        expect(merge(other, own)).toEqual(merge(all, own));
      }),
    );
  });

  it('counts every leg, passes only with enough legs, and fails only when it is certain', () => {
    fc.assert(
      fc.property(there, kinds, kinds, expected, (all, across, within, names) => {
        const merged = merge(all, {
          ...options({ rule: { kind: across }, votes: { rule: { kind: within }, count: 3 }, expect: names }),
        });
        const { pass, fail, abstain, expected: sum } = merged.tally;
        expect([pass + fail + abstain, sum, merged.legs.length]).toEqual([5, 5, 5]);
        for (const { votes } of merged.legs) expect(votes.length).toBe(3);
        if (across === 'all') {
          expect(merged.outcome === 'pass').toBe(pass === 5);
          expect(merged.outcome === 'fail').toBe(fail > 0);
        }
        if (across === 'any') expect(merged.outcome === 'pass').toBe(pass > 0);
        if (across === 'majority') expect(merged.outcome === 'pass').toBe(pass >= 3);
        if (across === 'majority') expect(merged.outcome === 'fail').toBe(fail >= 3);
      }),
    );
  });

  it('is not improved by one more failing leg under all or majority', () => {
    const order = ['fail', 'abstain', 'pass'];
    fc.assert(
      fc.property(there, fc.constantFrom('all', 'majority'), (all, kind) => {
        const outcome = (casts: readonly Vote[], names: readonly string[]) =>
          order.indexOf(
            merge(casts, options({ rule: { kind }, votes: majorityOf(3), expect: legs(...names) })).outcome,
          );
        const bad = ['1', '2', '3'].map((vote) => legVote('bad', vote, 'fail', { file: `bad-${vote}` }));
        expect(outcome([...all, ...bad], [...NAMES, 'bad'])).toBeLessThanOrEqual(outcome(all, NAMES));
      }),
    );
  });

  it('has sums that JSON can represent, whatever a file claims', () => {
    const huge = { costUsd: 1e300, turns: Number.MAX_SAFE_INTEGER };
    const usage = { inputTokens: 1e308, outputTokens: 1e308, cachedInputTokens: 0, cacheWriteTokens: 0 };
    const casts = ['api', 'web'].map((leg) => legVote(leg, null, 'pass', { ...huge, usage }));
    const merged = merge(casts, options());
    for (const sum of [merged.costUsd, merged.turns, merged.usage.inputTokens])
      expect(sum).toSatisfy(
        (value: number | null) => value === null || Number.isSafeInteger(Math.floor(value)),
      );
  });
});
