import { describe, expect, it } from 'vitest';
import { charts } from '../../../src/commands/report/sections.ts';
import type { Turn } from '../../../src/commands/report/story.ts';

function turn(at: number, changes: Partial<Turn> = {}): Turn {
  const usage = { inputTokens: 100 * at, outputTokens: 10, cachedInputTokens: 50, cacheWriteTokens: 0 };
  const rest = { forced: false, durationMs: 1, stopReason: null, parts: [] };
  return { turn: at, usage, costUsd: at / 10, ...rest, ...changes };
}
const drawn = (turns: readonly Turn[]) => charts(turns)?.html ?? '';

describe('charts', () => {
  it('have one column for each turn, and name the highest', () => {
    const html = drawn([turn(1), turn(2), turn(3)]);
    expect(html.match(/<g>/g)).toHaveLength(3);
    expect(html).toContain('Turn 3: 250 in, 50 from the cache, 10 out');
    expect(html).toContain('most: 310 in turn 3');
    expect(html).toContain('in the end: $0.3000');
  });

  it('are absent when no turn reports tokens', () => {
    expect(charts([])).toBeNull();
    expect(charts([turn(1, { usage: null })])).toBeNull();
  });

  it('have no cost curve when no price is known', () => {
    const html = drawn([turn(1, { costUsd: null })]);
    expect(html).toContain('Tokens by turn');
    expect(html).not.toContain('Cost so far');
  });

  it('show averages of neighboring turns when there are very many', () => {
    const html = drawn(Array.from({ length: 1_000 }, (_, at) => turn(at + 1)));
    expect(html.match(/<g>/g)?.length).toBeLessThanOrEqual(180);
    expect(html).toContain('Turns 1 to 6: 300 in, 50 from the cache, 10 out');
  });

  it('never have a negative part', () => {
    const usage = { inputTokens: 1, outputTokens: 0, cachedInputTokens: 50, cacheWriteTokens: 0 };
    expect(drawn([turn(1, { usage })])).not.toMatch(/="-|NaN|Infinity/);
    expect(drawn([turn(1, { usage: { ...usage, inputTokens: 0, cachedInputTokens: 0 } })])).not.toMatch(
      /NaN/,
    );
  });
});
