import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildPayload, merge } from '../../src/merge/count-votes.ts';
import type { Vote } from '../../src/merge/read-vote.ts';
import { describeMerge } from '../../src/merge/report.ts';
import { sampleReport } from '../reporters/sample-report.ts';
import { type ENDINGS, findingPayload, legVote, options, SUBJECT } from './votes.ts';

describe('a merge of any envelopes', () => {
  const NAMES = ['leg-1', 'leg-2', 'leg-10', 'ünï', 'a b'];
  const row = fc.record({
    line: fc.constantFrom<number | null>(null, 1, 2, 4, 5, 8),
    severity: fc.constantFrom('high', 'low', 'medium'),
    rule: fc.constantFrom('one', 'two', ''),
    message: fc.constantFrom('x', 'y', 'X'),
    file: fc.constantFrom('a.ts', './a.ts', 'b.ts'),
  });
  type Cast = typeof cast extends fc.Arbitrary<infer T> ? T : never;
  const cast = fc.record({
    leg: fc.constantFrom(...NAMES),
    vote: fc.constantFrom('1', '2', '3'),
    attempt: fc.integer({ min: 1, max: 3 }),
    outcome: fc.constantFrom<keyof typeof ENDINGS>('pass', 'fail', 'abstain'),
    total_cost_usd: fc.double({ min: 0, max: 50, noNaN: true }),
    rows: fc.array(row, { maxLength: 4 }),
  });
  const nameOf = ({ leg, vote, attempt }: Cast) => `${leg} ${vote} ${attempt}`;
  const casts = fc.uniqueArray(cast, { selector: nameOf, maxLength: 20 });
  const there = casts.map((all) =>
    all.map(({ leg, vote, attempt, outcome, total_cost_usd, rows }, at) => {
      const payload = { ...findingPayload(...rows), passed: outcome === 'pass' };
      const subject = { ...SUBJECT, run_attempt: attempt };
      const said = { subject, file: `${at}.json`, total_cost_usd };
      return legVote(leg, vote, outcome, outcome === 'abstain' ? said : { ...said, payload });
    }),
  );
  const shuffled = there.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  const rules = fc.constantFrom('all', 'any', 'majority');
  const own = (rule: 'all' | 'any' | 'majority', names: readonly string[] = NAMES) =>
    options({ votes: { rule, count: 3 }, expect: names });

  it('has the same result in any order', () => {
    fc.assert(
      fc.property(shuffled, rules, ([all, other], rule) => {
        const merged = merge(all, own(rule));
        expect(merge(other, own(rule))).toEqual(merged);
        expect(buildPayload(merged)).toEqual(buildPayload(merge(other, own(rule))));
      }),
    );
  });

  it('counts every leg, passes only if all pass, and fails only if one is certain to fail', () => {
    fc.assert(
      fc.property(there, rules, (all, rule) => {
        const { legs, outcome } = merge(all, own(rule));
        expect(legs.map(({ votes }) => votes.length)).toEqual([3, 3, 3, 3, 3]);
        const outcomes = legs.map((leg) => leg.outcome);
        expect(outcome === 'pass').toBe(outcomes.every((each) => each === 'pass'));
        expect(outcome === 'fail').toBe(outcomes.includes('fail'));
      }),
    );
  });

  it('is not improved by one more failing vote or leg', () => {
    const order = ['fail', 'abstain', 'pass'];
    fc.assert(
      fc.property(there, rules, (all, rule) => {
        const outcome = (casts: readonly Vote[], names?: readonly string[]) =>
          order.indexOf(merge(casts, own(rule, names)).outcome);
        const bad = ['1', '2', '3'].map((vote) => legVote('bad', vote, 'fail', { file: `bad-${vote}` }));
        expect(outcome([...all, ...bad], [...NAMES, 'bad'])).toBeLessThanOrEqual(outcome(all));
        const turned = all.map((vote, at): Vote => (at === 0 ? { ...vote, outcome: 'fail' } : vote));
        expect(outcome(turned)).toBeLessThanOrEqual(outcome(all));
      }),
    );
  });

  it('counts every finding, and each run once for it', () => {
    fc.assert(
      fc.property(there, (all) => {
        const { findings, legs } = merge(all, own('majority'));
        const last = new Map(all.map((vote) => [`${vote.leg} ${vote.vote}`, vote]));
        for (const vote of all) {
          const key = `${vote.leg} ${vote.vote}`;
          if ((last.get(key)?.attempt ?? 0) < (vote.attempt ?? 0)) last.set(key, vote);
        }
        const rows = [...last.values()].reduce((sum, vote) => sum + vote.findings.length, 0);
        expect(findings.reduce((sum, { votes }) => sum + votes, 0)).toBe(rows);
        for (const { votes } of findings) expect(votes).toBeLessThanOrEqual(legs.length * 3);
      }),
    );
  });

  it('has finite sums, whatever a file claims', () => {
    const huge = { total_cost_usd: Number.MAX_SAFE_INTEGER, num_turns: Number.MAX_SAFE_INTEGER };
    const casts = ['api', 'web'].map((leg) => legVote(leg, null, 'pass', huge));
    const { costUsd, turnCount } = describeMerge(sampleReport(), merge(casts, options()));
    expect([costUsd, turnCount].every(Number.isFinite)).toBe(true);
  });
});
