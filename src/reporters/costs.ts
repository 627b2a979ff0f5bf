/** What several runs cost together. */

/**
 * US dollars; null where one of them is not known. Counted in hundred-millionths: of floating numbers the order would
 * show in the sum.
 */
export function totalCost(costs: readonly (number | null)[]): number | null {
  const known = costs.filter((cost) => cost !== null);
  if (known.length < costs.length) return null;
  return known.reduce((sum, cost) => sum + Math.round(cost * 1e8), 0) / 1e8;
}
