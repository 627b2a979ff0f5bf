/** What a run may use and what it has used. */
import type { Totals } from '../reporters/report-types.ts';
import { addUsage, NO_USAGE } from '../text/usage.ts';
import type { Limit, Usage } from '../types.ts';

/** The limits of a run; null where there is none. */
export interface Limits {
  /** Model calls that gave a completion, inclusive; 0 ends the run before the first. */
  readonly maxTurns: number | null;
  /** Input and output tokens together. */
  readonly maxTotalTokens: number | null;
  readonly maxCostUsd: number | null;
}

/** US dollars for one completion; null when the model has no known price. Loads its price list when first asked. */
export type Price = (usage: Usage) => Promise<number | null>;

/** Counts turns, tokens and money, and tells which limit is reached. */
export interface Budget {
  /** Counts one completion; `usage` is null where the server reported none. */
  add(usage: Usage | null): Promise<void>;
  totals(): Totals;
  /** The limit that forbids another model call; null while one is allowed. Time is the abort signal's. */
  exhausted(): Exclude<Limit, 'time'> | null;
}

/**
 * A budget that has used nothing. Where a limit cannot be measured, because the server reports no usage, it counts as
 * reached: a budget that is silently not enforced is none. A completion without a known price makes the sum unknown for the rest of the run:
 * null, never too small.
 */
export function createBudget(limits: Limits, price: Price): Budget {
  let turns = 0;
  let usage = NO_USAGE;
  let costUsd: number | null = 0;
  let metered = true;

  return {
    async add(added) {
      turns += 1;
      if (added === null) {
        costUsd = null;
        metered = false;
        return;
      }
      usage = addUsage(usage, added);
      const cost = costUsd === null ? null : await price(added);
      costUsd = costUsd === null || cost === null ? null : costUsd + cost;
    },
    // Before the first completion nobody knows whether there is a price.
    totals: () => ({ turns, usage, costUsd: turns === 0 ? null : costUsd }),
    exhausted() {
      if (limits.maxTurns !== null && turns >= limits.maxTurns) return 'turns';
      const tokens = metered ? usage.inputTokens + usage.outputTokens : Number.POSITIVE_INFINITY;
      if (limits.maxTotalTokens !== null && tokens >= limits.maxTotalTokens) return 'tokens';
      if (limits.maxCostUsd !== null && (costUsd ?? Number.POSITIVE_INFINITY) >= limits.maxCostUsd)
        return 'cost';
      return null;
    },
  };
}
