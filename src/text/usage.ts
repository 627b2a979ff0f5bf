/** Tokens and money, counted. */
import type { Usage } from '../types.ts';

/** What a run has used before its first answer. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };

/** Both together. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}

/**
 * US dollars; null where one of them is not known. Counted in hundred-millionths: of floating numbers the order would
 * show in the sum.
 */
export function totalCost(costs: readonly (number | null)[]): number | null {
  const known = costs.filter((cost) => cost !== null);
  if (known.length < costs.length) return null;
  return known.reduce((sum, cost) => sum + Math.round(cost * 1e8), 0) / 1e8;
}
