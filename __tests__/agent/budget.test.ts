import { describe, expect, it } from 'vitest';
import { createBudget } from '../../src/agent/budget.ts';
import type { Usage } from '../../src/types.ts';

const usage = { inputTokens: 60, outputTokens: 40, cachedInputTokens: 10, cacheWriteTokens: 5 };
const none = { maxTurns: null, maxTotalTokens: null, maxCostUsd: null };

type Limits = Partial<Record<keyof typeof none, number>>;
type Turn = readonly [usage: Usage | null, price: number | null];

/** The exhausted limit before the first turn and after each turn, and the totals. */
async function budgetOf(limits: Limits, ...turns: readonly Turn[]) {
  const prices = turns.map(([, price]) => price);
  const budget = createBudget({ ...none, ...limits }, async () => prices.shift() ?? null);
  const ends = [budget.exhausted()];
  for (const [used] of turns) {
    await budget.add(used);
    ends.push(budget.exhausted());
  }
  return { ends, totals: budget.totals() };
}

describe('a budget', () => {
  it('sums turns, token counts of every kind, and cost', async () => {
    const { ends, totals } = await budgetOf({}, [usage, 0.25], [usage, 0.25]);
    expect(ends).toEqual([null, null, null]);
    const sum = { inputTokens: 120, outputTokens: 80, cachedInputTokens: 20, cacheWriteTokens: 10 };
    expect(totals).toEqual({ turns: 2, usage: sum, costUsd: 0.5 });
  });

  it.each<[Limits, readonly Turn[], readonly unknown[]]>([
    [{ maxTurns: 0 }, [], ['turns']],
    [{ maxTurns: 1 }, [[usage, null]], [null, 'turns']],
    [{ maxTotalTokens: 200 }, Array(2).fill([usage, null]), [null, null, 'tokens']],
    [{ maxCostUsd: 0.3 }, Array(2).fill([usage, 0.2]), [null, null, 'cost']],
    [{ maxTotalTokens: 1_000_000 }, [[null, 0.1]], [null, 'tokens']],
    [{ maxCostUsd: 100 }, [[usage, null]], [null, 'cost']],
  ])('has the inclusive limit %j, also if it cannot be measured', async (limits, turns, ends) => {
    expect((await budgetOf(limits, ...turns)).ends).toEqual(ends);
  });

  it('an unknown price or unreported usage makes the cost unknown for the rest of the run', async () => {
    expect((await budgetOf({}, [usage, 0.1], [usage, null], [usage, 0.1])).totals.costUsd).toBeNull();
    expect((await budgetOf({}, [null, 0.1])).totals).toMatchObject({ turns: 1, costUsd: null });
  });
});
