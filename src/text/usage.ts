/** Adds up token counts and costs. */
import type { Usage } from '../types.ts';

/** The usage before the first response. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}

/**
 * Returns the sum in US dollars; null when a cost is unknown. Added up as integers of 10⁻⁸ dollars: with floating-point
 * numbers the result would depend on the order.
 */
export function totalCost(costs: readonly (number | null)[]): number | null {
  const known = costs.filter((cost) => cost !== null);
  if (known.length < costs.length) return null;
  return known.reduce((sum, cost) => sum + Math.round(cost * 1e8), 0) / 1e8;
}
