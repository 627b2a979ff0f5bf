import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rule } from '../../src/merge/config.ts';
import { decide, type Weighed } from '../../src/merge/merge.ts';
import type { Outcome } from '../../src/merge/types.ts';

const outcome = fc.constantFrom<Outcome>('pass', 'fail', 'abstain');
/** Small weights, so that sums meet thresholds. */
const weighed = fc.record({ outcome, weight: fc.integer({ min: 0, max: 4 }) });
const outcomes = fc.array(weighed, { minLength: 1, maxLength: 7 });
const rule = fc.oneof(
  fc.constantFrom<Rule>({ kind: 'all' }, { kind: 'any' }, { kind: 'majority' }),
  fc.integer({ min: 0, max: 14 }).map((threshold): Rule => ({ kind: 'weighted', threshold })),
);

/** A second implementation of each rule, independent of the code under test. */
function holds(rule: Rule, sure: readonly Weighed[]): boolean {
  const passing = sure.filter((each) => each.outcome === 'pass');
  if (rule.kind === 'weighted') {
    let sum = 0;
    for (const { weight } of passing) sum += weight;
    return sum > rule.threshold;
  }
  if (rule.kind === 'all') return sure.every((each) => each.outcome === 'pass');
  if (rule.kind === 'any') return sure.some((each) => each.outcome === 'pass');
  return passing.length > sure.length - passing.length;
}

/** Every possible vote of those that abstain. */
function assignments(open: readonly Weighed[]): readonly (readonly Weighed[])[] {
  let made: Weighed[][] = [[]];
  for (const each of open) {
    const ways: readonly Outcome[] = each.outcome === 'abstain' ? ['pass', 'fail'] : [each.outcome];
    made = made.flatMap((some) => ways.map((way) => [...some, { ...each, outcome: way }]));
  }
  return made;
}

function agreed(results: readonly boolean[]): Outcome {
  if (results.every(Boolean)) return 'pass';
  return results.some(Boolean) ? 'abstain' : 'fail';
}

/** Whether no open vote can turn it into a pass. */
function isLost(rule: Rule, all: readonly Weighed[]): boolean {
  const count = (wanted: Outcome) => all.filter((each) => each.outcome === wanted).length;
  const weights = (wanted: Outcome) =>
    all.reduce((sum, each) => sum + (each.outcome === wanted ? each.weight : 0), 0);
  if (rule.kind === 'weighted') return weights('pass') + weights('abstain') <= rule.threshold;
  if (rule.kind === 'all') return count('fail') > 0;
  if (rule.kind === 'any') return count('fail') === all.length;
  return 2 * (count('pass') + count('abstain')) <= all.length;
}

const ORDER: readonly Outcome[] = ['fail', 'abstain', 'pass'];
const grade = (each: Outcome) => ORDER.indexOf(each);
const plain = (...list: readonly Outcome[]) => list.map((each) => ({ outcome: each, weight: 1 }));

describe('a rule over outcomes with abstentions', () => {
  it('decides exactly when every assignment of the abstentions gives the same result', () => {
    fc.assert(
      fc.property(rule, outcomes, (each, all) => {
        expect(decide(each, all)).toBe(agreed(assignments(all).map((sure) => holds(each, sure))));
      }),
      { numRuns: 500 },
    );
  });

  it('decides over legs of votes like every assignment of all votes', () => {
    const legs = fc.array(
      fc.record({ votes: fc.array(weighed, { minLength: 1, maxLength: 3 }), weight: fc.nat(3) }),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(rule, rule, legs, (across, within, all) => {
        const nested = decide(
          across,
          all.map(({ votes, weight }) => ({ outcome: decide(within, votes), weight })),
        );
        let results: boolean[][] = [[]];
        for (const { votes } of all) {
          const ways = assignments(votes).map((sure) => holds(within, sure));
          results = results.flatMap((some) => ways.map((way) => [...some, way]));
        }
        const verdicts = results.map((passing) =>
          holds(
            across,
            passing.map((way, at) => ({ outcome: way ? 'pass' : 'fail', weight: all[at]?.weight ?? 0 })),
          ),
        );
        expect(nested).toBe(agreed(verdicts));
      }),
      { numRuns: 300 },
    );
  });

  it('is monotone: a better outcome never gives a worse result', () => {
    fc.assert(
      fc.property(rule, outcomes, fc.nat(), outcome, (each, all, seed, better) => {
        const at = seed % all.length;
        const changed = all.map((one, index) =>
          index === at && grade(better) > grade(one.outcome) ? { ...one, outcome: better } : one,
        );
        expect(grade(decide(each, changed))).toBeGreaterThanOrEqual(grade(decide(each, all)));
      }),
    );
  });

  it('always fails after a decisive failure, and never fails otherwise', () => {
    fc.assert(
      fc.property(rule, outcomes, (each, all) => {
        if (isLost(each, all)) expect(decide(each, all)).toBe('fail');
        else expect(decide(each, all)).not.toBe('fail');
      }),
      { numRuns: 500 },
    );
  });

  it('does not depend on the order', () => {
    fc.assert(
      fc.property(
        rule,
        outcomes.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
        ),
        (each, [all, shuffled]) => {
          expect(decide(each, shuffled)).toBe(decide(each, all));
        },
      ),
    );
  });

  it('gives no better result after one more failing leg, for all and majority', () => {
    fc.assert(
      fc.property(fc.constantFrom<Rule>({ kind: 'all' }, { kind: 'majority' }), outcomes, (each, all) => {
        const more = [...all, { outcome: 'fail', weight: 1 } as const];
        expect(grade(decide(each, more))).toBeLessThanOrEqual(grade(decide(each, all)));
      }),
    );
  });
});

describe('ties', () => {
  it('of a majority fail', () => {
    expect(decide({ kind: 'majority' }, plain('pass', 'fail'))).toBe('fail');
    expect(decide({ kind: 'majority' }, plain('pass', 'pass', 'fail', 'fail'))).toBe('fail');
    expect(decide({ kind: 'majority' }, plain('pass', 'abstain'))).toBe('abstain');
    expect(decide({ kind: 'majority' }, plain('fail', 'abstain'))).toBe('fail');
  });

  it('of weights fail: 0.1 + 0.2 is not more than 0.3', () => {
    const legs = [
      { outcome: 'pass', weight: 100_000 },
      { outcome: 'pass', weight: 200_000 },
    ] as const;
    expect(decide({ kind: 'weighted', threshold: 300_000 }, legs)).toBe('fail');
    expect(decide({ kind: 'weighted', threshold: 299_999 }, legs)).toBe('pass');
  });

  it('of zero weights fail', () => {
    expect(decide({ kind: 'weighted', threshold: 0 }, [{ outcome: 'pass', weight: 0 }])).toBe('fail');
  });
});

describe('a single outcome', () => {
  it.each(['all', 'any', 'majority'] as const)('is the verdict under %s', (kind) => {
    for (const each of ORDER) expect(decide({ kind }, plain(each))).toBe(each);
  });
});
