/** Tracks the usage of a run against its limits. */
import type { Totals } from '../reporters/report-types.ts';
import { addUsage, NO_USAGE } from '../text/figures.ts';
import type { Limit, Usage } from '../types.ts';

/** The limits of a run; null means no limit. */
export interface Limits {
  /** Maximum number of model calls that return a completion; 0 ends the run before the first. */
  readonly maxTurns: number | null;
  /** Sum of input and output tokens. */
  readonly maxTotalTokens: number | null;
  readonly maxCostUsd: number | null;
}

/** The price of one completion in US dollars; null if it is not known. Loads the price list on first use. */
export type Price = (usage: Usage) => Promise<number | null>;

export type Budget = ReturnType<typeof createBudget>;

/**
 * Counts turns, tokens and cost, and reports which limit is reached. A limit that cannot be measured, because the server reports no usage, counts as reached: it
 * must not silently go unenforced. A completion without a known price makes the total cost null for the rest of the
 * run, rather than too low.
 */
export function createBudget(limits: Limits, price: Price) {
  let turns = 0;
  let usage = NO_USAGE;
  let costUsd: number | null = 0;
  let metered = true;

  return {
    /** Adds one completion; null if the server reported no usage. */
    async add(added: Usage | null): Promise<void> {
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
    // Before the first completion it is unknown whether the model has a price.
    totals: (): Totals => ({ turns, usage, costUsd: turns === 0 ? null : costUsd }),
    /** Returns the limit that prevents another model call, or null. The abort signal handles time. */
    exhausted(): Exclude<Limit, 'time'> | null {
      if (limits.maxTurns !== null && turns >= limits.maxTurns) return 'turns';
      const tokens = metered ? usage.inputTokens + usage.outputTokens : Number.POSITIVE_INFINITY;
      if (limits.maxTotalTokens !== null && tokens >= limits.maxTotalTokens) return 'tokens';
      if (limits.maxCostUsd !== null && (costUsd ?? Number.POSITIVE_INFINITY) >= limits.maxCostUsd)
        return 'cost';
      return null;
    },
  };
}
