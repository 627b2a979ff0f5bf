import { describe, expect, it } from 'vitest';
import { createBudget } from '../../src/agent/budget.ts';

const usage = { inputTokens: 60, outputTokens: 40, cachedInputTokens: 10, cacheWriteTokens: 5 };
const none = { maxTurns: null, maxTotalTokens: null, maxCostUsd: null };

describe('a budget', () => {
  it('sums turns, every kind of token, and money', async () => {
    const budget = createBudget(none, async () => 0.25);
    await budget.add(usage);
    await budget.add(usage);
    expect(budget.totals()).toEqual({
      turns: 2,
      usage: { inputTokens: 120, outputTokens: 80, cachedInputTokens: 20, cacheWriteTokens: 10 },
      costUsd: 0.5,
    });
    expect(budget.exhausted()).toBeNull();
  });

  it('each limit is reached inclusively', async () => {
    const turns = createBudget({ ...none, maxTurns: 1 }, async () => null);
    expect(turns.exhausted()).toBeNull();
    await turns.add(usage);
    expect(turns.exhausted()).toBe('turns');
    const tokens = createBudget({ ...none, maxTotalTokens: 200 }, async () => null);
    await tokens.add(usage);
    expect(tokens.exhausted()).toBeNull();
    await tokens.add(usage);
    expect(tokens.exhausted()).toBe('tokens');
    const cost = createBudget({ ...none, maxCostUsd: 0.3 }, async () => 0.2);
    await cost.add(usage);
    expect(cost.exhausted()).toBeNull();
    await cost.add(usage);
    expect(cost.exhausted()).toBe('cost');
    expect(createBudget({ ...none, maxTurns: 0 }, async () => null).exhausted()).toBe('turns');
  });

  it('an unknown price or unreported usage makes the cost unknown for good', async () => {
    const prices = [0.1, null, 0.1];
    const budget = createBudget({ ...none, maxCostUsd: 1 }, async () => prices.shift() ?? null);
    await budget.add(usage);
    expect(budget.totals().costUsd).toBe(0.1);
    await budget.add(usage);
    await budget.add(usage);
    expect(budget.totals().costUsd).toBeNull();
    const silent = createBudget(none, async () => 0.1);
    await silent.add(null);
    expect(silent.totals()).toMatchObject({ turns: 1, costUsd: null });
  });

  it('a limit that cannot be measured counts as reached', async () => {
    const tokens = createBudget({ ...none, maxTotalTokens: 1_000_000 }, async () => 0.1);
    await tokens.add(null);
    expect(tokens.exhausted()).toBe('tokens');
    const cost = createBudget({ ...none, maxCostUsd: 100 }, async () => null);
    await cost.add(usage);
    expect(cost.exhausted()).toBe('cost');
  });
});
