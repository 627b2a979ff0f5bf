import { expect, it } from 'vitest';
import { createBudget } from '../../src/agent/budget.ts';
import type { Usage } from '../../src/types.ts';

const usage = { inputTokens: 60, outputTokens: 40, cachedInputTokens: 10, cacheWriteTokens: 5 };
const sum = { inputTokens: 120, outputTokens: 80, cachedInputTokens: 20, cacheWriteTokens: 10 };
const none = { maxTurns: null, maxTotalTokens: null, maxCostUsd: null };

type Turn = readonly [usage: Usage | null, price: number | null];

const PAID: Turn = [usage, 0.25];
const UNPRICED: Turn = [usage, null];
const UNREPORTED: Turn = [null, 0];

// How its limits end a run is in endings.test.ts.
it.each<[string, readonly Turn[], object]>([
  ['sums', [PAID, PAID], { turns: 2, usage: sum, costUsd: 0.5 }],
  ['knows no cost after an unknown price', [UNPRICED, PAID], { turns: 2, usage: sum, costUsd: null }],
  ['knows no cost after a turn without usage', [UNREPORTED, PAID], { turns: 2, usage, costUsd: null }],
])('a budget %s', async (_, turns, totals) => {
  const prices = turns.map(([, price]) => price);
  const budget = createBudget(none, async () => prices.shift() ?? null);
  for (const [used] of turns) await budget.add(used);
  expect(budget.totals()).toEqual(totals);
});
