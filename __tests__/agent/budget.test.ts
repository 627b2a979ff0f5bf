import { describe, expect, it } from 'vitest';
import { createBudget } from '../../src/agent/budget.ts';
import type { Usage } from '../../src/types.ts';

const usage = { inputTokens: 60, outputTokens: 40, cachedInputTokens: 10, cacheWriteTokens: 5 };
const none = { maxTurns: null, maxTotalTokens: null, maxCostUsd: null };

/** The exhausted limit before the first turn and after each turn, and the totals. A turn is its usage and its price. */
async function budgetOf(
  limits: Partial<Record<keyof typeof none, number>>,
  ...turns: readonly (readonly [usage: Usage | null, price: number | null])[]
) {
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

  it('each limit is inclusive, and is reached when it cannot be measured', async () => {
    expect((await budgetOf({ maxTurns: 0 })).ends).toEqual(['turns']);
    expect((await budgetOf({ maxTurns: 1 }, [usage, null])).ends).toEqual([null, 'turns']);
    const tokens = await budgetOf({ maxTotalTokens: 200 }, [usage, null], [usage, null]);
    expect(tokens.ends).toEqual([null, null, 'tokens']);
    expect((await budgetOf({ maxCostUsd: 0.3 }, [usage, 0.2], [usage, 0.2])).ends).toEqual([
      null,
      null,
      'cost',
    ]);
    expect((await budgetOf({ maxTotalTokens: 1_000_000 }, [null, 0.1])).ends).toEqual([null, 'tokens']);
    expect((await budgetOf({ maxCostUsd: 100 }, [usage, null])).ends).toEqual([null, 'cost']);
  });

  it('an unknown price or unreported usage makes the cost unknown for the rest of the run', async () => {
    expect((await budgetOf({}, [usage, 0.1], [usage, null], [usage, 0.1])).totals.costUsd).toBeNull();
    expect((await budgetOf({}, [null, 0.1])).totals).toMatchObject({ turns: 1, costUsd: null });
  });
});
