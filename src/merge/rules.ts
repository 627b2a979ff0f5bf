/** The rules by which votes make a leg, and legs a verdict: three-valued, so that what is missing never decides. */
import type { Ballot } from './types.ts';

/** When several ballots together pass. */
export type Rule =
  | { readonly kind: 'all' | 'any' | 'majority' }
  /** The weights of those that pass add up to more than the threshold, in the same unit as the weights. */
  | { readonly kind: 'weighted'; readonly threshold: number };

/** A ballot and what it weighs: a whole number from 0, which only a weighted rule looks at. */
export interface Weighed {
  readonly ballot: Ballot;
  readonly weight: number;
}

/**
 * What the ballots come to. Those that abstain are taken to pass and then to fail: where both come to the same the rule
 * decides, else it abstains. Every rule is monotone (one more pass never harms), so no other mixture need be tried.
 * @param ballots all that were expected, the missing ones as abstaining; at least one.
 */
export function decide(rule: Rule, ballots: readonly Weighed[]): Ballot {
  const atBest = passes(rule, ballots, ({ ballot }) => ballot !== 'fail');
  const atWorst = passes(rule, ballots, ({ ballot }) => ballot === 'pass');
  if (atBest !== atWorst) return 'abstain';
  return atBest ? 'pass' : 'fail';
}

function passes(rule: Rule, ballots: readonly Weighed[], hasPassed: (each: Weighed) => boolean): boolean {
  const passing = ballots.filter(hasPassed);
  switch (rule.kind) {
    case 'all':
      return passing.length === ballots.length;
    case 'any':
      return passing.length > 0;
    case 'majority':
      return passing.length * 2 > ballots.length;
    case 'weighted':
      return passing.reduce((sum, { weight }) => sum + weight, 0) > rule.threshold;
  }
}
